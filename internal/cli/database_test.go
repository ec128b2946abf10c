package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/postgres/private"
)

func addProject(t *testing.T, database, name string) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	_, err = conn.Exec(t.Context(), "INSERT INTO projects (id, name, created_by, created_at, updated_at) VALUES (gen_random_uuid(), $1, 'me', now(), now())", name)
	require.NoError(t, err)
}

func projectNames(t *testing.T, database string) string {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	var names string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM projects").Scan(&names))

	return names
}

func TestBackupIsRestoredByCommands(t *testing.T) {
	t.Parallel()

	database, restored, file := pgtest.New(t), pgtest.Empty(t), filepath.Join(t.TempDir(), "tarsy.backup")
	addProject(t, database, "kept")

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "CREATE TABLE theirs (n integer)")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))

	// The address comes from the environment variable, as with serve.
	made := tarsyWith(t, []string{"TARSY_DATABASE_URL=" + database}, "", "database", "backup", file)
	require.Equal(t, result{0, file + "\n", made.stderr}, made)
	require.Contains(t, made.stderr, "warning: not in the backup, because they were not created by TARSy: theirs")
	require.Regexp(t, `Backed up \d+ rows of \d+ tables`, made.stderr)

	refused := tarsyWith(t, nil, "", "database", "backup", file, "--database-url", database)
	require.Equal(t, cli.ExitFailed, refused.code)
	require.Contains(t, refused.stderr, "exists: choose another name, or replace it with --force")

	done := tarsyWith(t, nil, "", "database", "restore", file, "--database-url", restored, "-o", "json")
	require.Zero(t, done.code, done.stderr)

	var report struct {
		File   string   `json:"file"`
		Rows   int      `json:"rows"`
		Tables int      `json:"tables"`
		Others []string `json:"other_tables"`
	}

	require.NoError(t, json.Unmarshal([]byte(done.stdout), &report))
	require.Equal(t, file, report.File)
	require.Positive(t, report.Rows)
	require.Empty(t, report.Others)
	require.Equal(t, "kept", projectNames(t, restored))

	again := tarsyWith(t, nil, "", "database", "restore", file, "--database-url", restored)
	require.Equal(t, cli.ExitFailed, again.code)
	require.Contains(t, again.stderr, "has tables of TARSy already")
}

func TestUnusableDatabaseArgumentsAreRefused(t *testing.T) {
	t.Parallel()

	none := filepath.Join(t.TempDir(), "none")
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("no backup"), 0o600))

	for _, c := range []struct {
		arguments string
		code      int
		message   string
	}{
		{"backup", cli.ExitUsage, "missing argument FILE"},
		{"backup x --database-url nonsense", cli.ExitUsage, "flag --database-url: is not a PostgreSQL address"},
		{"backup x --database-url postgres://host/x --data-dir " + none, cli.ExitUsage, "[database-url data-dir]"},
		{"backup x --data-dir " + none, cli.ExitFailed, "there is no database in " + none},
		{"restore " + text + " --data-dir " + none, cli.ExitFailed, "is not a backup made by tarsy database backup"},
		{"restore " + none + " --data-dir " + none, cli.ExitFailed, "no such file"},
		{"upgrade --data-dir " + none, cli.ExitFailed, "there is no database in " + none},
		{"upgrade now", cli.ExitUsage, `unexpected argument "now"`},
	} {
		answer := tarsyWith(t, nil, "", append([]string{"database"}, strings.Fields(c.arguments)...)...)
		require.Equal(t, c.code, answer.code, "%s: %s", c.arguments, answer.stderr)
		require.Contains(t, answer.stderr, c.message, c.arguments)
		require.NoDirExists(t, none)
	}
}

// A private database goes through all three commands: it is upgraded to another version, backed up while its server
// runs, and restored into a new data directory.
func TestPrivateDatabaseIsUpgradedBackedUpAndRestored(t *testing.T) {
	t.Parallel()

	old, latest := installedVersions(t)
	dir, copied, file := privateDir(t), privateDir(t), filepath.Join(t.TempDir(), "tarsy.backup")

	server, err := private.Open(t.Context(), private.Config{Dir: dir, BinDir: old.Dir})
	require.NoError(t, err)
	require.NoError(t, postgres.Migrate(t.Context(), server.URL()))
	addProject(t, server.URL(), "moved")

	busy := tarsyWith(t, nil, "", "database", "upgrade", "--data-dir", dir)
	require.Equal(t, cli.ExitFailed, busy.code)
	require.Contains(t, busy.stderr, "in use by another tarsy")
	require.NoError(t, server.Stop(t.Context()))

	upgraded := tarsyWith(t, nil, "", "database", "upgrade", "--data-dir", dir, "--pg-bin", latest.Dir, "--old-pg-bin", old.Dir)
	require.Zero(t, upgraded.code, upgraded.stderr)
	require.Contains(t, upgraded.stderr, "has PostgreSQL "+latest.Version+" now. All ")
	require.Contains(t, upgraded.stderr, "The previous database is in "+filepath.Join(dir, "postgres-"+strconv.Itoa(old.Major)))

	again := tarsyWith(t, nil, "", "database", "upgrade", "--data-dir", dir, "--pg-bin", latest.Dir)
	require.Zero(t, again.code, again.stderr)
	require.Contains(t, again.stderr, "Nothing to do")

	server, err = private.Open(t.Context(), private.Config{Dir: dir, BinDir: latest.Dir})
	require.NoError(t, err)
	require.Equal(t, "moved", projectNames(t, server.URL()))

	// The flag overrides the variable of another database.
	made := tarsyWith(t, []string{"TARSY_DATABASE_URL=postgres://nowhere.invalid/x"}, "", "database", "backup", file, "--data-dir", dir)
	require.Zero(t, made.code, made.stderr)
	require.NoError(t, server.Stop(t.Context()))

	// If no server runs, the command starts and stops one.
	made = tarsyWith(t, nil, "", "database", "backup", file, "--data-dir", dir, "--pg-bin", latest.Dir, "--force")
	require.Zero(t, made.code, made.stderr)

	restored := tarsyWith(t, nil, "", "database", "restore", file, "--data-dir", copied, "--pg-bin", old.Dir)
	require.Zero(t, restored.code, restored.stderr)

	reached, err := private.Reach(t.Context(), private.Config{Dir: copied})
	require.NoError(t, err)
	require.False(t, reached.Running(), "the restore has stopped its server")
	require.Equal(t, "moved", projectNames(t, reached.URL))
	require.NoError(t, reached.Close(t.Context()))
}

// privateDir returns a data directory that the PostgreSQL user can access.
func privateDir(t *testing.T) string {
	t.Helper()

	dir, err := os.MkdirTemp("", "tarsy-cli-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, errors.Join(private.Remove(context.Background(), dir), os.RemoveAll(dir))) })

	return dir
}

// installedVersions returns the lowest and the highest version of PostgreSQL on this machine.
func installedVersions(t *testing.T) (lowest, highest private.Binaries) {
	t.Helper()

	all, err := private.Installed()
	require.NoError(t, err)

	if all[0].Major == all[len(all)-1].Major {
		t.Skipf("no database is upgraded: only PostgreSQL %d is installed (scripts/install-postgres.sh installs others)", all[0].Major)
	}

	return all[0], all[len(all)-1]
}
