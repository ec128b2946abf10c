package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// A release without verdicts completes a session whose recipe asks for one, and reads a session that has one; this version
// shows both.
func TestReleaseWithoutVerdictsOnOneDatabase(t *testing.T) {
	t.Parallel()

	previous, current := withoutVerdicts(t), buildProgram(t)
	u := newUpgrade(t)

	// This version accepts the alert and runs nothing.
	dir := t.TempDir()
	settings := strings.Replace(fmt.Sprintf(upgradeConfig, u.model.OpenAI(), u.tools.URL), "worker_count: 3", "worker_count: 0", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tarsy.yaml"), []byte(settings), 0o600))

	front := tarsytest.Connect(t, startServe(t, current, dir, u.database).URL, u.database)
	without := front.Submit("test", "what is wrong with marker-1?")
	wants := tarsytest.Rows[struct{ Wants bool }](front,
		`SELECT r.recipe->'chain' ? 'verdict' AS wants FROM recipes r JOIN sessions s ON s.recipe_hash = r.hash WHERE s.id = $1`, without)
	require.True(t, wants[0].Wants)

	older := u.Join(previous)
	session := front.WaitFor(without, tarsy.SessionCompleted)
	require.Equal(t, older.ServerID, session.PodID)
	require.Contains(t, session.ExecutiveSummary, "marker-1")
	require.Empty(t, session.Outcome)
	require.Empty(t, session.VerdictError)
	require.Nil(t, session.Verdict)
	u.Leave(older)

	newer := u.Join(current)
	require.Equal(t, tarsy.StatusCompleted, newer.app.Answer(without, "what else about marker-1?").Status)

	with := newer.app.Run("test", "what is wrong with marker-2?")
	require.Equal(t, "marker-2 leaks memory", with.Verdict.Cause.Text, with.VerdictError)

	older = u.Join(previous)
	u.Leave(newer)
	require.Equal(t, tarsy.SessionCompleted, older.app.Session(with.ID).Status)
	require.Equal(t, tarsy.StatusCompleted, older.app.Answer(with.ID, "what else about marker-2?").Status)
	require.Equal(t, with.Verdict, front.Session(with.ID).Verdict, "the previous release leaves the verdict as it is")
}
