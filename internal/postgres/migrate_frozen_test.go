package postgres_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/golden"
	"tarsy.dev/tarsy/internal/postgres"
)

// An applied migration must not change: databases from before the change would differ from those after it. A new file adds a
// line; a changed line means that a file was changed, which requires another migration instead.
func TestMigrationsAreFrozen(t *testing.T) {
	t.Parallel()

	const name = "migrations.sum"

	file := filepath.Join("testdata", "golden", name)
	sums := postgres.MigrationSums()

	committed, err := os.ReadFile(file)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}

	for line := range strings.Lines(string(committed)) {
		migration, sum, found := strings.Cut(strings.TrimSpace(line), " ")
		require.True(t, found, line)
		require.Equal(t, sum, sums[migration], "%s was changed after it landed, or removed: make a new migration instead", migration)
	}

	var lines strings.Builder
	for _, name := range postgres.MigrationNames() {
		fmt.Fprintf(&lines, "%s %s\n", name, sums[name])
	}

	golden.Compare(t, name, []byte(lines.String()))
}

func TestChangedMigrationIsRefused(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)
	files := map[int]string{9001: `CREATE TABLE added (id uuid PRIMARY KEY)`}
	require.NoError(t, postgres.MigrateAs(t.Context(), address, beforeAdditions, files))
	require.NoError(t, postgres.MigrateAs(t.Context(), address, beforeAdditions, files))

	files[9001] = `CREATE TABLE added (id uuid PRIMARY KEY, more text)`
	require.ErrorContains(t, postgres.MigrateAs(t.Context(), address, beforeAdditions, files),
		"migration 9001_test.sql in the database differs from this tarsy's")
}

// Rows of releases that recorded no checksums are not checked.
func TestMigrationWithoutChecksumIsAccepted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.Exec(t, `UPDATE schema_additions SET name = split_part(name, ' ', 1)`)
	require.NoError(t, postgres.Migrate(t.Context(), f.URL))
}
