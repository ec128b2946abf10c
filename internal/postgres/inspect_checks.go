package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// inspection is one check: it judges the facts and returns the zero Observation if there is nothing to report. The facts include
// all settings of the server, so most new checks are one more entry in inspections and one more case in its test.
type inspection struct {
	name  string
	judge func(*facts) Observation
	// decisive means that no further checks run if this one fails: their facts are unknown or do not matter.
	decisive bool
	// place is the level from which on a server refuses to create or change tables; empty means never.
	place Level
}

func inspections() []inspection {
	return []inspection{
		{name: "pooler", judge: judgePooler, decisive: true},
		{name: "version", judge: judgeVersion, decisive: true, place: LevelFail},
		{name: "standby", judge: judgeStandby},
		{name: "default_transaction_read_only", judge: mustNotBe("default_transaction_read_only", "on", "off", LevelFail, "TARSy cannot write anything")},
		{name: "encoding", judge: judgeEncoding, place: LevelFail},
		{name: "collation", judge: judgeCollation},
		{name: "connections", judge: judgeConnections},
		{name: "search_path", judge: judgeSearchPath, place: LevelFail},
		{name: "other program", judge: judgeOtherProgram, place: LevelFail},
		{name: "tables", judge: judgeTables, place: LevelFail},
		{name: "schema", judge: judgeSchema, place: LevelWarn},
		{name: "lz4", judge: judgeLZ4, place: LevelFail},
		{name: "session settings", judge: judgeSession},
		{name: "planner", judge: judgePlanner},
		{name: "fsync", judge: mustNotBe("fsync", "off", "on", LevelFail, "a crash of the machine can lose acknowledged alerts and damage the database")},
		{name: "full_page_writes", judge: judgeFullPageWrites},
		{name: "synchronous_commit", judge: mustNotBe("synchronous_commit", "off", "on", LevelWarn, "a crash can lose alerts that were acknowledged in the second before")},
		{name: "autovacuum", judge: mustNotBe("autovacuum", "off", "on", LevelWarn, "the queue and its indexes grow until queries are slow")},
		{name: "track_counts", judge: mustNotBe("track_counts", "off", "on", LevelWarn, "autovacuum does not see which tables changed, and queries become slow")},
		{name: "password_encryption", judge: judgePasswords},
		{name: "default_toast_compression", judge: judgeCompression},
		{name: "encryption", judge: judgeEncryption},
	}
}

// judge runs the checks.
func (f *facts) judge() []Observation {
	all := []Observation{{Level: LevelOK, Found: f.summary()}}

	for _, check := range inspections() {
		found := check.judge(f)
		if found.Level == "" {
			continue
		}

		found.Check = check.name
		all = append(all, found)

		if check.decisive && found.Level == LevelFail {
			break
		}
	}

	return all
}

// summary describes the server on one line.
func (f *facts) summary() string {
	where := f.Host
	if version, _, _ := strings.Cut(f.Settings["server_version"].Reset, " "); version != "" {
		where = version + " at " + f.Host
	}

	if f.Database == "" {
		return where
	}

	parts := []string{where, "database " + f.Database}
	if f.Schema != "" {
		parts = append(parts, "schema "+f.Schema)
	}

	usable, _ := f.connections()

	return strings.Join(append(parts, f.Encoding, f.locale()), ", ") + fmt.Sprintf("; %d connections, enough for %s", usable, servers(usable))
}

func servers(connections int) string {
	switch count := connections / ServerConnections; count {
	case 0:
		return "no server"
	case 1:
		return "1 server"
	default:
		return fmt.Sprintf("%d servers", count)
	}
}

func judgePooler(f *facts) Observation {
	if !f.SharedBackend {
		return Observation{}
	}

	return Observation{
		Level: LevelFail, Found: "the address leads to a connection pooler that shares connections between clients, such as PgBouncer with pool_mode = transaction",
		Advice: "set pool_mode = session for this database, or use an address that leads to PostgreSQL itself",
	}
}

func judgeVersion(f *facts) Observation {
	found := "PostgreSQL " + f.Settings["server_version"].Reset

	switch version := f.version(); {
	case version < oldestVersion:
		return Observation{Level: LevelFail, Found: found + " is too old", Advice: fmt.Sprintf("upgrade PostgreSQL to %d, or at least to %d", newestVersion, oldestVersion)}
	case version > newestVersion:
		return Observation{Level: LevelWarn, Found: found + " is newer than the versions that TARSy was tested with", Advice: fmt.Sprintf("use PostgreSQL %d to %d in production", oldestVersion, newestVersion)}
	default:
		return Observation{}
	}
}

func judgeStandby(f *facts) Observation {
	if !f.Standby {
		return Observation{}
	}

	return Observation{
		Level: LevelFail, Found: "the server is a standby and accepts no writes",
		Advice: "use the address of the primary; with several hosts in the address, add target_session_attrs=read-write",
	}
}

// mustNotBe is a check that a setting does not have a harmful value.
func mustNotBe(name, bad, good string, level Level, consequence string) func(*facts) Observation {
	return func(f *facts) Observation {
		if f.Settings[name].Reset != bad {
			return Observation{}
		}

		return Observation{Level: level, Found: fmt.Sprintf("%s is %s (%s): %s", name, bad, f.scopeOf(name).name, consequence), Advice: f.change(name, good)}
	}
}

// judgeFullPageWrites only warns about a managed server: the provider's storage may write pages as a whole.
func judgeFullPageWrites(f *facts) Observation {
	level := LevelFail
	if f.managed() {
		level = LevelWarn
	}

	return mustNotBe("full_page_writes", "off", "on", level, "a crash of the machine can damage the database, unless its storage writes pages as a whole")(f)
}

func judgeEncoding(f *facts) Observation {
	if f.Encoding == "UTF8" {
		return Observation{}
	}

	return Observation{
		Level: LevelFail, Found: "database " + f.Database + " has the encoding " + f.Encoding + ", which cannot store every text",
		Advice: "create another database and use its address: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8';",
	}
}

func judgeCollation(f *facts) Observation {
	recorded := f.Catalog.CollationVersion
	if recorded == "" || f.CollationVersion == "" || recorded == f.CollationVersion {
		return Observation{}
	}

	return Observation{
		Level:  LevelWarn,
		Found:  fmt.Sprintf("database %s was created with version %s of the collation %s, and the system has version %s: indexes of texts may be damaged", f.Database, recorded, f.locale(), f.CollationVersion),
		Advice: fmt.Sprintf("stop the servers; REINDEX DATABASE %[1]s; ALTER DATABASE %[1]s REFRESH COLLATION VERSION;", f.Database),
	}
}

// connections returns how many connections TARSy can use, and how to get as many as wanted.
func (f *facts) connections() (usable int, raise func(wanted int) string) {
	reserved := f.number("superuser_reserved_connections") + f.number("reserved_connections")
	usable = f.number("max_connections") - reserved
	raise = func(wanted int) string {
		if f.managed() {
			return fmt.Sprintf("set max_connections to %d or more in the DB parameter group, or use a larger instance; restart it", wanted+reserved)
		}

		return fmt.Sprintf("ALTER SYSTEM SET max_connections = %d; and restart PostgreSQL", wanted+reserved)
	}

	// The limits of roles and databases do not apply to superusers.
	if f.Superuser {
		return usable, raise
	}

	if f.DatabaseLimit >= 0 && f.DatabaseLimit < usable {
		usable = f.DatabaseLimit
		raise = func(wanted int) string {
			return fmt.Sprintf("ALTER DATABASE %s CONNECTION LIMIT %d;", f.Database, wanted)
		}
	}

	if f.RoleLimit >= 0 && f.RoleLimit < usable {
		usable = f.RoleLimit
		raise = func(wanted int) string { return fmt.Sprintf("ALTER ROLE %s CONNECTION LIMIT %d;", f.Role, wanted) }
	}

	return usable, raise
}

// judgeConnections wants enough for two servers: during an update the new one starts while the old one is still running.
func judgeConnections(f *facts) Observation {
	const wantedServers = 2

	usable, raise := f.connections()
	wanted := wantedServers * ServerConnections

	if usable >= wanted {
		return Observation{}
	}

	level := LevelWarn
	if usable < ServerConnections {
		level = LevelFail
	}

	return Observation{
		Level:  level,
		Found:  fmt.Sprintf("%d connections, %d usable: enough for %s, each of which opens up to %d", f.number("max_connections"), usable, servers(usable), ServerConnections),
		Advice: raise(wanted),
	}
}

func judgeSearchPath(f *facts) Observation {
	if f.Schema != "" {
		return Observation{}
	}

	path := f.Settings["search_path"].Reset

	if len(f.Closed) > 0 {
		return Observation{
			Level: LevelFail, Found: fmt.Sprintf("role %s may not use schema %s, and search_path (%s) leads to no other", f.Role, f.Closed[0], path),
			Advice: fmt.Sprintf("GRANT USAGE, CREATE ON SCHEMA %s TO %s;", f.Closed[0], f.Role),
		}
	}

	return Observation{
		Level: LevelFail, Found: fmt.Sprintf("search_path (%s, from %s) leads to no schema that exists", path, f.scopeOf("search_path").name),
		Advice: fmt.Sprintf("CREATE SCHEMA tarsy AUTHORIZATION %[1]s; ALTER ROLE %[1]s IN DATABASE %[2]s SET search_path = tarsy;", f.Role, f.Database),
	}
}

// judgeSchema checks whether TARSy can create its tables. Since PostgreSQL 15 not every role can do so in public.
func judgeSchema(f *facts) Observation {
	if f.Schema == "" || f.MayCreate {
		return Observation{}
	}

	seen := Observation{
		Level: LevelFail, Found: fmt.Sprintf("role %s may not create tables in schema %s", f.Role, f.Schema),
		Advice: fmt.Sprintf("GRANT CREATE ON SCHEMA %s TO %s;", f.Schema, f.Role),
	}

	if f.SchemaOfOwner {
		seen.Advice += fmt.Sprintf(" or ALTER DATABASE %s OWNER TO %s;", f.Database, f.Role)
	}

	if slices.ContainsFunc(f.Tables, func(t schemaTables) bool { return t.Current }) {
		seen.Level = LevelWarn
		seen.Found += ": the tables of this release may be there, those of the next cannot be added"
	}

	return seen
}

func judgeOtherProgram(f *facts) Observation {
	if len(f.Foreign) == 0 {
		return Observation{}
	}

	return Observation{
		Level: LevelFail, Found: fmt.Sprintf("schema %s has tables of another program: %s", f.Schema, strings.Join(f.Foreign, ", ")),
		Advice: fmt.Sprintf("create a database for TARSy, or a schema: CREATE SCHEMA tarsy AUTHORIZATION %[1]s; ALTER ROLE %[1]s IN DATABASE %[2]s SET search_path = tarsy;", f.Role, f.Database),
	}
}

func judgeTables(f *facts) Observation {
	for _, tables := range f.Tables {
		if !tables.Current {
			continue
		}

		if tables.Ours {
			return Observation{}
		}

		return Observation{
			Level: LevelFail, Found: fmt.Sprintf("the tables of TARSy in schema %s belong to role %s, and the address names role %s", tables.Schema, tables.Owner, f.Role),
			Advice: fmt.Sprintf("use the address of role %s, or GRANT %[1]s TO %s;", tables.Owner, f.Role),
		}
	}

	if len(f.Tables) == 0 || f.Schema == "" {
		return Observation{}
	}

	other := f.Tables[0].Schema

	return Observation{
		Level: LevelFail, Found: fmt.Sprintf("the tables of TARSy are in schema %s, and search_path leads to schema %s, where TARSy would begin with empty tables", other, f.Schema),
		Advice: fmt.Sprintf("ALTER ROLE %s IN DATABASE %s SET search_path = %s;", f.Role, f.Database, other),
	}
}

// judgeLZ4 detects a database that was moved, as files or with pg_upgrade, to a build of PostgreSQL without lz4, which cannot read or
// write the columns that are compressed with it.
func judgeLZ4(f *facts) Observation {
	if !f.LZ4 || slices.Contains(f.Settings["default_toast_compression"].Values, "lz4") {
		return Observation{}
	}

	return Observation{
		Level: LevelFail, Found: "tables of TARSy are compressed with lz4, and this build of PostgreSQL has no lz4",
		Advice: "use a build with lz4, as those of distributions are, or restore a backup of tarsy database backup into a new database",
	}
}

// ownSettings are the settings that every connection of TARSy sets for itself, instead of taking them from the server, the
// database or the role. Those of the network, and the encoding, which follows the database, are of no interest and left out.
func (f *facts) ownSettings() []string {
	names := slices.Sorted(maps.Keys(connectionSettings(f.Settings["server_version"].Reset)))

	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "tcp_") || name == "client_encoding" })
}

// judgeSession reports settings that TARSy overrides, because they would harm other programs in the same place. Settings in the
// address are TARSy's own configuration and not overridden.
func judgeSession(f *facts) Observation {
	var overridden, kept, undo []string

	for _, name := range f.ownSettings() {
		switch setting := f.Settings[name]; {
		case setting.Reset == setting.Boot:
		case f.fromAddress(name):
			kept = append(kept, fmt.Sprintf("%s is %s", name, setting))
			undo = append(undo, f.scopeOf(name).undo)
		default:
			overridden = append(overridden, fmt.Sprintf("%s is %s for %s", name, setting, f.scopeOf(name).name))
		}
	}

	if len(kept) > 0 {
		return Observation{Level: LevelWarn, Found: strings.Join(kept, ", ") + " in the address, so for every connection of TARSy", Advice: strings.Join(undo, "; ")}
	}

	if len(overridden) > 0 {
		return Observation{Level: LevelOK, Found: strings.Join(overridden, ", ") + "; TARSy's connections use their own"}
	}

	return Observation{}
}

// judgePlanner looks for kinds of plans that are disabled. TARSy sets these only for some of its connections.
func judgePlanner(f *facts) Observation {
	var changed, undo []string

	for _, name := range slices.Sorted(maps.Keys(f.Settings)) {
		setting := f.Settings[name]
		if setting.Reset != setting.Boot && (name == "plan_cache_mode" || strings.HasPrefix(name, "enable_")) {
			changed = append(changed, fmt.Sprintf("%s is %s for %s", name, setting, f.scopeOf(name).name))
			undo = append(undo, f.change(name, setting.Boot))
		}
	}

	if len(changed) == 0 {
		return Observation{}
	}

	return Observation{Level: LevelWarn, Found: strings.Join(changed, ", ") + ": queries of TARSy may be slow", Advice: strings.Join(undo, " ")}
}

// judgePasswords cannot check how the password of the role is stored: only superusers can see that.
func judgePasswords(f *facts) Observation {
	if f.Settings["password_encryption"].Reset != "md5" {
		return Observation{}
	}

	return Observation{
		Level:  LevelWarn,
		Found:  fmt.Sprintf("password_encryption is md5 (%s): passwords that are set now cannot be used after md5 is removed from PostgreSQL, which deprecates it; that of role %s may be one", f.scopeOf("password_encryption").name, f.Role),
		Advice: f.change("password_encryption", "scram-sha-256") + " then set the password again: \\password " + f.Role,
	}
}

// judgeCompression is only a hint: most of what TARSy stores is long texts.
func judgeCompression(f *facts) Observation {
	setting := f.Settings["default_toast_compression"]
	if setting.Reset != "pglz" || !slices.Contains(setting.Values, "lz4") {
		return Observation{}
	}

	return Observation{
		Level: LevelOK, Found: "default_toast_compression is pglz; lz4 compresses the long texts of interactions and journals with less CPU",
		Advice: "optional, for rows that are written from then on: " + f.change("default_toast_compression", "lz4"),
	}
}

func judgeEncryption(f *facts) Observation {
	if !f.Remote || f.Encrypted {
		return Observation{}
	}

	return Observation{
		Level: LevelWarn, Found: "the connection to " + f.Host + " is not encrypted: alerts, and what tools found, can be read on the network",
		Advice: "switch ssl on in PostgreSQL, and add sslmode=verify-full with sslrootcert, or at least sslmode=require, to the address",
	}
}
