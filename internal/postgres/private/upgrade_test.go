package private

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// twoVersions returns the binaries of the lowest and the highest installed major version.
func twoVersions(t *testing.T) (lowest, highest Binaries) {
	t.Helper()
	realBinaries(t)
	all, err := Installed()
	require.NoError(t, err)
	lowest, highest = all[0], all[len(all)-1]
	if lowest.Major == highest.Major {
		t.Skipf("no database is upgraded: only PostgreSQL %d is installed (scripts/install-postgres.sh installs others)", lowest.Major)
	}
	return lowest, highest
}

// moveWords copies the only table of these tests.
func moveWords(ctx context.Context, from, to, scratch string) error {
	source, err := pgx.Connect(ctx, from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close(ctx) }()
	target, err := pgx.Connect(ctx, to)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close(ctx) }()
	file, err := os.Create(scratch)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if _, err := source.PgConn().CopyTo(ctx, file, "COPY words TO STDOUT"); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := target.Exec(ctx, "CREATE TABLE words (word text)"); err != nil {
		return err
	}
	_, err = target.PgConn().CopyFrom(ctx, file, "COPY words FROM STDIN")
	return err
}

// helpUpgrade upgrades up to a step and waits there to be killed.
func helpUpgrade(config helperConfig) int {
	_, err := Upgrade(context.Background(), UpgradeConfig{
		Config: Config{Dir: config.Dir, BinDir: config.BinDir, Settings: fastSettings()}, OldBinDir: config.OldBinDir, Move: moveWords,
		step: func(name string) {
			if name == config.StopAt {
				fmt.Println("reached " + name)
				_, _ = io.Copy(io.Discard, os.Stdin)
			}
		},
	})
	fmt.Println("ended", err)
	return 1
}

// oldDatabase creates a stopped database of a version, with one word in it.
func oldDatabase(t *testing.T, version Binaries) string {
	t.Helper()
	dir := testDir(t)
	server, err := Open(t.Context(), Config{Dir: dir, BinDir: version.Dir, Settings: fastSettings()})
	require.NoError(t, err)
	execSQL(t, server, databaseName, "CREATE TABLE words AS SELECT 'first' AS word")
	stop(t, server)
	return dir
}

const allWords = "SELECT string_agg(word, ' ' ORDER BY word) FROM words"

func TestUpgradeMovesDatabaseAndKeepsTheOldOne(t *testing.T) {
	t.Parallel()
	old, latest := twoVersions(t)
	dir := oldDatabase(t, old)
	server, err := Open(t.Context(), Config{Dir: dir, Settings: fastSettings()})
	require.NoError(t, err)
	execSQL(t, server, "postgres", "CREATE DATABASE theirs")
	stop(t, server)
	// An earlier upgrade from this version.
	require.NoError(t, os.Mkdir(filepath.Join(dir, "postgres-"+strconv.Itoa(old.Major)), 0o700))

	cfg := UpgradeConfig{
		Config: Config{Dir: dir, BinDir: latest.Dir, Settings: fastSettings()}, OldBinDir: old.Dir, Move: moveWords,
		free: func(string) (uint64, error) { return 1 << 20, nil },
	}
	_, err = Upgrade(t.Context(), cfg)
	require.ErrorContains(t, err, "has 1 MB free, and copying the database")
	require.ErrorContains(t, err, "nothing was changed")
	cfg.free = nil

	cfg.Move = func(context.Context, string, string, string) error { return errors.New("the copy differs") }
	_, err = Upgrade(t.Context(), cfg)
	require.ErrorContains(t, err, "the database was not upgraded and is as it was: the copy differs")
	cfg.Move = moveWords

	result, err := Upgrade(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "postgres-"+strconv.Itoa(old.Major)+"-2"), result.Kept)
	require.Greater(t, result.KeptBytes, uint64(1<<20))
	require.Empty(t, place{root: dir}.leftovers())

	require.Equal(t, []string{"theirs"}, result.Databases)

	server = open(t, dir)
	require.Equal(t, strconv.Itoa(latest.Major), strings.Split(server.Version(), ".")[0])
	require.Equal(t, "first", queryText(t, server.URL(), allWords))
	stop(t, server)

	again, err := Upgrade(t.Context(), cfg)
	require.NoError(t, err)
	require.Empty(t, again.Kept, "there is nothing to do")
	require.Equal(t, latest.Major, again.From.Major)

	// The rollback that the command prints.
	require.NoError(t, os.Rename(result.Cluster, result.Cluster+".aside"))
	require.NoError(t, os.Rename(result.Kept, result.Cluster))
	server = open(t, dir)
	require.Equal(t, strconv.Itoa(old.Major), strings.Split(server.Version(), ".")[0])
	require.Equal(t, "first", queryText(t, server.URL(), allWords))
}

// An upgrade is killed at each of its steps. The next start must find all data: in the old cluster, to which words are added in
// between, until the old one is set aside, and then in the new one. It never begins with an empty database.
func TestKilledUpgradeLosesNothing(t *testing.T) {
	t.Parallel()
	old, latest := twoVersions(t)
	dir := oldDatabase(t, old)
	words, major := "first", old.Major
	for i, step := range []string{
		"prepared", "old server started", "new cluster created", "new server started", "data copied", "new server stopped",
		"old server stopped", "copy named", "old cluster set aside",
	} {
		killed := startHelper(t, helperConfig{Dir: dir, BinDir: latest.Dir, OldBinDir: old.Dir, StopAt: step})
		require.Equal(t, "reached "+step, killed.line(t))
		killed.kill()
		if step == "old cluster set aside" {
			require.NoDirExists(t, filepath.Join(dir, "postgres"))
			major = latest.Major
		}

		server := open(t, dir)
		require.Equal(t, strconv.Itoa(major), strings.Split(server.Version(), ".")[0], step)
		require.Equal(t, words, queryText(t, server.URL(), allWords), step)
		require.Empty(t, server.place.leftovers(), step)
		require.NoDirExists(t, server.place.upgradedPath(), step)
		word := fmt.Sprintf("word%d", i)
		execSQL(t, server, databaseName, "INSERT INTO words VALUES ('"+word+"')")
		words += " " + word
		stop(t, server)
	}
}

func TestUpgradeWithoutOldBinariesNamesThem(t *testing.T) {
	t.Parallel()
	server := open(t, testDir(t))
	stop(t, server)
	require.NoError(t, os.WriteFile(filepath.Join(server.place.cluster, "PG_VERSION"), []byte("9\n"), 0o600))
	_, err := Upgrade(t.Context(), UpgradeConfig{Config: Config{Dir: server.place.dir}})
	require.ErrorContains(t, err, "needs the programs of both versions: install PostgreSQL 9 (apt install postgresql-9, brew install postgresql@9, or scripts/install-postgres.sh --major 9)")

	require.NoError(t, os.WriteFile(filepath.Join(server.place.cluster, "PG_VERSION"), []byte("99\n"), 0o600))
	_, err = Upgrade(t.Context(), UpgradeConfig{Config: Config{Dir: server.place.dir}})
	require.ErrorContains(t, err, "a database is only moved to a newer version")
}

func TestUpgradeAndReachCreateNoDatabase(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		_, err := Upgrade(t.Context(), UpgradeConfig{Config: Config{Dir: dir}})
		require.ErrorContains(t, err, "there is no database in "+dir)
		_, err = Reach(t.Context(), Config{Dir: dir})
		require.ErrorContains(t, err, "there is no database in "+dir)
		require.NoDirExists(t, filepath.Join(dir, "postgres"))
	}
}

func TestHighestVersionIsChosenForUpgrades(t *testing.T) {
	t.Parallel()
	first, second := fakeInstallations(t, "15.9", "16.4"), fakeInstallations(t, "9.6.1", "18.1")
	search := finder{globs: []source{{"first", filepath.Join(first, "*/bin")}, {"second", filepath.Join(second, "*/bin")}}}
	highest, err := search.highest("")
	require.NoError(t, err)
	require.Equal(t, "18.1", highest.Version)
	named, err := search.highest(filepath.Join(first, "15.9", "bin"))
	require.NoError(t, err)
	require.Equal(t, 15, named.Major)
}

func testServerOfARunningTarsyIsReachedWithoutItsLock(t *testing.T, dir string) {
	t.Helper()
	holder := startHelper(t, helperConfig{Dir: dir})
	require.Equal(t, "open", holder.line(t))
	reached, err := Reach(t.Context(), Config{Dir: dir})
	require.NoError(t, err)
	require.True(t, reached.Running())
	require.Equal(t, "tarsy", queryText(t, reached.URL, "SELECT current_database()"))
	require.NoError(t, reached.Close(t.Context()))
	require.Equal(t, "tarsy", queryText(t, reached.URL, "SELECT current_database()"), "it goes on")

	_, err = Upgrade(t.Context(), UpgradeConfig{Config: Config{Dir: dir}})
	require.ErrorContains(t, err, "in use by another tarsy")
}

func testStoppedServerIsReachedAndStoppedAgain(t *testing.T, dir string) {
	t.Helper()
	stop(t, open(t, dir))
	reached, err := Reach(t.Context(), Config{Dir: dir, Settings: fastSettings()})
	require.NoError(t, err)
	require.False(t, reached.Running())
	require.Equal(t, "tarsy", queryText(t, reached.URL, "SELECT current_database()"))
	require.NoError(t, reached.Close(t.Context()))
	_, running := findProcess(filepath.Join(dir, "postgres"))
	require.False(t, running)
}
