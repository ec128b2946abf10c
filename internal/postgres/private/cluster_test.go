package private

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func testClusterOfAnotherMajorVersionIsRefusedWithAdvice(t *testing.T, dir string) {
	t.Helper()
	server := open(t, dir)
	stop(t, server)
	versionFile := filepath.Join(server.place.cluster, "PG_VERSION")
	version, err := os.ReadFile(versionFile)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(versionFile, []byte("9\n"), 0o600))

	message := openError(t, Config{Dir: dir})
	for _, part := range []string{"made by PostgreSQL 9", "install-postgres.sh --major 9", "tarsy database upgrade --data-dir " + dir} {
		require.Contains(t, message, part)
	}
	require.NotContains(t, message, "\n")

	require.NoError(t, os.WriteFile(versionFile, version, 0o600))
	open(t, dir)
}

func TestExistingClusterSelectsItsOwnVersion(t *testing.T) {
	t.Parallel()
	search := finder{globs: []source{{"fake", filepath.Join(fakeInstallations(t, "9.6.1", "16.4", "17.2"), "*/bin")}}}

	newest, err := search.find("")
	require.NoError(t, err)
	require.Equal(t, 17, newest.Major)

	fitting, _, err := search.findMajor("", 16)
	require.NoError(t, err)
	require.Equal(t, "16.4", fitting.Version)

	missing, others, err := search.findMajor("", 15)
	require.NoError(t, err)
	require.Zero(t, missing.Major)
	require.Len(t, others, 3)
}

func TestMissingBinariesErrorSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	_, err := finder{path: t.TempDir()}.find("")
	require.ErrorContains(t, err, "install one (apt install postgresql")
	require.NotContains(t, err.Error(), "\n")
	require.NotContains(t, err.Error(), ". ")
}

func TestConfiguredDirectoryWithoutBinariesIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Find(dir)
	require.ErrorContains(t, err, "there is no program postgres in "+dir)
}

func TestBinariesInPathAreFoundThroughLinks(t *testing.T) {
	t.Parallel()
	installed := filepath.Join(fakeInstallations(t, "16.4"), "16.4", "bin")
	links := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(installed, "postgres"), filepath.Join(links, "postgres")))
	found, err := finder{path: links}.find("")
	require.NoError(t, err)
	require.Equal(t, installed, found.Dir)
	require.Equal(t, "PATH", found.Source)
}

func TestBinariesAreFoundThroughPgConfig(t *testing.T) {
	t.Parallel()
	installed := filepath.Join(fakeInstallations(t, "16.4"), "16.4", "bin")
	path := t.TempDir()
	script := "#!/bin/sh\necho " + installed + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(path, "pg_config"), []byte(script), 0o755))
	found, err := finder{path: path}.find("")
	require.NoError(t, err)
	require.Equal(t, installed, found.Dir)
	require.Equal(t, "pg_config", found.Source)
}

// This case runs last: it leaves the database in the state that was refused.
func testDatabaseOfAnotherLocaleIsRefused(t *testing.T, dir string) {
	t.Helper()
	server := open(t, dir)
	execSQL(t, server, "postgres", "DROP DATABASE tarsy")
	execSQL(t, server, "postgres", "CREATE DATABASE tarsy TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
	stop(t, server)
	// On a system without C.UTF-8 the cluster itself is C; then only the record differs.
	require.NoError(t, server.place.writeRecord(wantedLocale))

	message := openError(t, Config{Dir: dir, Settings: fastSettings()})
	require.Contains(t, message, "has the locale C/C with encoding UTF8, and was created with C.UTF-8")
	require.Contains(t, message, "tarsy database backup")
	require.NoFileExists(t, pidFile(server.place.cluster), "the server that was started for the check is stopped again")
}

func TestMissingLocaleFallsBackToCPermanently(t *testing.T) {
	t.Parallel()
	binDir := wrappedBinaries(t, `case "$*" in *C.UTF-8*) echo 'initdb: error: invalid locale name "C.UTF-8"' >&2; exit 1;; esac
exec "$real" "$@"
`)
	dir := testDir(t)
	var said []string
	cfg := Config{
		Dir: dir, BinDir: binDir, Settings: fastSettings(),
		Progress: func(line string) { said = append(said, line) },
	}
	server, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	stop(t, server)
	require.Contains(t, strings.Join(said, "\n"), "no locale C.UTF-8")

	again := open(t, dir)
	require.Equal(t, "C", queryText(t, again.URL(), "SELECT datcollate FROM pg_database WHERE datname = 'tarsy'"))
}

func TestInterruptedInitdbLeavesNoPartialDatabase(t *testing.T) {
	t.Parallel()
	// This initdb does its work and then never exits; it leaves its pid in the directory that it filled.
	binDir := wrappedBinaries(t, `"$real" "$@" >/dev/null || exit 1
for argument in "$@"; do case "$argument" in --pgdata=*) echo $$ > "${argument#--pgdata=}/pid.tmp"
mv "${argument#--pgdata=}/pid.tmp" "${argument#--pgdata=}/initdb.pid";; esac; done
exec sleep 600
`)
	dir := testDir(t)
	interrupted := startHelper(t, helperConfig{Dir: dir, BinDir: binDir})
	pid := 0
	require.NoError(t, await(t.Context(), func() (bool, error) {
		found, err := filepath.Glob(filepath.Join(dir, unfinished+"*", "initdb.pid"))
		if err != nil || len(found) == 0 {
			return false, err
		}
		content, err := os.ReadFile(found[0])
		if err != nil {
			return false, err
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(content)))
		return true, err
	}))
	interrupted.kill()
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	require.NoDirExists(t, filepath.Join(dir, "postgres"))

	server := open(t, dir)
	require.Equal(t, "1", queryText(t, server.URL(), "SELECT '1'"))
	leftovers, err := filepath.Glob(filepath.Join(dir, unfinished+"*"))
	require.NoError(t, err)
	require.Empty(t, leftovers)
}

func TestFailingInitdbShowsItsOutput(t *testing.T) {
	t.Parallel()
	binDir := wrappedBinaries(t, "echo 'the disk is full' >&2; exit 1\n")
	dir := testDir(t)
	message := openError(t, Config{Dir: dir, BinDir: binDir})
	require.Contains(t, message, "the disk is full")
	_, err := os.Stat(filepath.Join(dir, "postgres"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func testLostPasswordIsNamed(t *testing.T, dir string) {
	t.Helper()
	server := open(t, dir)
	stop(t, server)
	away := server.place.passwordPath() + ".away"
	require.NoError(t, os.Rename(server.place.passwordPath(), away))
	require.Contains(t, openError(t, Config{Dir: dir}), server.place.passwordPath())
	require.NoError(t, os.Rename(away, server.place.passwordPath()))
}
