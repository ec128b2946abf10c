package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/tarsytest"
)

// feedbackSuccesses returns the successful requests about feedback.
func feedbackSuccesses() map[string]success {
	ended := func(app *tarsytest.App) string {
		app.Script.Add(says("Analysed."), says("Summed up."))

		return app.Run("test", "an alert").ID
	}
	give := func(app *tarsytest.App, op operation, id string) tarsytest.Response {
		return app.Do(http.MethodPut, op.address(id), map[string]any{"rating": "wrong", "real_cause": "the disk"})
	}
	plain := func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
		return app.Do(op.method, op.address(ended(app)), nil)
	}

	return map[string]success{
		"list-similar-sessions": {http.StatusOK, plain},
		"list-feedback":         {http.StatusOK, plain},
		"give-feedback": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return give(app, op, ended(app))
		}},
		"withdraw-feedback": {http.StatusNoContent, func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			t.Helper()

			id := ended(app)
			require.Equal(t, http.StatusOK, give(app, op, id).Status)

			return app.Do(op.method, op.address(id), nil)
		}},
		"get-quality": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path, nil)
		}},
	}
}
