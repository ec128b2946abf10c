package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// foreignFunctions are those of River that call only functions of PostgreSQL, so that any search path works.
const foreignFunctions = `p.proname = 'river_job_state_in_bitmask'`

// functionsSQL lists the functions whose names in their bodies depend on the caller's search path.
const functionsSQL = `
SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND p.prosqlbody IS NULL
  AND NOT coalesce(format('search_path=%I, pg_temp', n.nspname) = ANY (p.proconfig), false) AND NOT (` + foreignFunctions + `)
ORDER BY 1`

// dependentsSQL lists other objects with expressions: triggers, indexes, constraints, generated columns, defaults, views and
// policies. Their names are resolved at creation, so only a function that they call can go wrong.
const dependentsSQL = `
SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) || ' calls ' || p.oid::regprocedure::text
FROM pg_depend d JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = p.oid JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE d.classid IN ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_attrdef'::regclass, 'pg_trigger'::regclass, 'pg_rewrite'::regclass, 'pg_policy'::regclass)
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND %s
ORDER BY 1`

func TestEveryFunctionHasSearchPathOfItsSchema(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	require.Empty(t, list(t, f, functionsSQL))
	require.Empty(t, list(t, f, fmt.Sprintf(dependentsSQL, `p.prosqlbody IS NULL AND p.proconfig IS NULL AND NOT (`+foreignFunctions+`)`)))

	// Without the conditions, the lists are not empty.
	all := list(t, f, fmt.Sprintf(dependentsSQL, "true"))
	require.Contains(t, all, "index notes_words calls search_tokens(text)")
	require.Contains(t, all, "trigger session_list_insert on table sessions calls session_list_insert()")
	require.Contains(t, strings.Join(all, "\n"), "column words of table entities calls search_set(text)")
}

// A function replaced by a migration loses its settings, and gets them again before anything else uses it.
func TestReplacedFunctionKeepsSearchPath(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	require.NoError(t, postgres.MigrateAs(t.Context(), f.URL, postgres.Migrations(), map[int]string{9001: `
		CREATE OR REPLACE FUNCTION search_set(content text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT search_tokens(content)';
		CREATE FUNCTION brand_new(a integer, OUT b integer) LANGUAGE sql AS 'SELECT a';
		CREATE PROCEDURE newer() LANGUAGE sql AS 'SELECT 1'`}))
	require.Empty(t, list(t, f, functionsSQL))
}

// Servers of earlier releases created functions without a search path.
func TestUpgradeGivesFunctionsOfEarlierReleasesSearchPath(t *testing.T) {
	t.Parallel()

	const searchPath = 39

	f := newFixtureAt(t, emptyDatabase(t))
	require.NoError(t, postgres.MigrateAs(t.Context(), f.URL, postgres.MigrationsBefore(searchPath), nil))
	f.Exec(t, `DO $$ DECLARE f regprocedure; BEGIN
    FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace LOOP EXECUTE format('ALTER FUNCTION %s RESET ALL', f); END LOOP;
END $$`)
	require.Len(t, list(t, f, functionsSQL), 20)

	require.NoError(t, postgres.Migrate(t.Context(), f.URL))
	require.Empty(t, list(t, f, functionsSQL))
}

// PostgreSQL 17 and later build indexes with an empty search path; pg_restore and pg_upgrade always use an empty one.
func TestSchemaWorksWithEmptySearchPath(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	ended := f.Finished(t, db, tarsy.SessionCompleted)
	waiting := f.Create(t, db)

	conn, err := pgx.Connect(t.Context(), f.URL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })

	exec := func(sql string, args ...any) {
		t.Helper()

		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}

	exec("SET search_path = ''")

	// All effects of triggers happen: rows of lists, words, sums and quality are written and removed.
	exec("INSERT INTO public.notes (id, content, source, author, created_at, updated_at) VALUES ($1, 'Ana restarts db-7', 'cli', 'ana', now(), now())", ident.New())
	exec("INSERT INTO public.entities (id, type, title, state, created_by, created_at, updated_at) VALUES ($1, 'task', 'Restart db-7', 'accepted', 'ana', now(), now())", ident.New())
	exec("UPDATE public.sessions SET completed_at = now(), status = 'failed' WHERE id = $1", waiting.ID)
	exec("UPDATE public.sessions SET deleted_at = now() WHERE id = $1", ended.ID)

	var words, listed int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT (SELECT cardinality(words) FROM public.entities),
(SELECT count(*) FROM public.session_list)`).Scan(&words, &listed))
	require.Equal(t, 2, words)
	require.Equal(t, 1, listed)

	// Everything that has an expression is computed again.
	exec("REINDEX SCHEMA public")
	exec("ALTER TABLE public.entities ADD COLUMN rewritten uuid DEFAULT gen_random_uuid()")
	exec("VACUUM (FULL, ANALYZE)")
	exec("DELETE FROM public.sessions")
}

func TestOtherSchemaThanPublicWorks(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)
	execAt(t, address, `CREATE SCHEMA "Odd Schema"`)

	inside := withSearchPath(t, address, `"Odd Schema"`)
	db, err := postgres.Open(t.Context(), postgres.Config{URL: inside, Migrate: true})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	f := newFixtureAt(t, inside)
	session := f.Finished(t, db, tarsy.SessionCompleted)
	found, err := db.SessionDetail(t.Context(), session.ID)
	require.NoError(t, err)
	require.Equal(t, tarsy.SessionCompleted, found.Status)

	require.Empty(t, list(t, f, functionsSQL))
	require.Equal(t, []string{"Odd Schema"}, list(t, f, `SELECT DISTINCT schemaname::text FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`))
	require.NoError(t, postgres.Migrate(t.Context(), inside), "again is no error")
}

func TestDatabaseWithoutPlaceForTablesIsRefusedWithAdvice(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		prepare []string
		path    string
		role    bool
		want    string
	}{
		"no schema of the path exists": {path: "nowhere", want: `search_path (nowhere, from the address) leads to no schema that exists: CREATE SCHEMA tarsy AUTHORIZATION`},
		"tables are in another schema": {
			prepare: []string{`CREATE SCHEMA other`}, path: "other",
			want: `the tables of TARSy are in schema public, and search_path leads to schema other, where TARSy would begin with empty tables: ALTER ROLE`,
		},
		"tables of another program": {
			prepare: []string{`CREATE SCHEMA rails`, `CREATE TABLE rails.schema_migrations (version varchar)`}, path: "rails",
			want: `schema rails has tables of another program: schema_migrations: create a database for TARSy`,
		},
		"table named like one of ours": {prepare: []string{`CREATE SCHEMA shop`, `CREATE TABLE shop.sessions (id int)`}, path: "shop", want: `schema shop has tables of another program: sessions`},
		"role may not create":          {prepare: []string{`CREATE SCHEMA closed`}, path: "closed", role: true, want: `may not create tables in schema closed: GRANT CREATE ON SCHEMA closed TO tarsy_guest_`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			address := emptyDatabase(t)
			if strings.HasPrefix(name, "tables are in") {
				address = pgtest.New(t)
			}

			for _, sql := range c.prepare {
				execAt(t, address, sql)
			}

			if c.role {
				address = asGuest(t, address, c.path)
			}

			before := tablesAt(t, address)
			err := postgres.Migrate(t.Context(), withSearchPath(t, address, c.path))
			require.ErrorContains(t, err, c.want)
			require.Equal(t, before, tablesAt(t, address), "nothing was created")
		})
	}
}

// asGuest creates a role that may connect and use a schema, and returns its address.
func asGuest(t *testing.T, address, schema string) string {
	t.Helper()

	role := "tarsy_guest_" + strings.ReplaceAll(ident.New(), "-", "")[20:]
	execAt(t, address, "CREATE ROLE "+role+" LOGIN PASSWORD 'guest'")
	t.Cleanup(func() {
		execAt(t, address, "DROP OWNED BY "+role)
		execAt(t, address, "DROP ROLE "+role)
	})
	execAt(t, address, "GRANT USAGE ON SCHEMA "+schema+" TO "+role)

	parsed, err := url.Parse(address)
	require.NoError(t, err)

	parsed.User = url.UserPassword(role, "guest")

	return parsed.String()
}

// list reads one column.
func list(t *testing.T, f *fixture, sql string) []string {
	t.Helper()

	return storetest.Value[[]string](t, f.Admin, "SELECT ARRAY ("+sql+")")
}

func withSearchPath(t *testing.T, address, path string) string {
	t.Helper()

	parsed, err := url.Parse(address)
	require.NoError(t, err)

	query := parsed.Query()
	query.Set("search_path", path)
	// PostgreSQL does not read a plus as a space.
	parsed.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")

	return parsed.String()
}

func execAt(t *testing.T, address, sql string) {
	t.Helper()

	conn, err := pgx.Connect(context.Background(), address)
	require.NoError(t, err)

	_, err = conn.Exec(context.Background(), sql)
	require.NoError(t, err, sql)
	require.NoError(t, conn.Close(context.Background()))
}

func tablesAt(t *testing.T, address string) []string {
	t.Helper()

	return list(t, newFixtureAt(t, address), `SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`)
}
