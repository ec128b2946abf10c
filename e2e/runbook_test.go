package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// withRunbooks has a default runbook and allows one host.
const withRunbooks = `
defaults: {llm_provider: test, runbook: The default runbook.}
system: {runbooks: {allowed_domains: [runbooks.example.com]}}
agents:
  Investigator: {custom_instructions: Look.}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Investigator}]}]
`

// An alert brings its runbook as text or as a URL; if it brings none, or it cannot be read, the default is used.
func TestRunbooks(t *testing.T) {
	t.Parallel()

	web := map[string]http.Handler{"runbooks.example.com": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/markdown")

		switch r.URL.Path {
		case "/oom.md":
			_, _ = w.Write([]byte("Look at the heap first."))
		case "/away.md":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})}

	tests := map[string]struct {
		alert   map[string]any
		runbook string
		warned  bool
	}{
		"text":              {map[string]any{"runbook": "Written in the alert."}, "Written in the alert.", false},
		"address":           {map[string]any{"runbook_url": "http://runbooks.example.com/oom.md"}, "Look at the heap first.", false},
		"text wins":         {map[string]any{"runbook": "Mine.", "runbook_url": "http://runbooks.example.com/oom.md"}, "Mine.", false},
		"nothing":           {map[string]any{}, "The default runbook.", false},
		"not there":         {map[string]any{"runbook_url": "http://runbooks.example.com/gone.md"}, "The default runbook.", true},
		"redirected inside": {map[string]any{"runbook_url": "http://runbooks.example.com/away.md"}, "The default runbook.", true},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app := tarsytest.New(t, tarsytest.Options{Config: withRunbooks, Web: web})
			app.Script.Add(says("Looked."), says("Fine."))

			test.alert["alert_type"], test.alert["data"] = "test", "a runbook"
			session := app.WaitFor(app.SubmitAlert(test.alert), tarsy.SessionCompleted)
			require.Equal(t, test.runbook, session.Runbook)
			require.Contains(t, app.Script.Calls()[0].Request.Messages[1].Content, test.runbook)

			timeline := app.Timeline(session.ID)
			if !test.warned {
				require.NotContains(t, eventTypes(timeline), tarsy.EventError)

				return
			}

			warning := event(t, timeline, tarsy.EventError)
			require.JSONEq(t, `{"code": "runbook_unavailable"}`, string(warning.Metadata))
			require.Contains(t, warning.Content, "The default runbook is used instead.")
		})
	}
}

func TestRunbookFromDisallowedHostIsRefused(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: withRunbooks})
	resp := app.Do(http.MethodPost, "/api/v1/alerts", map[string]any{
		"alert_type": "test", "data": "x", "runbook_url": "https://elsewhere.example.com/oom.md",
	})
	require.Equal(t, http.StatusBadRequest, resp.Status)
	require.Contains(t, string(resp.Body), `"code":"invalid_field"`)
	require.Contains(t, string(resp.Body), "runbooks.example.com", "the message says what is allowed")
}

// The URL is stored and shown as it is, so it must not contain a secret.
func TestRunbookURLWithSecretIsRefused(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: withRunbooks})
	resp := app.Do(http.MethodPost, "/api/v1/alerts", map[string]any{
		"alert_type": "test", "data": "x", "runbook_url": "https://runbooks.example.com/oom.md?token=" + masked()["runbook"],
	})
	require.Equal(t, http.StatusBadRequest, resp.Status)
	require.Contains(t, string(resp.Body), "runbook_url holds what looks like a secret")
	require.NotContains(t, string(resp.Body), masked()["runbook"])
}
