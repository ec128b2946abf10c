package e2e

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func pause(t *testing.T, app *tarsytest.App, kind tarsy.PauseKind) {
	t.Helper()

	answer := app.Do(http.MethodPut, "/api/v1/system/pauses/"+string(kind), map[string]any{"reason": "database upgrade"})
	require.Equal(t, http.StatusOK, answer.Status, string(answer.Body))
}

func resume(t *testing.T, app *tarsytest.App, kind tarsy.PauseKind) {
	t.Helper()
	require.Equal(t, http.StatusNoContent, app.Do(http.MethodDelete, "/api/v1/system/pauses/"+string(kind), nil).Status)
}

// The servers that received the pauses are killed. Other servers respect the pauses, and still cancel sessions.
func TestPausesHoldOnAllServersAndSurviveKill(t *testing.T) {
	t.Parallel()

	i := newInvestigation(t, "watched", pair())
	w := newWorld(t, worldOptions{}, i)
	a := w.Start()
	pause(t, w.At(a), tarsy.PauseClaiming)
	a.Kill()

	w.SubmitAndWatch(i)
	unwanted := w.Submit(i.id, "never mind")
	b := w.Start()
	w.At(b).Cancel(unwanted)
	w.WaitFor(unwanted, tarsy.SessionCancelled)

	pause(t, w.At(b), tarsy.PauseIntake)
	b.Kill()

	answer := w.Do(http.MethodPost, "/api/v1/alerts", map[string]any{"alert_type": i.id, "data": "x"})
	require.Equal(t, http.StatusServiceUnavailable, answer.Status)
	require.Equal(t, "60", answer.Header.Get("Retry-After"))
	require.Equal(t, string(tarsy.CodeIntakePaused), answer.Problem(t).Code)
	require.Contains(t, answer.Problem(t).Detail, "database upgrade")

	fences := tarsytest.Rows[struct{ Fence int64 }](w.App, `SELECT fence FROM sessions WHERE id = $1`, i.SessionID)
	require.Equal(t, []struct{ Fence int64 }{{0}}, fences, "nobody has claimed it")

	w.Start()
	resume(t, w.App, tarsy.PauseClaiming)
	w.Await(i)

	resume(t, w.App, tarsy.PauseIntake)
	w.Cancel(w.Submit(i.id, "accepted again"))
}

// submitRacing submits an alert, over a webhook or not, and returns its session, or false if intake is paused.
func submitRacing(t *testing.T, app *tarsytest.App, byWebhook bool) (string, bool) {
	t.Helper()

	path, status, name := "/api/v1/alerts", http.StatusAccepted, ident.New()
	body := map[string]any{"alert_type": "test", "data": name}

	if byWebhook {
		path, status = "/api/v1/webhooks/alertmanager/default", http.StatusOK
		body = map[string]any{"version": "4", "status": "firing", "alerts": []any{map[string]any{
			"status": "firing", "fingerprint": name, "labels": map[string]any{"alertname": name}, "startsAt": "2026-11-15T10:00:00Z",
		}}}
	}

	answer := app.Do(http.MethodPost, path, body)
	if answer.Status == http.StatusServiceUnavailable {
		return "", false
	}

	if !assert.Equal(t, status, answer.Status, string(answer.Body)) {
		return "", false
	}

	if byWebhook {
		return *decode[tarsy.DeliveryResult](answer.Body).Alerts[0].SessionID, true
	}

	return decode[struct {
		SessionID string `json:"session_id"`
	}](answer.Body).SessionID, true
}

// Alerts and webhook deliveries race with a pause on two servers. None is accepted after the pause was acknowledged, and no
// accepted one is lost.
func TestNoAlertIsAcceptedAfterPauseWasAcknowledged(t *testing.T) {
	t.Parallel()

	const senders, early = 6, 30

	options := everything()
	options.Config += "queue: {worker_count: 0}\n"
	a := tarsytest.New(t, options)
	options.Database, options.MCP = a.Database, everything().MCP
	b := tarsytest.New(t, options)

	var (
		group    sync.WaitGroup
		mu       sync.Mutex
		accepted = map[string]bool{}
		enough   = make(chan struct{})
	)

	for n := range senders {
		app := []*tarsytest.App{a, b}[n%2]

		group.Go(func() {
			for {
				id, ok := submitRacing(t, app, n < senders/2)
				if !ok {
					return
				}

				mu.Lock()
				accepted[id] = true
				if len(accepted) == early {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}

	await(t, enough, "the first alerts")
	pause(t, b, tarsy.PauseIntake)
	atOnce := tarsytest.Rows[struct{ ID string }](a, `SELECT id FROM sessions`)
	group.Wait()

	require.Len(t, tarsytest.Rows[struct{ ID string }](a, `SELECT id FROM sessions`), len(atOnce), "an alert was accepted after the pause")
	require.Len(t, accepted, len(atOnce))

	for _, row := range atOnce {
		require.True(t, accepted[row.ID])
	}
}

// A question waits as an alert does; a running session continues to its end.
func TestPausedClaimingLetsSessionsEndAndQuestionsWait(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	app := tarsytest.New(t, everything())
	app.Script.Add(says("Analysed."), says("Summed up."))
	done := app.Run("test", "first").ID

	app.Script.Add(script.Reply{Text: "Analysed.", Gate: gate}, says("Summed up."))
	running := app.Submit("test", "second")
	app.WaitGate(gate)
	pause(t, app, tarsy.PauseClaiming)

	question := app.Ask(done, "why?")
	unwanted := app.Submit("test", "third")
	app.Cancel(unwanted)
	app.WaitFor(unwanted, tarsy.SessionCancelled)

	gate.Open()
	app.WaitFor(running, tarsy.SessionCompleted)
	require.Len(t, app.Session(done).Stages, 1, "nobody has taken the question")

	app.Script.Add(says("Because."))
	resume(t, app, tarsy.PauseClaiming)
	require.Equal(t, tarsy.StatusCompleted, app.WaitStage(done, question.StageID).Status)
}

func TestDiscordReportsPausedIntake(t *testing.T) {
	t.Parallel()

	app, w := newDiscordApp(t, oncallAllowed)
	w.AwaitReady()
	pause(t, app, tarsy.PauseIntake)
	w.Write("alerts", "ann", "<@tarsy> disk full on node-7")
	w.Await("alerts", "database upgrade")
	require.Empty(t, app.Sessions(""))
}

func TestMetricReportsPauses(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	pause(t, app, tarsy.PauseIntake)

	waitMetrics(t, app, `tarsy_paused{what="intake"} 1`, `tarsy_paused{what="claiming"} 0`)
}
