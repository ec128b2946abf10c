package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/tarsytest"
)

// shareOf shares a session and returns the id of the share and its secret.
func shareOf(t *testing.T, app *tarsytest.App, sessionID string) (id, secret string) {
	t.Helper()

	answer := app.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/shares", nil)
	require.Equal(t, http.StatusCreated, answer.Status, string(answer.Body))

	created := decode[struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}](answer.Body)

	return created.ID, created.Secret
}

// readShared requests the session of a share, as somebody without a login does.
func readShared(t *testing.T, app *tarsytest.App, secret string) tarsytest.Response {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, app.URL+"/api/v1/shared", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+secret)

	stranger := *app
	stranger.Token = ""

	return stranger.Send(req)
}

// opsSuccesses returns the successful requests of people on call.
func opsSuccesses() map[string]success {
	ofSession := func(ask func(t *testing.T, app *tarsytest.App, op operation, id string) tarsytest.Response) func(*testing.T, *tarsytest.App, operation) tarsytest.Response {
		return func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			t.Helper()
			app.Script.Add(says("Analysed."), says("Summed up."))

			return ask(t, app, op, app.Run("test", "an alert").ID)
		}
	}
	plain := func(t *testing.T, app *tarsytest.App, op operation, id string) tarsytest.Response {
		t.Helper()

		return app.Do(op.method, op.address(id), nil)
	}
	pause := func(kind string, body any) func(*testing.T, *tarsytest.App, operation) tarsytest.Response {
		return func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			t.Helper()
			defer app.Do(http.MethodDelete, "/api/v1/system/pauses/"+kind, nil)

			return app.Do(op.method, op.address(kind), body)
		}
	}

	return map[string]success{
		"list-pauses": {http.StatusOK, func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			t.Helper()
			app.Do(http.MethodPut, "/api/v1/system/pauses/intake", map[string]any{"duration": "1h"})
			defer app.Do(http.MethodDelete, "/api/v1/system/pauses/intake", nil)

			return app.Do(op.method, op.path, nil)
		}},
		"pause":  {http.StatusOK, pause("claiming", map[string]any{"reason": "upgrade", "duration": "30m"})},
		"resume": {http.StatusNoContent, pause("claiming", nil)},
		"cancel-sessions": {http.StatusAccepted, ofSession(func(t *testing.T, app *tarsytest.App, op operation, id string) tarsytest.Response {
			t.Helper()

			return app.Do(op.method, op.path, map[string]any{"ids": []string{id}})
		})},
		"share-session": {http.StatusCreated, ofSession(plain)},
		"list-shares": {http.StatusOK, ofSession(func(t *testing.T, app *tarsytest.App, op operation, id string) tarsytest.Response {
			t.Helper()
			shareOf(t, app, id)

			return app.Do(op.method, op.address(id), nil)
		})},
		"revoke-share": {http.StatusOK, ofSession(func(t *testing.T, app *tarsytest.App, op operation, id string) tarsytest.Response {
			t.Helper()
			share, _ := shareOf(t, app, id)

			return app.Do(op.method, op.address(id, share), nil)
		})},
		"get-shared": {http.StatusOK, ofSession(func(t *testing.T, app *tarsytest.App, _ operation, id string) tarsytest.Response {
			t.Helper()
			_, secret := shareOf(t, app, id)

			return readShared(t, app, secret)
		})},
	}
}
