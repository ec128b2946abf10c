package e2e

import (
	"net/http"
	"testing"

	"tarsy.dev/tarsy/tarsytest"
)

// handlingSuccesses returns the successful requests about handling.
func handlingSuccesses() map[string]success {
	ended := func(app *tarsytest.App) string {
		app.Script.Add(says("Analysed."), says("Summed up."))

		return app.Run("test", "an alert").ID
	}

	return map[string]success{
		"get-handling": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.address(ended(app)), nil)
		}},
		"handle-session": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.address(ended(app)), map[string]any{"state": "resolved", "resolution": "Restarted."})
		}},
		"handle-sessions": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path, map[string]any{"ids": []string{ended(app), "none"}, "state": "acknowledged"})
		}},
	}
}
