package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/postgres/private"
	"tarsy.dev/tarsy/tarsytest"
)

func TestServerOnRestoredTarsyBackupContinuesSessions(t *testing.T) {
	t.Parallel()

	program := buildProgram(t)

	testRestoredBackup(t,
		func(database, file string) { runDatabase(t, program, database, "backup", file) },
		func(database, file string) { runDatabase(t, program, database, "restore", file) })
}

func TestServerOnRestoredBackupContinuesSessions(t *testing.T) {
	t.Parallel()

	dump, restore := backupPrograms(t)

	testRestoredBackup(t,
		func(database, file string) {
			runBackup(t, dump, "--format=custom", "--no-owner", "--file="+file, database)
		},
		func(database, file string) {
			runBackup(t, restore, "--exit-on-error", "--single-transaction", "--no-owner", "--dbname="+database, file)
		})
}

// testRestoredBackup backs up a database while a session runs, as docs/backup.md describes; then server and database are
// lost. A new server on a new database with the backup knows what was finished, continues what was not, and repeats no work
// that the backup contains.
func testRestoredBackup(t *testing.T, backup, restore func(database, file string)) {
	t.Helper()

	finished, cut := newInvestigation(t, "finished", twoTools()), newInvestigation(t, "cut", twoTools())
	answer := cut.HoldCall(callSecond, 6)

	w := newWorld(t, worldOptions{}, finished, cut)
	token := w.Key("reader", tarsy.ScopeRead)
	lost := w.Start()

	w.SubmitAndWatch(finished)
	finished.Socket.WaitStatus("completed")
	session, timeline, journal := w.Session(finished.SessionID), w.Timeline(finished.SessionID), w.Journal(finished.SessionID)

	w.SubmitAndWatch(cut)
	await(t, answer.Reached(), "the LLM call")

	file := filepath.Join(t.TempDir(), "tarsy.backup")
	backup(w.Database, file)
	lost.Kill()
	w.Stop()

	database := pgtest.Empty(t)
	restore(database, file)

	restored := newWorldOn(t, database, worldOptions{}, finished, cut)
	require.Equal(t, session, restored.Session(finished.SessionID))
	require.Equal(t, timeline, restored.Timeline(finished.SessionID))
	require.Equal(t, journal, restored.Journal(finished.SessionID))
	require.Equal(t, tarsy.SessionInProgress, restored.Session(cut.SessionID).Status)

	cut.Socket = restored.Watch(cut.SessionID)
	restored.Start()
	cut.Socket.WaitStatus("completed")

	restored.requireTwoTools(t, cut)
	require.Equal(t, eachOnce(callSecond), cut.Asked(), "only the call that the backup does not know the answer of is made again")
	require.Equal(t, []deskCall{{Tool: toolLook}, {Tool: toolInspect}}, withoutIDs(cut.Desk.Seen()))
	require.Equal(t, eachOnce(), finished.Asked())

	keyed := tarsytest.New(t, tarsytest.Options{Config: restored.settings.Config, Database: database, RequireKey: true})
	keyed.Token = token
	require.Equal(t, session.FinalAnalysis, keyed.Session(finished.SessionID).FinalAnalysis, "keys are in the backup")
}

// backupPrograms returns pg_dump and pg_restore of the version of the test's database.
func backupPrograms(t *testing.T) (dump, restore string) {
	t.Helper()

	server, err := private.Find(os.Getenv("TARSY_PG_BIN"))
	require.NoError(t, err)

	for _, dir := range []string{server.Dir, fmt.Sprintf("/usr/lib/postgresql/%d/bin", server.Major), fmt.Sprintf("/usr/pgsql-%d/bin", server.Major)} {
		dump, restore = filepath.Join(dir, "pg_dump"), filepath.Join(dir, "pg_restore")

		_, dumpErr := exec.LookPath(dump)
		_, restoreErr := exec.LookPath(restore)

		if dumpErr == nil && restoreErr == nil {
			return dump, restore
		}
	}

	t.Skipf("no backup is made and restored: there are no pg_dump and pg_restore of PostgreSQL %d "+
		"(the PostgreSQL of npm has no client programs; install those of your system)", server.Major)

	return "", ""
}

func runBackup(t *testing.T, program string, arguments ...string) {
	t.Helper()

	out, err := exec.CommandContext(t.Context(), program, arguments...).CombinedOutput()
	require.NoError(t, err, "%s: %s", filepath.Base(program), out)
}

// runDatabase runs tarsy database, with the database's address in the same environment variable as for servers.
func runDatabase(t *testing.T, program, database string, arguments ...string) {
	t.Helper()

	command := exec.CommandContext(t.Context(), program, append([]string{"database"}, arguments...)...)
	command.Env = append(command.Environ(), "TARSY_DATABASE_URL="+database)

	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
