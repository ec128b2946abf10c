package postgres_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// rowPattern matches the rows of the tables: a name, and what it is needed for.
var rowPattern = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]+) \\| ([^|]+) \\|")

// Every session that belongs to an index writes to it, and each trigger runs within a step: adding one requires documenting its purpose.
func TestEveryIndexAndTriggerIsDocumented(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../docs/indexes.md")
	require.NoError(t, err)

	_, lists, found := strings.Cut(string(page), "\n## `sessions`\n")
	require.True(t, found)

	var documented []string
	for _, row := range rowPattern.FindAllStringSubmatch(lists, -1) {
		documented = append(documented, row[1])
	}

	slices.Sort(documented)

	f := newFixture(t)
	rows, err := f.Admin.Query(t.Context(), `
SELECT name FROM (
    SELECT i.indexrelid::regclass::text AS name, i.indrelid AS relation FROM pg_index i WHERE NOT i.indisprimary
    UNION ALL
    SELECT g.tgname::text, g.tgrelid FROM pg_trigger g WHERE NOT g.tgisinternal
) AS o JOIN pg_class c ON c.oid = o.relation
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname !~ '^(river|pgjournal)_' ORDER BY name COLLATE "C"`)
	require.NoError(t, err)

	existing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, existing, documented, "docs/indexes.md lists each index and trigger of the schema: add what is new with what needs it and what it costs, and remove what is gone")
}
