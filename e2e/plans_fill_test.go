package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/wait"
)

// manySessions is the number of sessions in a large database, manyRows the number of rows in the tables that grow with
// them, and someRows in the other tables.
const manySessions, manyRows, someRows = 50_000, 10_000, 1_000

// growing returns the tables that grow with sessions.
func growing() map[string]bool {
	return map[string]bool{
		"sessions": true, "session_list": true, "events": true, "timeline_events": true, "messages": true, "llm_interactions": true,
		"mcp_interactions": true, "stages": true, "executions": true, "session_alerts": true, "announcements": true,
	}
}

// column is a column of a table, with what must differ in copies of a row.
type column struct {
	Table, Name, Type string
	// Distinct reports whether a unique index has the column, and no UUID that would make copies differ. It is false for a
	// column with a check constraint, which cannot have any value.
	Distinct bool
}

// columnsSQL finds the columns of the tables that grow: not those of migrations, nor those in which River has one row, or
// one row per queue.
const columnsSQL = `
SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type, EXISTS (
    SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND a.attnum = ANY (i.indkey) AND NOT EXISTS (
        SELECT FROM pg_attribute u WHERE u.attrelid = c.oid AND u.attnum = ANY (i.indkey) AND u.atttypid = 'uuid'::regtype)
) AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c' AND a.attnum = ANY (k.conkey)) AS distinct
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname !~ '(migration|^schema_)' AND c.relname !~ '^river_(leader|queue|client)'
ORDER BY c.relname, a.attnum`

func tableColumns(t *testing.T, conn *pgx.Conn) map[string][]column {
	t.Helper()

	rows, err := conn.Query(t.Context(), columnsSQL)
	require.NoError(t, err)

	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[column])
	require.NoError(t, err)

	tables := map[string][]column{}
	for _, c := range all {
		tables[c.Table] = append(tables[c.Table], c)
	}

	return tables
}

// copied returns the value of the column in the n-th of count copies. Ids are mapped, so that copies of sessions own copies
// of rows, and times are spread over ninety days.
func (c column) copied() string {
	name := pgx.Identifier{c.Name}.Sanitize()

	switch {
	case c.Type == "uuid":
		return "md5(" + name + "::text || n)::uuid"
	case c.Type == "timestamp with time zone":
		return name + " - make_interval(secs => n * 7776000.0 / count)"
	case c.Distinct && c.Type == "text": // empty means that there is none
		return "CASE WHEN " + name + " = '' THEN '' ELSE " + name + " || n END"
	case c.Distinct && c.Type == "bytea":
		return "sha256(" + name + " || n::text::bytea)"
	case c.Distinct && (c.Type == "bigint" || c.Type == "integer"):
		return name + " + n * 10000"
	default:
		return name
	}
}

// enlarge copies the rows of a database until its tables are as large as those of a busy one, and returns the number of rows in each.
func enlarge(t *testing.T, database string) map[string]int {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)

	defer conn.Close(t.Context())

	// Copies need no triggers: what triggers would write is copied too.
	_, err = conn.Exec(t.Context(), "SET session_replication_role = replica; SET maintenance_work_mem = '256MB'")
	require.NoError(t, err)

	sizes := map[string]int{}

	for table, columns := range tableColumns(t, conn) {
		sizes[table] = copyRows(t, conn, table, columns)
	}

	_, err = conn.Exec(t.Context(), "ANALYZE")
	require.NoError(t, err)
	awaitIndexes(t, conn)

	return sizes
}

// awaitIndexes waits until PostgreSQL uses the new indexes: on a table with updated rows, not before all transactions that
// are older than the index have ended, including those of other tests on the server.
func awaitIndexes(t *testing.T, conn *pgx.Conn) {
	t.Helper()

	wait.Until(t, "older transactions to end", func() bool {
		var usable bool

		require.NoError(t, conn.QueryRow(t.Context(), `SELECT NOT EXISTS (
			SELECT FROM pg_index i WHERE i.indcheckxmin AND i.xmin::text::bigint >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint)`).Scan(&usable))

		return usable
	})
}

func copyRows(t *testing.T, conn *pgx.Conn, table string, columns []column) (size int) {
	t.Helper()

	quoted := pgx.Identifier{table}.Sanitize()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+quoted).Scan(&size))

	wanted := someRows

	switch {
	case table == "sessions" || table == "session_list":
		wanted = manySessions
	case growing()[table]:
		wanted = manyRows
	}

	if size == 0 || size >= wanted {
		return size
	}

	names, values := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i], values[i] = pgx.Identifier{c.Name}.Sanitize(), c.copied()
	}

	// Building an index at the end is faster than updating it row by row.
	defer withoutIndexes(t, conn, quoted)()

	made, err := conn.Exec(t.Context(), fmt.Sprintf(
		"INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s, generate_series(1, %[5]d) AS n, (SELECT %[5]d AS count) AS c ON CONFLICT DO NOTHING",
		quoted, strings.Join(names, ", "), strings.Join(values, ", "), quoted, (wanted+size-1)/size))
	require.NoError(t, err, "copy the rows of %s", table)

	return size + int(made.RowsAffected())
}

// withoutIndexes drops the indexes of a table that are not unique, and returns a function that creates them again.
func withoutIndexes(t *testing.T, conn *pgx.Conn, table string) (restore func()) {
	t.Helper()

	rows, err := conn.Query(t.Context(), `SELECT pg_get_indexdef(i.indexrelid), i.indexrelid::regclass::text FROM pg_index i
WHERE i.indrelid = $1::text::regclass AND NOT i.indisunique`, table)
	require.NoError(t, err)

	type index struct{ Definition, Name string }

	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	require.NoError(t, err)

	for _, i := range indexes {
		_, err := conn.Exec(t.Context(), "DROP INDEX "+i.Name)
		require.NoError(t, err)
	}

	return func() {
		for _, i := range indexes {
			_, err := conn.Exec(t.Context(), i.Definition)
			require.NoError(t, err)
		}
	}
}
