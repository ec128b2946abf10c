package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// One session runs, two wait, and another one does not match.
func TestBulkCancelEndsRunningAndQueuedSessionsThatMatch(t *testing.T) {
	t.Parallel()

	options := everything()
	options.Config += "queue: {worker_count: 1}\n"
	app := tarsytest.New(t, options)
	gate := script.NewGate()
	t.Cleanup(gate.Open)
	app.Script.Add(script.Reply{Text: "This goes on.", Gate: gate})

	storm := []string{app.Submit("test", "storm one")}
	app.WaitGate(gate)

	storm = append(storm, app.Submit("test", "storm two"), app.Submit("test", "storm three"))
	other := app.Submit("test", "quiet")

	cancel := func(dry bool) tarsy.BulkCancel {
		answer := app.Do(http.MethodPost, "/api/v1/sessions/cancel", map[string]any{"filter": map[string]any{"search": "storm"}, "dry_run": dry})
		require.Equal(t, http.StatusAccepted, answer.Status, string(answer.Body))

		return decode[tarsy.BulkCancel](answer.Body)
	}

	require.ElementsMatch(t, storm, cancel(true).SessionIDs)
	require.Equal(t, tarsy.SessionInProgress, app.Session(storm[0]).Status, "a dry run changes nothing")
	app.Script.Add(says("Analysed."), says("Summed up."))
	require.ElementsMatch(t, storm, cancel(false).SessionIDs)

	for _, id := range storm {
		app.WaitFor(id, tarsy.SessionCancelled)
	}

	app.WaitFor(other, tarsy.SessionCompleted)
	require.Zero(t, cancel(false).Matched)

	entry := decode[struct {
		Entries []tarsy.AuditEntry `json:"entries"`
	}](app.Do(http.MethodGet, "/api/v1/audit?action=session.cancel_many", nil).Body).Entries
	require.Len(t, entry, 1)
	require.Equal(t, "3", entry[0].Details["requested"])
}
