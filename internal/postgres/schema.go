package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// oldestMajor is the oldest version of PostgreSQL that is supported, and tested.
const oldestMajor = 14

// schemaPlace is where in a database the tables are, or would be created.
type schemaPlace struct {
	Version string
	Role    string
	Path    string
	// Schema is the first one of the search path that exists; empty if none does.
	Schema    string
	MayCreate bool
	// Tables are the schemas that have our tables, whether the search path leads there or not.
	Tables []string
	// Taken tells that the schema has a table of ours by its name, but not ours.
	Taken bool
}

const placeSQL = `
WITH ours AS (
    SELECT n.nspname::text AS name FROM pg_namespace n
    WHERE (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind = 'r'
           AND c.relname IN ('schema_migrations', 'sessions', 'timeline_events')) = 3
)
SELECT current_setting('server_version') AS version, current_user::text AS role, current_setting('search_path') AS path,
    coalesce(current_schema()::text, '') AS schema, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
    ARRAY (SELECT name FROM ours ORDER BY name) AS tables,
    EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relname IN ('schema_migrations', 'sessions')
              AND n.nspname NOT IN (SELECT name FROM ours) AND NOT EXISTS (
                  SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND c.relname = 'schema_migrations' AND a.attname = 'name')) AS taken`

// checkPlace refuses a database in which the tables would be created in the wrong place, or not at all. It changes nothing.
func checkPlace(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, placeSQL)
	if err != nil {
		return fmt.Errorf("look at the schema of the database: %w", err)
	}

	p, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[schemaPlace])
	if err != nil {
		return fmt.Errorf("look at the schema of the database: %w", err)
	}

	return p.problem()
}

// problem says why the tables cannot be where the search path leads, and what to do; nil if they can.
func (p schemaPlace) problem() error {
	quoted := pgx.Identifier{p.Schema}.Sanitize()
	role := pgx.Identifier{p.Role}.Sanitize()

	switch {
	case majorOf(p.Version) < oldestMajor:
		return fmt.Errorf("the database is PostgreSQL %s, and tarsy needs %d or newer: upgrade PostgreSQL", p.Version, oldestMajor)
	case p.Schema == "":
		return fmt.Errorf("the search path of role %s (%s) names no schema that exists: create one of them (CREATE SCHEMA … AUTHORIZATION %s), "+
			"or change the search_path of the address or the role", role, p.Path, role)
	case len(p.Tables) > 0 && !slices.Contains(p.Tables, p.Schema):
		return fmt.Errorf("the tables of tarsy are in the schema %s, but the search path (%s) leads to %s: "+
			"add ?search_path=%s to the address of the database, or use a database of its own", strings.Join(p.Tables, " and "), p.Path, quoted, p.Tables[0])
	case p.Taken:
		return fmt.Errorf("the schema %s has tables of another program: create a database for tarsy, "+
			"or a schema (CREATE SCHEMA tarsy AUTHORIZATION %s) and add ?search_path=tarsy to the address", quoted, role)
	case !p.MayCreate:
		return fmt.Errorf("role %s may not create tables in the schema %s: make it the owner of the database, "+
			"or GRANT CREATE ON SCHEMA %s TO %s", role, quoted, quoted, role)
	default:
		return nil
	}
}

// pinFunctionsSQL gives the functions that this transaction has created or changed a search path of their own: the schema. PostgreSQL runs
// functions with other paths than ours. Since version 17 an index is built with an empty one, and pg_restore and pg_upgrade work with an
// empty one; the names in a function's body would not be found. CREATE OR REPLACE removes the setting, so this runs at the end of
// every migration, before the next one builds an index with the function.
const pinFunctionsSQL = `
DO $$
DECLARE
    changed regprocedure;
BEGIN
    FOR changed IN
        SELECT oid FROM pg_proc WHERE pronamespace = quote_ident(current_schema())::regnamespace AND xmin = pg_current_xact_id()::xid
    LOOP
        EXECUTE format('ALTER ROUTINE %s SET search_path TO %I, pg_temp', changed, current_schema());
    END LOOP;
END
$$`

// pinFunctions fixes the search path of the functions of a migration.
func pinFunctions(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, pinFunctionsSQL); err != nil {
		return fmt.Errorf("set the search path of functions: %w", err)
	}

	return nil
}
