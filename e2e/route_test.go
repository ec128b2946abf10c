package e2e

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// successes returns, for every operation of the API, the status of a successful request, and how to make that request. The
// test below fails for an operation that is missing here.
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

	// ofInteraction requests an LLM call or a tool call of a session.
	ofInteraction := func(choose func(tarsy.TraceExecution) string) ask {
		return func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			t.Helper()
			app.Script.Add(calls("kubernetes__get_pods"), says("Analysed."), says("Summed up."))
			session := app.Run("test", "an alert")

			return app.Do(op.method, op.address(session.ID, choose(app.Trace(session.ID).Stages[0].Executions[0])), nil)
		}
	}

	return map[string]struct {
		status int
		ask    ask
	}{
		"livez":                {http.StatusOK, plain},
		"readyz":               {http.StatusOK, plain},
		"health":               {http.StatusOK, plain},
		"metrics":              {http.StatusOK, plain},
		"openapi":              {http.StatusOK, plain},
		"events-schema":        {http.StatusOK, plain},
		"list-alert-types":     {http.StatusOK, plain},
		"list-sessions":        {http.StatusOK, plain},
		"get-session":          {http.StatusOK, ofSession},
		"get-timeline":         {http.StatusOK, ofSession},
		"list-active-sessions": {http.StatusOK, plain},
		"list-filter-options":  {http.StatusOK, plain},
		"get-session-status":   {http.StatusOK, ofSession},
		"get-session-summary":  {http.StatusOK, ofSession},
		"export-session":       {http.StatusOK, ofSession},
		"get-timeline-event": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			app.Script.Add(says("Analysed."), says("Summed up."))
			session := app.Run("test", "an alert")

			return app.Do(op.method, op.address(session.ID, app.Timeline(session.ID)[0].ID), nil)
		}},
		"rerun-session": {http.StatusAccepted, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			app.Script.Add(says("Analysed."), says("Summed up."), says("Analysed again."), says("Summed up again."))
			answer := app.Do(op.method, op.address(app.Run("test", "an alert").ID), nil)
			app.WaitFor(decode[struct {
				SessionID string `json:"session_id"`
			}](answer.Body).SessionID, tarsy.SessionCompleted)

			return answer
		}},
		"session-events": {http.StatusOK, ofSession},
		"note-events": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(http.MethodHead, op.path, nil) // the response to a GET does not end
		}},
		"get-trace":           {http.StatusOK, ofSession},
		"delete-session":      {http.StatusNoContent, ofSession},
		"get-llm-interaction": {http.StatusOK, ofInteraction(func(e tarsy.TraceExecution) string { return e.LLMInteractions[0].ID })},
		"get-mcp-interaction": {http.StatusOK, ofInteraction(func(e tarsy.TraceExecution) string { return e.MCPInteractions[0].ID })},
		"ask": {http.StatusAccepted, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			app.Script.Add(says("Analysed."), says("Summed up."), says("Answered."))
			session := app.Run("test", "an alert")
			answer := app.Do(op.method, op.address(session.ID), map[string]any{"content": "Why?"})
			app.WaitStage(session.ID, decode[tarsy.Question](answer.Body).StageID)

			return answer
		}},
		"mcp": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "ping"}, "Accept", "application/json, text/event-stream")
		}},
		"get-usage-summary": {http.StatusOK, plain},
		"get-me":            {http.StatusOK, plain},
		"list-warnings":     {http.StatusOK, plain},
		"get-log-level":     {http.StatusOK, plain},
		"get-diagnostics":   {http.StatusOK, plain},
		"reload-config":     {http.StatusOK, plain},
		"set-log-level": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path, map[string]any{"level": "debug"})
		}},
		"list-mcp-servers": {http.StatusOK, plain},
		"list-providers":   {http.StatusOK, plain},
		"get-config":       {http.StatusOK, plain},
		"get-default-tools": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path+"?alert_type=test", nil)
		}},
		"login": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path, map[string]any{"key": app.Key("a browser's", tarsy.ScopeRead)})
		}},
		"logout":     {http.StatusNoContent, plain},
		"list-keys":  {http.StatusOK, plain},
		"list-audit": {http.StatusOK, plain},
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

// everything returns the options of a server whose sessions have tools, some calls of which need an approval, and accept questions.
func everything() tarsytest.Options {
	return tarsytest.Options{
		MCP: []*tarsytest.MCPServer{tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"})},
		Config: `
system: {dashboard_url: 'https://tarsy.example'}
agents: {Investigator: {mcp_servers: [kubernetes]}}
agent_chains: {test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}], chat: {enabled: true}}}
approvals: {rules: [{tool: get_pods, arguments: {restart: 'yes'}, policy: ask}]}
`,
	}
}

// requireSuccesses calls every operation, one after another, and compares status and body with the document.
func requireSuccesses(t *testing.T, app *tarsytest.App) {
	t.Helper()

	doc := readDocument(t, app)
	operations, expected := doc.operations(), successes()
	maps.Copy(expected, noteSuccesses())
	maps.Copy(expected, alertSuccesses())
	maps.Copy(expected, feedbackSuccesses())
	maps.Copy(expected, handlingSuccesses())
	maps.Copy(expected, approvalSuccesses())
	maps.Copy(expected, opsSuccesses())
	maps.Copy(expected, oidcSuccesses())
	require.ElementsMatch(t, slices.Collect(maps.Keys(operations)), slices.Collect(maps.Keys(expected)),
		"the API has other operations than this table")

	for id, op := range operations {
		require.Equal(t, expected[id].status, op.success(t), "the documented status of %s", id)

		answer := expected[id].ask(t, app, op)
		require.Equal(t, expected[id].status, answer.Status, "%s: %s", id, answer.Body)

		contents := op.Responses[strconv.Itoa(answer.Status)].Content
		if len(contents) == 0 {
			continue
		}

		mediaType := answer.Header.Get("Content-Type")
		if id == "metrics" {
			mediaType, _, _ = strings.Cut(mediaType, ";") // the rest is the version of the format
		}

		require.Contains(t, contents, mediaType, id)

		if mediaType == "application/json" {
			require.Empty(t, doc.check(id, contents[mediaType].Schema, decode[any](answer.Body)))
		}
	}
}

func TestEveryRouteReturnsItsSuccessCodeAndDocumentedBody(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, everything())
	requireSuccesses(t, app)
	requireReleased(t, app)
}
