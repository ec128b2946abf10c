package dump

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/internal/postgres"
)

// catalog lists what a database has in its schema, by name.
type catalog struct {
	// tables are TARSy's, sorted by name.
	tables []Table
	// sequences are those that migrations create, and those of the columns of tables.
	sequences []string
	// others are the tables that are not TARSy's.
	others []string
}

// tablesSQL omits unlogged tables: PostgreSQL itself empties them after a crash and does not copy them to a standby, which cannot
// even read them. River keeps its leader in one, for a few seconds at a time.
const tablesSQL = `
SELECT c.relname, c.relname = ANY ($1),
    ARRAY (SELECT a.attname::text FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum)
FROM pg_class c
WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p', 'm')
    AND NOT (c.relname = ANY ($1) AND c.relpersistence <> 'p') AND c.relname <> '` + markerTable + `'
ORDER BY c.relname`

// sequencesSQL finds a sequence of ours by its name, or by the table whose column uses it.
const sequencesSQL = `
SELECT s.relname FROM pg_class s
WHERE s.relnamespace = quote_ident(current_schema())::regnamespace AND s.relkind = 'S' AND (s.relname = ANY ($1) OR EXISTS (
    SELECT FROM pg_depend d JOIN pg_class c ON c.oid = d.refobjid
    WHERE d.classid = 'pg_class'::regclass AND d.objid = s.oid AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
        AND c.relname = ANY ($2) AND c.relpersistence = 'p'))
ORDER BY s.relname`

func readCatalog(ctx context.Context, conn *pgx.Conn) (*catalog, error) {
	objects := postgres.SchemaObjects()

	found, err := readTables(ctx, conn, objects.Tables)
	if err != nil {
		return nil, fmt.Errorf("list the tables of the database: %w", err)
	}

	rows, err := conn.Query(ctx, sequencesSQL, objects.Sequences, objects.Tables)
	if err == nil {
		found.sequences, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}

	if err != nil {
		return nil, fmt.Errorf("list the sequences of the database: %w", err)
	}

	return found, nil
}

func readTables(ctx context.Context, conn *pgx.Conn, ours []string) (*catalog, error) {
	rows, err := conn.Query(ctx, tablesSQL, ours)
	if err != nil {
		return nil, err
	}

	var (
		found catalog
		t     Table
		own   bool
	)

	_, err = pgx.ForEachRow(rows, []any{&t.Name, &own, &t.Columns}, func() error {
		if own {
			found.tables = append(found.tables, Table{Name: t.Name, Columns: slices.Clone(t.Columns)})
		} else {
			found.others = append(found.others, t.Name)
		}

		return nil
	})

	return &found, err
}

// table returns the table with a name.
func (c *catalog) table(name string) (Table, bool) {
	at := slices.IndexFunc(c.tables, func(t Table) bool { return t.Name == name })
	if at < 0 {
		return Table{}, false
	}

	return c.tables[at], true
}

// names returns the quoted names of the tables.
func (c *catalog) names() string {
	quoted := make([]string, len(c.tables))
	for i, t := range c.tables {
		quoted[i] = quote(t.Name)
	}

	return strings.Join(quoted, ", ")
}

func (c *catalog) equal(other *catalog) bool {
	return slices.EqualFunc(c.tables, other.tables, func(a, b Table) bool { return a.Name == b.Name && slices.Equal(a.Columns, b.Columns) })
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

func (t Table) columnList() string {
	quoted := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		quoted[i] = quote(column)
	}

	return strings.Join(quoted, ", ")
}

// checksumSQL counts the rows of a table and adds up their hashes, so that the order of the rows does not matter. A row is
// written as an array of texts, because what PostgreSQL quotes in the text of a row depends on the operating system.
func checksumSQL(t Table) string {
	values := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		values[i] = quote(column) + "::text"
	}

	return fmt.Sprintf(`SELECT count(*), coalesce(sum(hashtextextended(ARRAY[%s]::text COLLATE "C", 0)), 0)::text FROM %s`,
		strings.Join(values, ", "), quote(t.Name))
}

// checksum returns the number of rows of a table and their checksum.
func checksum(ctx context.Context, conn *pgx.Conn, t Table) (rows int64, sum string, err error) {
	if err := conn.QueryRow(ctx, checksumSQL(t)).Scan(&rows, &sum); err != nil {
		return 0, "", fmt.Errorf("compute the checksum of the table %s: %w", t.Name, err)
	}

	return rows, sum, nil
}
