package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/tarsytest"
)

// The database is backed up with the command while a session runs; server and database are lost. A new server on a new database with the backup
// knows what was finished, continues what was not, and does nothing again that the backup knows to be done.
func TestServerOnRestoredTarsyBackupContinuesSessions(t *testing.T) {
	t.Parallel()

	program := buildProgram(t)
	finished, cut := newInvestigation(t, "finished", twoTools()), newInvestigation(t, "cut", twoTools())
	answer := cut.HoldCall(callSecond, 6)

	w := newWorld(t, worldOptions{}, finished, cut)
	token := w.Key("reader", tarsy.ScopeRead)
	lost := w.Start()

	w.Begin(finished)
	finished.Socket.WaitStatus("completed")
	session, timeline, journal := w.Session(finished.SessionID), w.Timeline(finished.SessionID), w.Journal(finished.SessionID)

	w.Begin(cut)
	await(t, answer.Reached(), "the LLM call")

	file := filepath.Join(t.TempDir(), "tarsy.backup")
	runDatabase(t, program, w.Database, "backup", file)
	lost.Kill()
	w.Stop()

	database := pgtest.Empty(t)
	runDatabase(t, program, database, "restore", file)

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

// runDatabase runs tarsy database on a database whose address is in the variable, as servers have it.
func runDatabase(t *testing.T, program, database string, arguments ...string) {
	t.Helper()

	command := exec.CommandContext(t.Context(), program, append([]string{"database"}, arguments...)...)
	command.Env = append(command.Environ(), "TARSY_DATABASE_URL="+database)

	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
