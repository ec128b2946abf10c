package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// facts are the input of the checks. Names are quoted where SQL needs it.
type facts struct {
	// Host is where the address leads, and Address the settings in it.
	Host    string            `json:"-"`
	Address map[string]string `json:"-"`
	// Remote means that the connection leaves this machine, and Encrypted that it uses TLS.
	Remote    bool `json:"-"`
	Encrypted bool `json:"-"`
	// SharedBackend means that a pooler shares connections between clients. Nothing else is known then.
	SharedBackend bool `json:"-"`

	// Settings is pg_settings by name. Nothing else is known of a version that is too old.
	Settings map[string]serverSetting `json:"-"`

	Standby bool `json:"standby"`

	Role      string `json:"role"`
	Superuser bool   `json:"superuser"`
	// RoleLimit and DatabaseLimit are numbers of connections, -1 without a limit.
	RoleLimit     int `json:"role_limit"`
	DatabaseLimit int `json:"database_limit"`

	Database string `json:"database"`
	Encoding string `json:"encoding"`
	// Catalog is the row of pg_database, whose columns differ between versions.
	Catalog databaseRow `json:"catalog"`
	// CollationVersion is the version that the system has now. It is empty before PostgreSQL 15, and for locales without one.
	CollationVersion string `json:"collation_version"`

	// Schema is where new tables go: the first schema of the search path that exists and that the role can use. It may be empty.
	Schema string `json:"schema"`
	// SchemaOfOwner means that the schema belongs to the owner of the database.
	SchemaOfOwner bool `json:"schema_of_owner"`
	MayCreate     bool `json:"may_create"`
	// Closed are the schemas of the search path that exist but that the role cannot use.
	Closed []string `json:"closed"`
	// Tables are the schemas that contain tables of TARSy.
	Tables []schemaTables `json:"tables"`
	// Foreign are the tables in Schema that have the names of ours but belong to another program.
	Foreign []string `json:"foreign"`
	// LZ4 means that columns of Schema are compressed with lz4, which migration 0012 uses if the build has it.
	LZ4 bool `json:"lz4"`

	// Overrides are the settings of this role, of this database, and of both.
	Overrides []settingScope `json:"overrides"`
}

// serverSetting is a row of pg_settings. Reset is the value that a new connection gets, Boot is PostgreSQL's own default.
type serverSetting struct {
	Reset  string   `json:"reset"`
	Boot   string   `json:"boot"`
	Unit   string   `json:"unit"`
	Source string   `json:"source"`
	Values []string `json:"values"`
}

// String formats the value for people.
func (s serverSetting) String() string {
	count, err := strconv.Atoi(s.Reset)
	if s.Unit == "ms" && err == nil {
		return (time.Duration(count) * time.Millisecond).String()
	}

	return s.Reset
}

type databaseRow struct {
	Provider         string `json:"datlocprovider"`
	Collate          string `json:"datcollate"`
	Ctype            string `json:"datctype"`
	Locale           string `json:"datlocale"`
	ICULocale        string `json:"daticulocale"` // its name in PostgreSQL 15 and 16
	CollationVersion string `json:"datcollversion"`
}

type schemaTables struct {
	Schema  string `json:"schema"`
	Current bool   `json:"current"`
	Owner   string `json:"owner"`
	// Ours means that the role is, or acts as, the owner.
	Ours bool `json:"ours"`
}

// settingScope is a set of settings made by ALTER ROLE or ALTER DATABASE, each as name=value.
type settingScope struct {
	Role     bool     `json:"role"`
	Database bool     `json:"database"`
	Settings []string `json:"settings"`
}

// Versions of PostgreSQL: the range that the tests cover, and the first that can report the version of its collation.
const (
	oldestVersion         = 14
	newestVersion         = 18
	hasCollationOfVersion = 15
)

// prepareSQL suspends the time limits of the role and the database for this transaction, and allows reading texts in any
// encoding. Not every version has all of the limits.
const prepareSQL = `SET LOCAL statement_timeout = 0; SET LOCAL client_encoding = 'UTF8'; SET LOCAL standard_conforming_strings = on;
SELECT set_config(name, '0', true) FROM pg_settings
WHERE name IN ('lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`

const settingsSQL = `SELECT json_object_agg(name, json_build_object(
    'reset', reset_val, 'boot', boot_val, 'unit', unit, 'source', source, 'values', enumvals)) FROM pg_settings`

// factsSQL has a placeholder for the version of the collation.
const factsSQL = `SELECT json_build_object(
    'standby', pg_is_in_recovery(),
    'role', quote_ident(r.rolname), 'superuser', r.rolsuper, 'role_limit', r.rolconnlimit,
    'database', quote_ident(d.datname), 'database_limit', d.datconnlimit, 'encoding', pg_encoding_to_char(d.encoding),
    'catalog', to_json(d), 'collation_version', %s,
    'schema', quote_ident(current_schema()), 'may_create', has_schema_privilege(current_schema(), 'CREATE'),
    'schema_of_owner', (SELECT nspowner = 'pg_database_owner'::regrole FROM pg_namespace WHERE nspname = current_schema()),
    'closed', (SELECT json_agg(quote_ident(nspname) ORDER BY nspname) FROM pg_namespace
        WHERE NOT has_schema_privilege(oid, 'USAGE') AND nspname IN (
            SELECT replace(trim(both ' "' from name), '$user', r.rolname)
            FROM unnest(string_to_array(current_setting('search_path'), ',')) AS name)),
    'tables', (SELECT json_agg(json_build_object('schema', quote_ident(n.nspname), 'current', n.nspname IS NOT DISTINCT FROM current_schema(),
            'owner', quote_ident(pg_get_userbyid(c.relowner)), 'ours', pg_has_role(c.relowner, 'USAGE')) ORDER BY n.nspname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relname = 'schema_migrations' AND c.relkind = 'r' AND 2 = (
            SELECT count(*) FROM pg_class WHERE relnamespace = n.oid AND relname IN ('sessions', 'timeline_events') AND relkind = 'r')),
    -- A server that was killed during its first migration leaves schema_migrations behind, which has a column name.
    'foreign', (SELECT json_agg(quote_ident(c.relname) ORDER BY c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = current_schema() AND (c.relname = 'schema_migrations' AND NOT EXISTS (
                SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'name' AND NOT a.attisdropped)
            OR c.relname = 'sessions' AND NOT EXISTS (SELECT FROM pg_class t WHERE t.relnamespace = n.oid AND t.relname = 'timeline_events'))),
    'lz4', EXISTS (SELECT FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = current_schema() AND a.attcompression = 'l'),
    'overrides', (SELECT json_agg(json_build_object('role', setrole <> 0, 'database', setdatabase <> 0, 'settings', setconfig))
        FROM pg_db_role_setting WHERE setrole IN (0, r.oid) AND setdatabase IN (0, d.oid)))
FROM pg_database d, pg_roles r WHERE d.datname = current_database() AND r.rolname = current_user`

// read reads everything that the server itself knows.
func (f *facts) read(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Conn().PgConn().Exec(ctx, prepareSQL).ReadAll(); err != nil {
		return fmt.Errorf("prepare the connection: %w", err)
	}

	if err := readJSON(ctx, tx, settingsSQL, &f.Settings); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}

	if f.version() < oldestVersion {
		return nil
	}

	collation := "NULL"
	if f.version() >= hasCollationOfVersion {
		collation = "pg_database_collation_actual_version(d.oid)"
	}

	if err := readJSON(ctx, tx, fmt.Sprintf(factsSQL, collation), f); err != nil {
		return fmt.Errorf("read the catalogs: %w", err)
	}

	return nil
}

func readJSON(ctx context.Context, tx pgx.Tx, sql string, into any) error {
	var text string
	if err := tx.QueryRow(ctx, sql).Scan(&text); err != nil {
		return err
	}

	return json.Unmarshal([]byte(text), into)
}

// version is the major version.
func (f *facts) version() int { return f.number("server_version_num") / 10000 }

// number is the value of a numeric setting, 0 for one that this version does not have.
func (f *facts) number(name string) int {
	number, _ := strconv.Atoi(f.Settings[name].Reset)

	return number
}

// locale is the locale of the collation, with its provider unless that is the C library.
func (f *facts) locale() string {
	row := f.Catalog

	switch {
	case row.Provider == "i":
		return "ICU " + row.Locale + row.ICULocale
	case row.Provider == "b":
		return "builtin " + row.Locale
	case row.Collate != row.Ctype:
		return row.Collate + "/" + row.Ctype
	default:
		return row.Collate
	}
}

// managed reports whether the server is Amazon RDS or Aurora, which have settings of their own, and where settings of the server
// are changed in a parameter group.
func (f *facts) managed() bool {
	for name := range f.Settings {
		if strings.HasPrefix(name, "rds.") {
			return true
		}
	}

	return false
}

// scope is where the value of a setting comes from, and how to undo it.
type scope struct{ name, undo string }

// scopeOf follows PostgreSQL's precedence: the address wins over the role in this database, that over the role, that over the
// database, that over all roles. Otherwise the value is the server's.
func (f *facts) scopeOf(name string) scope {
	if f.fromAddress(name) {
		return scope{"the address", "remove " + name + " from the address of the database"}
	}

	for _, known := range []struct {
		role, database bool
		scope          scope
	}{
		{true, true, scope{"role " + f.Role + " in database " + f.Database, "ALTER ROLE " + f.Role + " IN DATABASE " + f.Database}},
		{true, false, scope{"role " + f.Role, "ALTER ROLE " + f.Role}},
		{false, true, scope{"database " + f.Database, "ALTER DATABASE " + f.Database}},
		{false, false, scope{"all roles", "ALTER ROLE ALL"}},
	} {
		for _, made := range f.Overrides {
			if made.Role == known.role && made.Database == known.database && slices.ContainsFunc(made.Settings, sets(name)) {
				return scope{known.scope.name, known.scope.undo + " RESET " + name + ";"}
			}
		}
	}

	return scope{"the server", ""}
}

func sets(name string) func(string) bool {
	return func(entry string) bool { return strings.HasPrefix(entry, name+"=") }
}

func (f *facts) fromAddress(name string) bool { return f.Address[name] != "" }

// change returns how to give a setting another value.
func (f *facts) change(name, value string) string {
	undo := f.scopeOf(name).undo

	switch {
	case undo != "":
		return undo
	case f.managed():
		return "set " + name + " to " + value + " in the DB parameter group"
	case f.Settings[name].Source == "command line":
		return "start PostgreSQL with -c " + name + "=" + value
	default:
		return "ALTER SYSTEM SET " + name + " = '" + value + "'; SELECT pg_reload_conf();"
	}
}
