package e2e

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// successes say for every operation of the API what it answers when all is well, and how to ask it so. The test below
// fails for an operation that is not here.
func successes() map[string]struct {
	status int
	ask    func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response
} {
	type ask = func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response

	plain := func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
		return app.Do(op.method, op.path, nil)
	}
	ofSession := func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
		t.Helper()
		app.Script.Add(says("Analysed."), says("Summed up."))

		return app.Do(op.method, op.address(app.Run("test", "an alert").ID), nil)
	}

	return map[string]struct {
		status int
		ask    ask
	}{
		"livez":            {http.StatusOK, plain},
		"readyz":           {http.StatusOK, plain},
		"health":           {http.StatusOK, plain},
		"openapi":          {http.StatusOK, plain},
		"list-alert-types": {http.StatusOK, plain},
		"list-sessions":    {http.StatusOK, plain},
		"get-session":      {http.StatusOK, ofSession},
		"get-timeline":     {http.StatusOK, ofSession},
		"session-events":   {http.StatusOK, ofSession},
		"list-keys":        {http.StatusOK, plain},
		"submit-alert": {http.StatusAccepted, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			app.Script.Add(says("Analysed."), says("Summed up."))
			answer := app.Do(op.method, op.path, map[string]any{"alert_type": "test", "data": map[string]any{"severity": "high"}})
			app.WaitFor(decode[struct {
				SessionID string `json:"session_id"`
			}](answer.Body).SessionID, tarsy.SessionCompleted)

			return answer
		}},
		"cancel-session": {http.StatusAccepted, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			gate := script.NewGate()
			app.Script.Add(script.Reply{Gate: gate})

			sessionID := app.Submit("test", "to be cancelled")
			app.WaitGate(gate)

			answer := app.Do(op.method, op.address(sessionID), nil)
			app.WaitFor(sessionID, tarsy.SessionCancelled)

			return answer
		}},
		"create-key": {http.StatusCreated, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path, map[string]any{"name": "ci", "scopes": []string{"read"}})
		}},
		"revoke-key": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			made := app.Do(http.MethodPost, "/api/v1/keys", map[string]any{"name": "ci", "scopes": []string{"read"}})

			return app.Do(op.method, op.address(decode[tarsy.APIKey](made.Body).ID), nil)
		}},
		"websocket": {http.StatusSwitchingProtocols, func(_ *testing.T, app *tarsytest.App, _ operation) tarsytest.Response {
			_, answer := app.DialSocket(http.Header{})

			return answer
		}},
	}
}

// requireSuccesses asks every operation, one after the other, and compares status and body with what is documented.
func requireSuccesses(t *testing.T, app *tarsytest.App) {
	t.Helper()

	doc := readDocument(t, app)
	operations, expected := doc.operations(), successes()
	require.ElementsMatch(t, slices.Collect(maps.Keys(operations)), slices.Collect(maps.Keys(expected)),
		"the API has other operations than this table")

	for id, op := range operations {
		require.Equal(t, expected[id].status, op.success(t), "the documented status of %s", id)

		answer := expected[id].ask(t, app, op)
		require.Equal(t, expected[id].status, answer.Status, "%s: %s", id, answer.Body)

		for mediaType, content := range op.Responses[strconv.Itoa(answer.Status)].Content {
			require.Equal(t, mediaType, answer.Header.Get("Content-Type"), id)

			if mediaType == "application/json" {
				require.Empty(t, doc.check(id, content.Schema, decode[any](answer.Body)))
			}
		}
	}
}

func TestEveryRouteAnswersWithItsExactSuccessCodeAndDocumentedBody(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	requireSuccesses(t, app)
	requireReleased(t, app)
}
