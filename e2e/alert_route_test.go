package e2e

import (
	"encoding/json"
	"net/http"
	"testing"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// alertSuccesses returns the successful requests for webhooks, silences and suppressed alerts.
func alertSuccesses() map[string]success {
	plain := func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
		return app.Do(op.method, op.path, nil)
	}
	silence := map[string]any{"matchers": []string{`alertname="Silent"`}, "reason": "load test", "duration": "1h"}
	// A resolved alert starts no session.
	over := json.RawMessage(`{"version": "4", "groupKey": "{}", "status": "resolved",
"alerts": [{"status": "resolved", "labels": {"alertname": "Over"}, "annotations": {}, "fingerprint": "f1"}]}`)

	return map[string]success{
		"list-webhooks":   {http.StatusOK, plain},
		"list-silences":   {http.StatusOK, plain},
		"list-suppressed": {http.StatusOK, plain},
		"deliver-alerts": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.address("alertmanager", "default"), over)
		}},
		"add-silence": {http.StatusCreated, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path, silence)
		}},
		"end-silence": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			made := app.Do(http.MethodPost, "/api/v1/silences", silence)

			return app.Do(op.method, op.address(decode[tarsy.Silence](made.Body).ID), nil)
		}},
		"investigate-suppressed": {http.StatusAccepted, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			app.Script.Add(says("Analysed."), says("Summed up."))

			made := app.Do(http.MethodPost, "/api/v1/webhooks/grafana/default", over)
			answer := app.Do(op.method, op.address(*decode[tarsy.DeliveryResult](made.Body).Alerts[0].SuppressedID), nil)
			app.WaitFor(decode[struct {
				SessionID string `json:"session_id"`
			}](answer.Body).SessionID, tarsy.SessionCompleted)

			return answer
		}},
	}
}
