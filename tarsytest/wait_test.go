package tarsytest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/testfailure"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// shortPatience is how long the waits of these tests take to fail: long enough to see the events that they must report.
var shortPatience = slowness.Scale(time.Second)

func TestTimedOutWaitReportsWhatWasSeen(t *testing.T) {
	t.Parallel()

	waits := map[string]struct {
		wait func(app *tarsytest.App, sessionID string)
		want []string
	}{
		"for an event on a WebSocket": {
			func(app *tarsytest.App, sessionID string) { app.Watch(sessionID).WaitStatus("failed") },
			[]string{"timed out waiting for session.status failed", `"type":"session.status"`, `"status":"in_progress"`},
		},
		"for an event over SSE": {
			func(app *tarsytest.App, sessionID string) { app.Events(sessionID, 0).WaitType("never") },
			[]string{"timed out waiting for never", `"status":"in_progress"`},
		},
		"for the end": {
			func(app *tarsytest.App, sessionID string) { _ = app.Events(sessionID, 0).WaitEnd() },
			[]string{"timed out waiting for the connection to end", `"status":"in_progress"`},
		},
		"on a connection that has ended": {
			func(app *tarsytest.App, sessionID string) {
				socket := app.Watch(sessionID)
				socket.Close()
				socket.WaitType("never")
			},
			[]string{"the connection ended while waiting for never"},
		},
		"for a gate": {
			func(app *tarsytest.App, _ string) { app.WaitGate(script.NewGate()) },
			[]string{"timed out waiting for a call of the model at the gate"},
		},
		"for an answer": {
			func(app *tarsytest.App, _ string) {
				app.WaitAnswer("/livez", "a teapot", func(r tarsytest.Response) bool { return r.Status == http.StatusTeapot })
			},
			[]string{"timed out waiting for a teapot", `/livez answered 200: {"status":"ok"}`},
		},
	}

	for name, test := range waits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			complaint := testfailure.Of(t, func(t testing.TB) {
				app := tarsytest.New(t, tarsytest.Options{Patience: shortPatience})
				gate := script.NewGate()
				app.Script.Add(script.Reply{Gate: gate})

				sessionID := app.Submit("test", "an alert")
				<-gate.Reached()
				test.wait(app, sessionID)
				t.Errorf("the wait did not fail")
			})

			for _, text := range test.want {
				require.Contains(t, complaint, text)
			}

			require.NotContains(t, complaint, "did not fail")
		})
	}
}

func TestUnscriptedModelCallFailsTest(t *testing.T) {
	t.Parallel()

	for unwatched, want := range map[bool]string{false: "the script has no reply for these calls", true: ""} {
		complaint := testfailure.Of(t, func(t testing.TB) {
			app := tarsytest.New(t, tarsytest.Options{Unwatched: unwatched})
			require.Equal(t, "failed", string(app.Run("test", "nobody knows").Status))
		})

		if want == "" {
			require.Empty(t, complaint)
		} else {
			require.Contains(t, complaint, want)
		}
	}
}

func TestUnexpectedResponseFailsTestAndIsShown(t *testing.T) {
	t.Parallel()

	complaint := testfailure.Of(t, func(t testing.TB) { tarsytest.New(t, tarsytest.Options{}).Submit("unheard-of", "x") })
	require.Contains(t, complaint, "unknown_alert_type")
}

func TestStopIsIdempotent(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Add(script.Reply{Text: "never said", Gate: gate})
	id := app.Submit("test", "it is being investigated")
	wait.For(t, gate.Reached(), "the model to be asked")

	app.Stop()
	app.Stop()

	answers := script.New(script.Options{})
	answers.Add(script.Reply{Text: "Found it."}, script.Reply{Text: "Summary."})

	again := tarsytest.New(t, tarsytest.Options{Database: app.Database, Script: answers})
	free := tarsytest.Rows[struct{ Free bool }](again, `SELECT fence > 1 OR lease_until IS NULL AS free FROM sessions WHERE id = $1`, id)
	require.True(t, free[0].Free, "the first one has handed the session over")
	app.Stop()
	again.WaitFor(id, tarsy.SessionCompleted)
}
