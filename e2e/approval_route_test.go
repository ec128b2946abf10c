package e2e

import (
	"net/http"
	"testing"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// approvalSuccesses returns the successful requests about calls that wait for a person.
func approvalSuccesses() map[string]success {
	// act makes a request about an approval, and then lets the session end.
	act := func(t *testing.T, app *tarsytest.App, ask func(id string) tarsytest.Response) tarsytest.Response {
		t.Helper()
		app.Script.Add(script.Reply{ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: `{"restart":"yes"}`}}}, says("Analysed."), says("Summed up."))

		sessionID := app.Submit("test", "an alert")
		approval := waitApproval(app, app.Watch(sessionID))
		answer := ask(approval.ID)
		app.Do(http.MethodPost, "/api/v1/approvals/"+approval.ID+"/reject", map[string]any{"reason": "enough"})
		app.WaitFor(sessionID, tarsy.SessionCompleted)

		return answer
	}
	with := func(body any) func(*testing.T, *tarsytest.App, operation) tarsytest.Response {
		return func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			t.Helper()

			return act(t, app, func(id string) tarsytest.Response { return app.Do(op.method, op.address(id), body) })
		}
	}

	return map[string]success{
		"list-approvals": {http.StatusOK, func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			t.Helper()

			return act(t, app, func(string) tarsytest.Response { return app.Do(op.method, op.path, nil) })
		}},
		"get-approval": {http.StatusOK, with(nil)},
		"approve":      {http.StatusAccepted, with(map[string]any{"reason": "fine"})},
		"reject":       {http.StatusAccepted, with(map[string]any{"reason": "no"})},
	}
}
