package postgres_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Statements name their columns, so that a column added by a newer release changes nothing for this one.

var (
	starPattern = regexp.MustCompile(`(?is)(?:\bSELECT\s+(?:DISTINCT\s+|ALL\s+)?|\bRETURNING\s+|,\s*)\*\s*(?:,|\bFROM\b|$|\))`)
	// All columns of a table or alias; those of a subquery in parentheses are named in the subquery.
	qualifiedPattern = regexp.MustCompile(`(?i)\b([a-z_]+)\.\*`)
	// A table without a column list.
	insertPattern = regexp.MustCompile(`(?is)\bINSERT\s+INTO\s+[a-z_."]+(?:\s+AS\s+[a-z]+)?\s*(?:[^\s("a-z_.]|\b(?:SELECT|VALUES|TABLE|DEFAULT|WITH)\b)`)
	tablePattern  = regexp.MustCompile(`(?is)^\s*TABLE\s|\(\s*TABLE\s`)
)

// unnamed returns the parts of a statement that leave the choice of columns to the database.
func unnamed(text string) []string {
	var found []string
	for _, pattern := range []*regexp.Regexp{starPattern, insertPattern, tablePattern} {
		found = append(found, pattern.FindAllString(text, -1)...)
	}

	for _, match := range qualifiedPattern.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(text, ") AS "+match[1]) {
			found = append(found, match[0])
		}
	}

	return found
}

func TestStatementsNameTheirColumns(t *testing.T) {
	t.Parallel()

	var files []string

	for _, pattern := range []string{"*.go", "account/*.go", "outbox/*.go"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)

		files = append(files, found...)
	}

	sql := 0

	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}

		texts, _ := statements(t, file)
		for _, text := range texts {
			if strings.Contains(text, "SELECT") {
				sql++
			}

			require.Empty(t, unnamed(text), "%s: %s", file, text)
		}
	}

	require.Greater(t, sql, 20, "the statements were read")

	migrations, err := filepath.Glob("migrations/*.sql")
	require.NoError(t, err)

	for _, file := range migrations {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, unnamed(string(text)), file)
	}
}

// The check itself must find violations.
func TestColumnCheckFindsUnnamedColumns(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"SELECT * FROM stages", "select\n  *\nfrom stages", "SELECT s.* FROM sessions s", "SELECT id, s.* FROM sessions s",
		"SELECT *, 0 AS n FROM timeline_events", "SELECT 1 AS n, * FROM stages", "SELECT DISTINCT * FROM stages",
		"UPDATE sessions SET fence = 1 RETURNING *", "WITH x AS (SELECT id FROM t) SELECT * FROM x",
		"INSERT INTO stages SELECT id FROM x", "INSERT INTO stages VALUES ($1)", "INSERT INTO " + computed + " SELECT " + computed,
		"INSERT INTO stages AS s SELECT id FROM x", "INSERT INTO stages DEFAULT VALUES", "TABLE stages", "SELECT id FROM (TABLE stages) x",
		"SELECT * FROM jsonb_populate_recordset(NULL::stages, $1)",
	} {
		require.NotEmpty(t, unnamed(text), text)
	}

	for _, text := range []string{
		"SELECT count(*) FROM stages", "SELECT id FROM stages", "SELECT a * b FROM t", "SELECT 2*3", "SELECT (extract(epoch FROM a) * 1000)::bigint AS ms",
		"INSERT INTO stages (id) SELECT id FROM x", "INSERT INTO " + computed + " (" + computed + ") SELECT " + computed,
		"SELECT page.*, 1 AS n FROM (SELECT id FROM sessions) AS page",
		"INSERT INTO stages AS s (id) VALUES ($1)", "SELECT id, count(*), sum(n * 2) FROM t", "CREATE TABLE stages (id uuid)",
	} {
		require.Empty(t, unnamed(text), text)
	}
}
