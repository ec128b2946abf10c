package postgres_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// site is a database with its own role, which owns it unless a test changes that.
type site struct {
	t     *testing.T
	url   string // as the role
	owner string // the address of a superuser

	role, database string
	version        int
}

// newSite gives a database to a new role with a password.
func newSite(t *testing.T, database string) *site {
	t.Helper()

	address, err := url.Parse(database)
	require.NoError(t, err)

	name := strings.TrimPrefix(address.Path, "/")
	s := &site{t: t, owner: database, database: pgx.Identifier{name}.Sanitize(), role: strings.Replace(name, "tarsy_test", "inspect", 1)}

	role := *address
	role.User = url.UserPassword(s.role, "hunter2")
	s.url = role.String()

	s.exec("CREATE ROLE " + s.role + " LOGIN PASSWORD 'hunter2'")
	t.Cleanup(s.dropRole)
	s.exec("ALTER DATABASE " + s.database + " OWNER TO " + s.role)

	s.version = s.number("SELECT current_setting('server_version_num')::int / 10000")

	return s
}

// exec runs statements as a superuser in the database. ROLE1 and DATABASE1 are replaced by the names.
func (s *site) exec(statements ...string) {
	s.t.Helper()

	conn, err := pgx.Connect(context.Background(), s.owner)
	require.NoError(s.t, err)

	defer func() { require.NoError(s.t, conn.Close(context.Background())) }()

	// The database may have been made read-only.
	for _, statement := range append([]string{"SET default_transaction_read_only = off"}, statements...) {
		statement = strings.NewReplacer("ROLE1", s.role, "DATABASE1", s.database).Replace(statement)
		_, err := conn.Exec(context.Background(), statement)
		require.NoError(s.t, err, statement)
	}
}

func (s *site) number(sql string) int {
	s.t.Helper()

	conn, err := pgx.Connect(s.t.Context(), s.owner)
	require.NoError(s.t, err)

	defer func() { require.NoError(s.t, conn.Close(context.Background())) }()

	var number int
	require.NoError(s.t, conn.QueryRow(s.t.Context(), sql).Scan(&number))

	return number
}

// dropRole removes the role before the database is dropped, because roles belong to the server.
func (s *site) dropRole() {
	s.exec("REASSIGN OWNED BY ROLE1 TO CURRENT_USER", "DROP OWNED BY ROLE1", "DROP ROLE ROLE1")
}

// recreate drops the database and creates it again, with options.
func (s *site) recreate(options string) {
	s.t.Helper()

	conn, err := pgx.Connect(s.t.Context(), pgtest.Server(s.t))
	require.NoError(s.t, err)

	defer func() { require.NoError(s.t, conn.Close(context.Background())) }()

	for _, statement := range []string{"DROP DATABASE " + s.database, "CREATE DATABASE " + s.database + " OWNER " + s.role + " TEMPLATE template0 " + options} {
		_, err = conn.Exec(s.t.Context(), statement)
		require.NoError(s.t, err, statement)
	}
}

// with returns the address with an additional parameter.
func (s *site) with(name, value string) string {
	address, err := url.Parse(s.url)
	require.NoError(s.t, err)

	query := address.Query()
	query.Set(name, value)
	address.RawQuery = query.Encode()

	return address.String()
}

// inspectCase is a setting, and what is reported about it. ROLE1 and DATABASE1 are replaced by the names in texts as well.
type inspectCase struct {
	name   string
	check  string
	level  postgres.Level
	found  string
	advice string

	// arrange prepares the site and returns the address to inspect.
	arrange func(s *site) string
	// change alters the facts, for what cannot be arranged on a server that other tests use.
	change func(f *postgres.Facts)
	// since and until are the first and last versions to which this case applies; zero means no limit.
	since, until int
	// tables gives the site a database with the tables of TARSy.
	tables bool
	// skip returns why the case does not apply to this server.
	skip func(s *site) string
}

// sql arranges a site with statements of a superuser.
func sql(statements ...string) func(*site) string {
	return func(s *site) string {
		s.t.Helper()
		s.exec(statements...)

		return s.url
	}
}

// setTo changes a setting of the server.
func setTo(name, value string) func(*postgres.Facts) {
	return func(f *postgres.Facts) {
		f.Settings[name] = postgres.ServerSetting{Reset: value, Boot: f.Settings[name].Boot, Source: "configuration file"}
	}
}

func withoutLZ4(s *site) string {
	if s.number("SELECT count(*) FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)") == 0 {
		return "this PostgreSQL was built without lz4"
	}

	return ""
}

func withoutICU(s *site) string {
	if s.number("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'") == 0 {
		return "this PostgreSQL was built without ICU"
	}

	return ""
}

func inspectCases() []inspectCase {
	const ok, warn, fail = postgres.LevelOK, postgres.LevelWarn, postgres.LevelFail

	return []inspectCase{
		{name: "pooler", check: "pooler", level: fail, found: "PgBouncer with pool_mode = transaction", advice: "set pool_mode = session",
			change: func(f *postgres.Facts) { *f = postgres.Facts{Host: f.Host, SharedBackend: true} }},
		{name: "old version", check: "version", level: fail, found: "PostgreSQL 13.2 is too old", advice: "upgrade PostgreSQL to 18, or at least to 14",
			change: func(f *postgres.Facts) { setTo("server_version_num", "130002")(f); setTo("server_version", "13.2")(f) }},
		{name: "new version", check: "version", level: warn, found: "PostgreSQL 19beta1 is newer", advice: "use PostgreSQL 14 to 18",
			change: func(f *postgres.Facts) {
				setTo("server_version_num", "190000")(f)
				setTo("server_version", "19beta1")(f)
			}},
		{name: "standby", check: "standby", level: fail, found: "is a standby", advice: "use the address of the primary",
			change: func(f *postgres.Facts) { f.Standby = true }},

		{name: "read-only role", check: "default_transaction_read_only", level: fail, found: "default_transaction_read_only is on (role ROLE1): TARSy cannot write",
			advice: "ALTER ROLE ROLE1 RESET default_transaction_read_only;", arrange: sql("ALTER ROLE ROLE1 SET default_transaction_read_only = on")},
		{name: "read-only database", check: "default_transaction_read_only", level: fail, found: "(database DATABASE1)",
			advice: "ALTER DATABASE DATABASE1 RESET default_transaction_read_only;", arrange: sql("ALTER DATABASE DATABASE1 SET default_transaction_read_only = on")},
		{name: "read-only address", check: "default_transaction_read_only", level: fail, found: "(the address)", advice: "remove default_transaction_read_only from the address",
			arrange: func(s *site) string { return s.with("default_transaction_read_only", "on") }},

		{name: "latin encoding", check: "encoding", level: fail, found: "database DATABASE1 has the encoding LATIN1", advice: "ENCODING 'UTF8'",
			arrange: func(s *site) string { s.recreate("ENCODING 'LATIN1' LOCALE 'C'"); return s.url }},
		{name: "no encoding", check: "encoding", level: fail, found: "SQL_ASCII", advice: "CREATE DATABASE",
			arrange: func(s *site) string { s.recreate("ENCODING 'SQL_ASCII' LOCALE 'C'"); return s.url }},
		{name: "old collation", check: "collation", level: warn, found: "created with version 0.1 of the collation ICU en-US",
			advice: "REINDEX DATABASE DATABASE1; ALTER DATABASE DATABASE1 REFRESH COLLATION VERSION;", since: 15, skip: withoutICU,
			arrange: func(s *site) string {
				s.recreate("LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'")
				s.exec("UPDATE pg_database SET datcollversion = '0.1' WHERE datname = current_database()")

				return s.url
			}},
		{name: "changed collation", check: "collation", level: warn, found: "was created with version 2.31 of the collation", advice: "REINDEX DATABASE",
			change: func(f *postgres.Facts) { f.Catalog.CollationVersion, f.CollationVersion = "2.31", "2.36" }},

		{name: "few connections", check: "connections", level: fail, found: "30 connections, 27 usable: enough for no server, each of which opens up to 31", advice: "ALTER SYSTEM SET max_connections = 65; and restart PostgreSQL",
			change: func(f *postgres.Facts) { setTo("max_connections", "30")(f) }},
		{name: "few connections at Amazon", check: "connections", level: warn, found: "50 connections, 45 usable: enough for 1 server", advice: "set max_connections to 67 or more in the DB parameter group",
			change: func(f *postgres.Facts) {
				setTo("max_connections", "50")(f)
				setTo("reserved_connections", "2")(f)
				setTo("rds.force_ssl", "on")(f)
			}},
		{name: "limit of the role", check: "connections", level: fail, found: "20 usable: enough for no server", advice: "ALTER ROLE ROLE1 CONNECTION LIMIT 62;",
			arrange: sql("ALTER ROLE ROLE1 CONNECTION LIMIT 20")},
		{name: "limit of the database", check: "connections", level: warn, found: "40 usable: enough for 1 server", advice: "ALTER DATABASE DATABASE1 CONNECTION LIMIT 62;",
			arrange: sql("ALTER DATABASE DATABASE1 CONNECTION LIMIT 40", "ALTER ROLE ROLE1 CONNECTION LIMIT 50")},

		{name: "search path to nowhere", check: "search_path", level: fail, found: `search_path (nowhere, from role ROLE1) leads to no schema`, advice: "CREATE SCHEMA tarsy AUTHORIZATION ROLE1;",
			arrange: sql("ALTER ROLE ROLE1 SET search_path = nowhere")},
		{name: "role without any privilege", check: "search_path", level: fail, found: "role ROLE1 may not use schema public", advice: "GRANT USAGE, CREATE ON SCHEMA public TO ROLE1;",
			arrange: sql("ALTER DATABASE DATABASE1 OWNER TO CURRENT_USER", "REVOKE ALL ON SCHEMA public FROM PUBLIC")},
		{name: "no right to create, 14", check: "schema", level: fail, found: "role ROLE1 may not create tables in schema public", advice: "GRANT CREATE ON SCHEMA public TO ROLE1;", until: 14,
			arrange: sql("ALTER DATABASE DATABASE1 OWNER TO CURRENT_USER", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")},
		{name: "no right to create", check: "schema", level: fail, found: "role ROLE1 may not create tables in schema public", advice: "GRANT CREATE ON SCHEMA public TO ROLE1; or ALTER DATABASE DATABASE1 OWNER TO ROLE1;", since: 15,
			arrange: sql("ALTER DATABASE DATABASE1 OWNER TO CURRENT_USER")},
		{name: "no right to add tables", check: "schema", level: warn, found: "those of the next cannot be added", advice: "GRANT CREATE ON SCHEMA public TO ROLE1;", tables: true,
			arrange: sql("ALTER DATABASE DATABASE1 OWNER TO CURRENT_USER", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")},
		{name: "tables of another program", check: "other program", level: fail, found: "schema public has tables of another program: sessions", advice: "create a database for TARSy, or a schema: CREATE SCHEMA tarsy AUTHORIZATION ROLE1;",
			arrange: sql("CREATE TABLE public.sessions (id integer)")},
		{name: "tables in another schema", check: "tables", level: fail, found: "the tables of TARSy are in schema public, and search_path leads to schema elsewhere", advice: "ALTER ROLE ROLE1 IN DATABASE DATABASE1 SET search_path = public;", tables: true,
			arrange: sql("CREATE SCHEMA elsewhere AUTHORIZATION ROLE1", "ALTER ROLE ROLE1 SET search_path = elsewhere, public")},
		{name: "tables of another role", check: "tables", level: fail, found: "the tables of TARSy in schema public belong to role ", advice: "use the address of role ", tables: true,
			arrange: func(s *site) string { return s.url }},

		{name: "statement timeout", check: "session settings", level: ok, found: "statement_timeout is 5s for role ROLE1", arrange: sql("ALTER ROLE ROLE1 SET statement_timeout = '5s'")},
		{name: "lock timeout", check: "session settings", level: ok, found: "lock_timeout is 1.5s for database DATABASE1", arrange: sql("ALTER DATABASE DATABASE1 SET lock_timeout = 1500")},
		{name: "idle session timeout", check: "session settings", level: ok, found: "idle_session_timeout is 1m0s for role ROLE1 in database DATABASE1",
			arrange: sql("ALTER ROLE ROLE1 SET idle_session_timeout = '2min'", "ALTER ROLE ROLE1 IN DATABASE DATABASE1 SET idle_session_timeout = '1min'")},
		{name: "transaction timeout", check: "session settings", level: ok, found: "transaction_timeout is 10s for role ROLE1", since: 17, arrange: sql("ALTER ROLE ROLE1 SET transaction_timeout = '10s'")},
		{name: "idle transactions", check: "session settings", level: ok, found: "idle_in_transaction_session_timeout is 1m0s", arrange: sql("ALTER ROLE ROLE1 SET idle_in_transaction_session_timeout = '1min'")},
		{name: "isolation", check: "session settings", level: ok, found: "default_transaction_isolation is serializable for role ROLE1", arrange: sql("ALTER ROLE ROLE1 SET default_transaction_isolation = serializable")},
		{name: "jit", check: "session settings", level: ok, found: "jit is off for role ROLE1", arrange: sql("ALTER ROLE ROLE1 SET jit = off")},
		{name: "statement timeout in the address", check: "session settings", level: warn, found: "statement_timeout is 7s in the address", advice: "remove statement_timeout from the address",
			arrange: func(s *site) string { return s.with("statement_timeout", "7000") }},
		{name: "index scans", check: "planner", level: warn, found: "enable_indexscan is off for role ROLE1", advice: "ALTER ROLE ROLE1 RESET enable_indexscan;", arrange: sql("ALTER ROLE ROLE1 SET enable_indexscan = off")},
		{name: "plan cache", check: "planner", level: warn, found: "plan_cache_mode is force_custom_plan for database DATABASE1", advice: "ALTER DATABASE DATABASE1 RESET plan_cache_mode;",
			arrange: sql("ALTER DATABASE DATABASE1 SET plan_cache_mode = force_custom_plan")},

		{name: "fsync", check: "fsync", level: fail, found: "fsync is off (the server): a crash of the machine can lose acknowledged alerts", advice: "ALTER SYSTEM SET fsync = 'on'; SELECT pg_reload_conf();", change: setTo("fsync", "off")},
		{name: "full page writes", check: "full_page_writes", level: fail, found: "full_page_writes is off", advice: "ALTER SYSTEM SET full_page_writes", change: setTo("full_page_writes", "off")},
		{name: "full page writes at Amazon", check: "full_page_writes", level: warn, found: "full_page_writes is off", advice: "in the DB parameter group",
			change: func(f *postgres.Facts) { setTo("full_page_writes", "off")(f); setTo("rds.extensions", "")(f) }},
		{name: "synchronous commit", check: "synchronous_commit", level: warn, found: "synchronous_commit is off (role ROLE1)", advice: "ALTER ROLE ROLE1 RESET synchronous_commit;", arrange: sql("ALTER ROLE ROLE1 SET synchronous_commit = off")},
		{name: "autovacuum", check: "autovacuum", level: warn, found: "autovacuum is off (the server)", advice: "ALTER SYSTEM SET autovacuum = 'on';", change: setTo("autovacuum", "off")},
		{name: "counts", check: "track_counts", level: warn, found: "track_counts is off (role ROLE1)", advice: "ALTER ROLE ROLE1 RESET track_counts;", arrange: sql("ALTER ROLE ROLE1 SET track_counts = off")},
		{name: "md5", check: "password_encryption", level: warn, found: "that of role ROLE1 may be one", advice: `ALTER ROLE ROLE1 RESET password_encryption; then set the password again: \password ROLE1`,
			arrange: sql("ALTER ROLE ROLE1 SET password_encryption = md5")},
		{name: "pglz", check: "default_toast_compression", level: ok, found: "default_toast_compression is pglz", advice: "optional, for rows that are written from then on: ALTER ROLE ROLE1 RESET default_toast_compression;", skip: withoutLZ4,
			arrange: sql("ALTER ROLE ROLE1 SET default_toast_compression = pglz")},
		{name: "pglz of the server", check: "default_toast_compression", level: ok, found: "lz4", advice: "ALTER SYSTEM SET default_toast_compression = 'lz4'",
			change: func(f *postgres.Facts) {
				f.Settings["default_toast_compression"] = postgres.ServerSetting{Reset: "pglz", Boot: "pglz", Values: []string{"pglz", "lz4"}}
			}},
		{name: "lz4 without lz4", check: "lz4", level: fail, found: "tables of TARSy are compressed with lz4", advice: "use a build with lz4",
			change: func(f *postgres.Facts) {
				f.LZ4 = true
				f.Settings["default_toast_compression"] = postgres.ServerSetting{Reset: "pglz", Boot: "pglz", Values: []string{"pglz"}}
			}},
		{name: "no encryption", check: "encryption", level: warn, found: "is not encrypted", advice: "sslmode=verify-full", change: func(f *postgres.Facts) { f.Remote = true }},
	}
}

// healthy replaces the facts of the test server, which trades safety for speed, with those of a production server.
func healthy(f *postgres.Facts) {
	for name, good := range map[string]string{
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "autovacuum": "on", "max_connections": "100", "superuser_reserved_connections": "3", "jit": "on",
	} {
		setTo(name, good)(f)
	}
}

// observed returns what a check reported.
func observed(all []postgres.Observation, check string) postgres.Observation {
	for _, seen := range all {
		if seen.Check == check {
			return seen
		}
	}

	return postgres.Observation{}
}

func TestInspectionNamesSettingAndRemedy(t *testing.T) {
	t.Parallel()

	for _, c := range inspectCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			database := pgtest.Empty
			if c.tables {
				database = pgtest.New
			}

			s := newSite(t, database(t))
			if c.since > s.version || (c.until > 0 && s.version > c.until) {
				t.Skipf("this is not so in PostgreSQL %d", s.version)
			}

			if c.skip != nil && c.skip(s) != "" {
				t.Skip(c.skip(s))
			}

			facts, err := postgres.GatherFacts(t.Context(), s.url)
			require.NoError(t, err)
			healthy(facts)

			if !c.tables && c.check != "default_toast_compression" {
				require.Zero(t, observed(facts.Judge(), c.check), "the case must cause it")
			}

			var all []postgres.Observation

			if c.change != nil {
				c.change(facts)
				all = facts.Judge()
			} else {
				all, err = postgres.Inspect(t.Context(), c.arrange(s))
				require.NoError(t, err)
			}

			names := strings.NewReplacer("ROLE1", s.role, "DATABASE1", strings.Trim(s.database, `"`))
			seen := observed(all, c.check)
			require.Equal(t, c.level, seen.Level, all)
			require.Contains(t, seen.Found, names.Replace(c.found))
			require.Contains(t, seen.Advice, names.Replace(c.advice))
			require.Equal(t, c.advice == "", seen.Advice == "")
			require.NotContains(t, fmt.Sprint(all), "hunter2")
		})
	}
}

// A new check needs a case too, one that does more than confirm that all is well.
func TestEachInspectionHasCaseThatTriggersIt(t *testing.T) {
	t.Parallel()

	covered := map[string]bool{}
	for _, c := range inspectCases() {
		covered[c.check] = true
	}

	for _, name := range postgres.InspectionNames() {
		require.True(t, covered[name], "inspectCases has no case for the check %s", name)
		delete(covered, name)
	}

	require.Empty(t, covered, "cases of checks that do not exist")
}

func TestHealthyServerIsReportedOnOneLine(t *testing.T) {
	t.Parallel()

	s := newSite(t, pgtest.Empty(t))

	facts, err := postgres.GatherFacts(t.Context(), s.url)
	require.NoError(t, err)
	healthy(facts)

	facts.Host = "db.example:5432"
	facts.Catalog.Provider, facts.Catalog.Collate, facts.Catalog.Ctype = "c", "en_US.utf8", "en_US.utf8"
	setTo("server_version", "17.10 (Debian 17.10-1.pgdg12+1)")(facts)
	setTo("default_toast_compression", "lz4")(facts)

	require.Equal(t, []postgres.Observation{{
		Level: postgres.LevelOK,
		Found: "17.10 at db.example:5432, database " + strings.Trim(s.database, `"`) + ", schema public, UTF8, en_US.utf8; 97 connections, enough for 3 servers",
	}}, facts.Judge())
}

// address is a connection that knows only its remote address.
type address struct {
	net.Conn

	remote net.Addr
}

func (a address) RemoteAddr() net.Addr { return a.remote }

func TestOnlyConnectionsThatLeaveMachineNeedEncryption(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		conn              net.Conn
		remote, encrypted bool
	}{
		{address{remote: &net.UnixAddr{Name: "/run/postgresql/.s.PGSQL.5432", Net: "unix"}}, false, false},
		{address{remote: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}, false, false},
		{address{remote: &net.TCPAddr{IP: net.IPv6loopback}}, false, false},
		{address{remote: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7)}}, true, false},
		{tls.Client(address{remote: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7)}}, nil), true, true},
	} {
		remote, encrypted := postgres.ConnectionOf(c.conn)
		require.Equal(t, c.remote, remote, c.conn.RemoteAddr())
		require.Equal(t, c.encrypted, encrypted, c.conn.RemoteAddr())
	}
}
