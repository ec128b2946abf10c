package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// Alertmanager and similar senders retry after a 5xx, and only then.
func TestAlertOverQueueLimitGetsRetryAfter(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: "queue: {worker_count: 0, max_waiting_sessions: 2}\n" + oneAgent})
	first := app.Submit("test", "first")
	app.Submit("test", "second")

	answer := app.Do(http.MethodPost, "/api/v1/alerts", map[string]string{"alert_type": "test", "data": "third"})
	require.Equal(t, http.StatusServiceUnavailable, answer.Status)
	require.Equal(t, "5", answer.Header.Get("Retry-After"))

	problem := answer.Problem(t)
	require.Equal(t, string(tarsy.CodeOverloaded), problem.Code)
	require.Equal(t, "The limit of waiting sessions is reached (queue.max_waiting_sessions: 2). Try again later.", problem.Detail)

	// Everything else works as usual.
	app.Cancel(first)
	app.WaitFor(first, tarsy.SessionCancelled)
}
