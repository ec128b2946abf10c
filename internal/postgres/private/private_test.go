package private

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestDataDirectoryLifecycle runs through what can happen to a data directory, one case after another on the same one, because
// creating a cluster is most of the cost of such a test. Each case begins with a stopped, complete cluster and leaves one.
func TestDataDirectoryLifecycle(t *testing.T) {
	t.Parallel()
	realBinaries(t)
	dir := testDir(t)
	cases := []struct {
		name string
		test func(*testing.T, string)
	}{
		{"reopening keeps data and password", testReopeningKeepsDataAndPassword},
		{"server takes only the password and only on its socket", testServerTakesOnlyThePasswordAndOnlyOnItsSocket},
		{"defaults are durable and callers override them", testDefaultsAreDurableAndCallersOverrideThem},
		{"server has its own process group", testServerHasItsOwnProcessGroup},
		{"server of a killed tarsy is adopted", testServerOfAKilledTarsyIsAdopted},
		{"detached server goes on and is adopted", testDetachedServerGoesOnAndIsAdopted},
		{"server killed with tarsy is started again", testServerKilledWithTarsyIsStartedAgain},
		{"processes of a killed server that do not exit are killed", testProcessesOfAKilledServerThatDoNotExitAreKilled},
		{"pid file whose number was given to another process is stale", testPidFileWhoseNumberWasGivenToAnotherProcessIsStale},
		{"pid file of another program in the cluster's directory is stale", testPidFileOfAnotherProgramInTheDirectoryIsStale},
		{"pid file of another user's process is stale", testPidFileOfAnotherUsersProcessIsStale},
		{"supervised server is started again after it was killed", testSupervisedServerIsStartedAgainAfterItWasKilled},
		{"supervised server that cannot start is given up with a reason", testSupervisedServerThatCannotStartIsGivenUpWithAReason},
		{"server of a running tarsy is reached without its lock", testServerOfARunningTarsyIsReachedWithoutItsLock},
		{"stopped server is reached and stopped again", testStoppedServerIsReachedAndStoppedAgain},
		{"second tarsy is refused with the pid of the first", testSecondTarsyIsRefusedWithPIDOfFirst},
		{"stop is idempotent", testStopIsIdempotent},
		{"failed start shows the end of the log", testFailedStartShowsTheEndOfTheLog},
		{"cluster of another major version is refused with advice", testClusterOfAnotherMajorVersionIsRefusedWithAdvice},
		{"lost password is named", testLostPasswordIsNamed},
		{"database of another locale is refused", testDatabaseOfAnotherLocaleIsRefused},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(t, dir) })
	}
}

func testReopeningKeepsDataAndPassword(t *testing.T, dir string) {
	t.Helper()

	first := open(t, dir)
	require.False(t, first.Adopted())
	require.Regexp(t, `^\d+\.\d+`, first.Version())
	execSQL(t, first, databaseName, "CREATE TABLE kept AS SELECT 'still here' AS word")
	stop(t, first)
	require.NoFileExists(t, pidFile(first.place.cluster))

	second := open(t, dir)
	require.False(t, second.Adopted())
	require.Equal(t, first.URL(), second.URL())
	require.Equal(t, "still here", queryText(t, second.URL(), "SELECT word FROM kept"))

	info, err := os.Stat(second.place.passwordPath())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func testServerTakesOnlyThePasswordAndOnlyOnItsSocket(t *testing.T, dir string) {
	t.Helper()
	server := open(t, dir)

	require.Empty(t, queryText(t, server.URL(), "SHOW listen_addresses"))
	require.Equal(t, "scram-sha-256", queryText(t, server.URL(), "SHOW password_encryption"))
	// Many iterations would cost every connection milliseconds of CPU time.
	require.Regexp(t, `^SCRAM-SHA-256\$1:`, queryText(t, server.URL(), "SELECT rolpassword FROM pg_authid WHERE rolname = current_user"))
	require.Equal(t, "UTF8", queryText(t, server.URL(), "SHOW server_encoding"))
	require.Equal(t, "off", queryText(t, server.URL(), "SHOW data_checksums"))
	require.Equal(t, "off", queryText(t, server.URL(), "SHOW jit"))

	stranger := &Server{cfg: server.cfg, place: server.place, password: "wrong"}
	require.ErrorContains(t, stranger.answers(t.Context(), server.process), "28P01")
}

func testDefaultsAreDurableAndCallersOverrideThem(t *testing.T, dir string) {
	t.Helper()
	server, err := Open(t.Context(), Config{Dir: dir, Settings: map[string]string{"work_mem": "7MB"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	for setting, value := range map[string]string{
		"fsync": "on", "synchronous_commit": "on", "autovacuum": "on", "max_connections": "200", "shared_buffers": "128MB",
		"max_wal_size": "1GB", "timezone": "UTC", "log_min_messages": "warning", "work_mem": "7MB",
	} {
		require.Equal(t, value, queryText(t, server.URL(), "SHOW "+setting), setting)
	}
}

func testServerHasItsOwnProcessGroup(t *testing.T, dir string) {
	t.Helper()
	server := open(t, dir)
	group, err := syscall.Getpgid(server.process.pid)
	require.NoError(t, err)
	require.Equal(t, server.process.pid, group)
	require.NotEqual(t, syscall.Getpgrp(), group)
}

func testServerOfAKilledTarsyIsAdopted(t *testing.T, dir string) {
	t.Helper()
	killed := startHelper(t, helperConfig{Dir: dir})
	require.Equal(t, "open", killed.line(t))
	left, ok := findProcess(filepath.Join(dir, "postgres"))
	require.True(t, ok)
	killed.kill()

	adopting := open(t, dir)
	require.True(t, adopting.Adopted())
	require.Equal(t, left.pid, adopting.process.pid)
	require.Equal(t, "tarsy", queryText(t, adopting.URL(), "SELECT current_database()"))

	stop(t, adopting)
	require.NoFileExists(t, pidFile(adopting.place.cluster))
	require.False(t, open(t, dir).Adopted())
}

func testDetachedServerGoesOnAndIsAdopted(t *testing.T, dir string) {
	t.Helper()
	first := open(t, dir)
	require.NoError(t, first.Detach())
	require.NoError(t, first.Stop(t.Context()), "Stop after Detach does nothing")
	require.Equal(t, "1", queryText(t, first.URL(), "SELECT '1'"))
	require.True(t, open(t, dir).Adopted())
}

func testServerKilledWithTarsyIsStartedAgain(t *testing.T, dir string) {
	t.Helper()
	first := open(t, dir)
	require.NoError(t, first.Detach())
	require.NoError(t, syscall.Kill(first.process.pid, syscall.SIGKILL))
	require.NoError(t, await(t.Context(), func() (bool, error) { return first.process.ended(), nil }))
	require.FileExists(t, pidFile(first.place.cluster), "a killed server leaves its pid file")

	second := open(t, dir)
	require.False(t, second.Adopted())
}

// In PostgreSQL 14 the autovacuum launcher may take 20 s to exit by itself. A stopped process never does.
func testProcessesOfAKilledServerThatDoNotExitAreKilled(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked at in /proc, which only Linux has")
	}
	first := open(t, dir)
	bystander := startBystander(t, first.place.account, first.place.cluster, "postgres")
	held := findOrphans(first.place.cluster)
	require.NotEmpty(t, held, "the background processes of the server")
	require.NotContains(t, held, first.process.pid, "the postmaster is none of them")
	require.NotContains(t, held, bystander, "nor is another program called postgres")
	// Some are short-lived, such as autovacuum workers: those that exit before they are stopped do not count.
	held = slices.DeleteFunc(held, func(pid int) bool { return syscall.Kill(pid, syscall.SIGSTOP) != nil })
	t.Cleanup(func() {
		for _, pid := range held {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	require.NotEmpty(t, held, "processes that are stopped")
	require.NoError(t, first.Detach())
	require.NoError(t, syscall.Kill(first.process.pid, syscall.SIGKILL))
	require.NoError(t, await(t.Context(), func() (bool, error) { return first.process.ended(), nil }))

	second := open(t, dir)

	require.False(t, second.Adopted())
	require.Equal(t, "1", queryText(t, second.URL(), "SELECT 1::text"))
	for _, pid := range held {
		require.NotContains(t, findOrphans(second.place.cluster), pid)
	}
	require.NoError(t, syscall.Kill(bystander, 0), "the other program was left alone")
}

func testPidFileWhoseNumberWasGivenToAnotherProcessIsStale(t *testing.T, dir string) {
	t.Helper()
	first := open(t, dir)
	stop(t, first)
	// A live process of the server's user that is not a server: PostgreSQL alone would refuse to start.
	leavePid(t, first.place, startBystander(t, first.place.account, "/", "sleep"))

	require.False(t, open(t, dir).Adopted())
}

func testPidFileOfAnotherProgramInTheDirectoryIsStale(t *testing.T, dir string) {
	t.Helper()
	first := open(t, dir)
	stop(t, first)
	leavePid(t, first.place, startBystander(t, first.place.account, first.place.cluster, "sleep"))

	require.False(t, open(t, dir).Adopted())
}

func testPidFileOfAnotherUsersProcessIsStale(t *testing.T, dir string) {
	t.Helper()
	first := open(t, dir)
	stop(t, first)
	pid := 1 // root's
	if os.Geteuid() == 0 {
		// Even one that looks like a server of this cluster.
		pid = startBystander(t, account{}, first.place.cluster, "postgres")
	}
	leavePid(t, first.place, pid)

	require.False(t, open(t, dir).Adopted())
}

// leavePid writes the pid file that a killed server would have left, with the status of a running one.
func leavePid(t *testing.T, home place, pid int) {
	t.Helper()
	content := strconv.Itoa(pid) + "\n" + home.cluster + "\n1700000000\n5432\n" + filepath.Join(home.root, "socket") + "\n\n\nready\n"
	require.NoError(t, os.WriteFile(pidFile(home.cluster), []byte(content), 0o600))
	require.NoError(t, home.account.own(pidFile(home.cluster)))
}

func testSecondTarsyIsRefusedWithPIDOfFirst(t *testing.T, dir string) {
	t.Helper()
	holder := startHelper(t, helperConfig{Dir: dir})
	require.Equal(t, "open", holder.line(t))

	message := openError(t, Config{Dir: dir})
	require.Contains(t, message, "in use by another tarsy (pid "+strconv.Itoa(holder.command.Process.Pid)+")")
	require.Contains(t, message, dir)
	require.ErrorContains(t, Remove(t.Context(), dir), "in use by another tarsy")
}

func testStopIsIdempotent(t *testing.T, dir string) {
	t.Helper()
	server := open(t, dir)
	stop(t, server)
	stop(t, server)
}

func testFailedStartShowsTheEndOfTheLog(t *testing.T, dir string) {
	t.Helper()
	stop(t, open(t, dir))
	message := openError(t, Config{Dir: dir, Settings: map[string]string{"shared_buffers": "many"}})
	require.Contains(t, message, "PostgreSQL did not start")
	require.Contains(t, message, filepath.Join(dir, "postgres.log"))
	require.Contains(t, message, `invalid value for parameter "shared_buffers": "many"`)
	// The failed start has released the directory.
	open(t, dir)
}

func TestLongDataDirectoryGetsShortSocket(t *testing.T) {
	t.Parallel()
	realBinaries(t)
	dir := filepath.Join(testDir(t), strings.Repeat("long", 30))
	cleanUp(t, dir)
	server := open(t, dir)
	require.Less(t, len(filepath.Join(server.process.socketDir, ".s.PGSQL.5432")), maxSocketPath)
	require.Equal(t, "1", queryText(t, server.URL(), "SELECT '1'"))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(server.process.socketDir)) })
}

func TestInvalidSettingIsRefused(t *testing.T) {
	t.Parallel()
	_, err := flags(map[string]string{"work_mem=1 -c fsync": "off"})
	require.ErrorContains(t, err, "is not a setting of PostgreSQL")
}

// A hanging process would keep the server from stopping forever: the server is forced to stop, and nothing is lost.
func TestServerWithHangingProcessIsStopped(t *testing.T) {
	t.Parallel()
	realBinaries(t)
	dir := testDir(t)
	server := open(t, dir)
	connection, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)

	var backend int
	require.NoError(t, connection.QueryRow(t.Context(), `SELECT pg_backend_pid()`).Scan(&backend))
	_, err = connection.Exec(t.Context(), `CREATE TABLE kept AS SELECT 1 AS one`)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(backend, syscall.SIGSTOP))

	server.process.patience = time.Millisecond
	require.NoError(t, server.Stop(t.Context()))

	again := open(t, dir)
	connection, err = pgx.Connect(t.Context(), again.URL())
	require.NoError(t, err)
	require.NoError(t, connection.QueryRow(t.Context(), `SELECT one FROM kept`).Scan(&backend))
	require.NoError(t, connection.Close(t.Context()))
}
