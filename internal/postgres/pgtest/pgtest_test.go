package pgtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/postgres/private"
)

func TestEveryTestGetsItsOwnMigratedDatabase(t *testing.T) {
	t.Parallel()
	first, second := New(t), New(t)
	require.NotEqual(t, first, second)
	for _, url := range []string{first, second} {
		require.True(t, query[bool](t, url, "SELECT count(*) > 0 FROM schema_migrations"))
	}
}

// Not parallel: it inspects the goroutines of the whole process.
func TestOutlivingGoroutinesAreKnown(t *testing.T) {
	New(t)
	goleak.VerifyNone(t, IgnoreGoroutines()...)
	require.Error(t, goleak.Find(), "without the options they are seen")
}

func TestDatabaseIsDroppedAfterTestEvenWhileConnected(t *testing.T) {
	t.Parallel()
	begun, err := newRun(t.Context(), Server(t), emptySchema("dropped"))
	require.NoError(t, err)
	database, err := begun.take(t.Context())
	require.NoError(t, err)
	connection, err := pgx.Connect(t.Context(), begun.url(database))
	require.NoError(t, err)
	defer func() { _ = connection.Close(context.Background()) }()

	begun.drops.add(database)
	require.NoError(t, begun.close())
	require.False(t, databaseExists(t, Server(t), database))
	require.Zero(t, query[int](t, Server(t), "SELECT count(*) FROM pg_database WHERE starts_with(datname, $1)", begun.database("")),
		"clones made ahead are dropped too")
}

func testNextRunDropsTheDatabasesOfAKilledOne(t *testing.T, dir string) {
	t.Helper()
	// A dedicated server: on the shared one any other process may be the next run.
	own, err := attachTo(t.Context(), fastServer(dir, ""))
	require.NoError(t, err)
	defer func() { require.NoError(t, own.release()) }()
	server := own.url
	killed, living := startHelper(t, cloneVariable, server), startHelper(t, cloneVariable, server)
	dead, kept := killed.line(t), living.line(t)
	require.True(t, databaseExists(t, server, dead))
	killed.kill()
	// The server notices the end of the connection with a delay; the lock is released then.
	waitForRunToEnd(t, server, dead)

	next, err := newRun(t.Context(), server, emptySchema("helper"))
	require.NoError(t, err)
	require.NoError(t, next.close())
	require.False(t, databaseExists(t, server, dead))
	require.True(t, databaseExists(t, server, kept), "a run that lives keeps its databases")
	living.end(t)
	require.False(t, databaseExists(t, server, kept))
}

// waitForRunToEnd blocks in the server until the lock of the database's run is free.
func waitForRunToEnd(t *testing.T, server, database string) {
	t.Helper()
	id, _, _ := strings.Cut(strings.TrimPrefix(database, databasePrefix), "_")
	connection, err := pgx.Connect(t.Context(), server)
	require.NoError(t, err)
	// Unlocked explicitly, because the server would again notice the end of the connection with a delay.
	const key = "(('x' || $1)::bit(64)::bigint)"
	for _, statement := range []string{"SELECT pg_advisory_lock" + key, "SELECT pg_advisory_unlock" + key} {
		_, err = connection.Exec(t.Context(), statement, id)
		require.NoError(t, err)
	}
	require.NoError(t, connection.Close(t.Context()))
}

func TestTemplateIsBuiltOnceForEachSchema(t *testing.T) {
	t.Parallel()
	var built atomic.Int32
	counting := schema{hash: "once_" + rawID(t), migrate: func(context.Context, string) error {
		built.Add(1)
		return nil
	}}
	done := make(chan error)
	for range 3 {
		go func() {
			begun, err := newRun(context.Background(), Server(t), counting)
			if err == nil {
				err = begun.close()
			}
			done <- err
		}()
	}
	for range 3 {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, 1, built.Load())
	ageTemplate(t, templatePrefix+counting.hash)
}

func TestFailedMigrationLeavesNoTemplate(t *testing.T) {
	t.Parallel()
	broken := schema{hash: "broken", migrate: func(context.Context, string) error { return errors.New("no such table") }}
	_, err := newRun(t.Context(), Server(t), broken)
	require.ErrorContains(t, err, "no such table")
	require.False(t, databaseExists(t, Server(t), templatePrefix+"broken"))
}

func TestUnusedTemplateIsDropped(t *testing.T) {
	t.Parallel()
	old := emptySchema("old_" + rawID(t))
	begun, err := newRun(t.Context(), Server(t), old)
	require.NoError(t, err)
	require.NoError(t, begun.close())
	require.True(t, databaseExists(t, Server(t), templatePrefix+old.hash))

	ageTemplate(t, templatePrefix+old.hash)
	next, err := newRun(t.Context(), Server(t), emptySchema("helper"))
	require.NoError(t, err)
	require.NoError(t, next.close())
	require.False(t, databaseExists(t, Server(t), templatePrefix+old.hash))
}

// ageTemplate makes a template look as if it had been unused for longer than templates are kept.
func ageTemplate(t *testing.T, name string) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), Server(t))
	require.NoError(t, err)
	long := time.Now().Add(-templateRetention - time.Hour).UTC().Format(time.RFC3339)
	_, err = connection.Exec(t.Context(), "COMMENT ON DATABASE "+quote(name)+" IS '"+long+"'")
	require.NoError(t, err)
	require.NoError(t, connection.Close(t.Context()))
}

func rawID(t *testing.T) string {
	t.Helper()
	return query[string](t, Server(t), "SELECT replace(gen_random_uuid()::text, '-', '')")
}

// TestDedicatedServer runs through what can happen to a test server, one case after another in a directory that no other process
// uses, because creating a cluster is most of the cost of such a test.
func TestDedicatedServer(t *testing.T) {
	t.Parallel()
	if os.Getenv("TARSY_TEST_DATABASE_URL") != "" {
		t.Skip("tests with the server at TARSY_TEST_DATABASE_URL start none of their own")
	}
	dir := t.TempDir()
	t.Cleanup(func() { require.NoError(t, private.Remove(context.Background(), dir)) })
	cases := []struct {
		name string
		test func(*testing.T, string)
	}{
		{"last process stops the server", testLastProcessStopsTheServer},
		{"server of a killed process is adopted and stopped", testServerOfAKilledProcessIsAdoptedAndStopped},
		{"next run drops the databases of a killed one", testNextRunDropsTheDatabasesOfAKilledOne},
		{"broken server is created again", testBrokenServerIsMadeAgain},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(t, dir) })
	}
}

func testLastProcessStopsTheServer(t *testing.T, dir string) {
	t.Helper()
	other := startHelper(t, attachVariable, dir)
	require.Equal(t, "attached", other.line(t))

	mine, err := attachTo(t.Context(), fastServer(dir, ""))
	require.NoError(t, err)
	require.NoError(t, mine.release())
	require.Equal(t, 1, query[int](t, mine.url, "SELECT 1"), "another process still uses the server")

	other.end(t)
	requireStopped(t, mine.url)
}

func testServerOfAKilledProcessIsAdoptedAndStopped(t *testing.T, dir string) {
	t.Helper()
	other := startHelper(t, attachVariable, dir)
	require.Equal(t, "attached", other.line(t))
	other.kill()

	mine, err := attachTo(t.Context(), fastServer(dir, ""))
	require.NoError(t, err)
	require.Equal(t, 1, query[int](t, mine.url, "SELECT 1"))
	require.NoError(t, mine.release())
	requireStopped(t, mine.url)
}

func testBrokenServerIsMadeAgain(t *testing.T, dir string) {
	t.Helper()
	first, err := attachTo(t.Context(), fastServer(dir, ""))
	require.NoError(t, err)
	cluster := query[string](t, first.url, "SHOW data_directory")
	require.NoError(t, first.release())
	require.NoError(t, os.Remove(filepath.Join(cluster, "global", "pg_control")))

	second, err := attachTo(t.Context(), fastServer(dir, ""))
	require.NoError(t, err)
	require.Equal(t, 1, query[int](t, second.url, "SELECT 1"))
	require.NoError(t, second.release())
}

func requireStopped(t *testing.T, url string) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), url)
	if err == nil {
		_ = connection.Close(context.Background())
	}
	require.Error(t, err)
}

func BenchmarkNew(b *testing.B) {
	New(b)
	for b.Loop() {
		New(b)
	}
}

// A test without a free connection reports that the database is unavailable, and nothing about what uses the connections.
func TestManyRunsFindConnections(t *testing.T) {
	t.Parallel()
	wanted, err := readEnvironment(os.Getenv)
	require.NoError(t, err)
	if wanted.url != "" || wanted.stock {
		t.Skip("the server has the settings of somebody else")
	}
	require.GreaterOrEqual(t, query[int](t, New(t), "SELECT current_setting('max_connections')::int"), 1000)
}
