package e2e

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/tarsytest"
)

// healthBody is the part of /health that scenarios about its warnings read.
type healthBody struct {
	Status   string `json:"status"`
	Warnings []struct {
		Category string `json:"category"`
		ServerID string `json:"server_id"`
		Message  string `json:"message"`
	} `json:"warnings"`
}

// waitWarnings waits until /health shows this many warnings of MCP servers that cannot be reached.
func waitWarnings(app *tarsytest.App, count int) healthBody {
	answer := app.WaitAnswer("/health", "warnings", func(r tarsytest.Response) bool {
		return len(decode[healthBody](r.Body).Warnings) == count
	})

	return decode[healthBody](answer.Body)
}

func TestOneOfTwoMCPServersCannotBeReached(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"})
	logs := tarsytest.NewMCPServer("logs", tarsytest.Tool{Name: "search", ReadOnly: true, Text: "lines"})
	logs.Break(errors.New("connection refused"))

	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes, logs}})
	app.Script.Add(calls("kubernetes__get_pods", "logs__search"), says("Without logs."), says("Without logs."))

	session := app.Run("test", "look")
	require.Equal(t, tarsy.SessionCompleted, session.Status)

	first := app.Script.Calls()[0].Request
	require.Len(t, first.Tools, 1)
	require.Equal(t, "kubernetes__get_pods", first.Tools[0].Name)
	require.Contains(t, first.Messages[0].Content, "## Unavailable tools")
	require.Contains(t, first.Messages[0].Content, "- logs: make transport: connection refused")

	second := app.Script.Calls()[1].Request.Messages
	require.Equal(t, "pods", unmarked(second[3].Content))
	require.Contains(t, second[4].Content, `The MCP server "logs" is not available: make transport: connection refused`)

	health := waitWarnings(app, 1)
	require.Equal(t, "degraded", health.Status)
	require.Equal(t, "mcp_health", health.Warnings[0].Category)
	require.Equal(t, "logs", health.Warnings[0].ServerID)
	require.Equal(t, "MCP server logs cannot be reached: make transport: connection refused", health.Warnings[0].Message)
	require.Equal(t, http.StatusOK, app.Do(http.MethodGet, "/readyz", nil).Status, "a warning is no reason to send no work")
}

func TestAgentWorksWithoutAnyMCPServer(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods"})
	kubernetes.Break(errors.New("connection refused"))

	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}})
	app.Script.Add(says("I could see nothing."), says("Nothing seen."))
	session := app.Run("test", "look")
	require.Equal(t, tarsy.SessionCompleted, session.Status)

	request := app.Script.Calls()[0].Request
	require.Empty(t, request.Tools)
	require.Contains(t, request.Messages[0].Content, "These MCP servers could not be reached. No tools are available.\n\n- kubernetes: make transport: connection refused")

	told := app.Timeline(session.ID)[0]
	require.Equal(t, tarsy.EventError, told.EventType)
	require.Equal(t, "These MCP servers could not be reached. No tools are available.\n\n- kubernetes: make transport: connection refused", told.Content)
	require.Equal(t, tarsy.ErrorMCPUnavailable, tarsy.MetadataAs[tarsy.ErrorMetadata](told.Metadata).Code)
	require.NotNil(t, told.ExecutionID)
}

func TestMCPSelectionReplacesServersAndRestrictsTools(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"})
	github := tarsytest.NewMCPServer("github",
		tarsytest.Tool{Name: "issues", ReadOnly: true, Text: "issues"}, tarsytest.Tool{Name: "merge", Text: "merged"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes, github}, Config: kubernetesAgent})
	app.Script.Add(calls("github__issues", "github__merge", "kubernetes__get_pods"), says("Seen."), says("Seen."))

	sessionID := app.SubmitAlert(map[string]any{
		"alert_type": "test", "data": "look",
		"mcp_selection": map[string]any{"servers": []any{map[string]any{"name": "github", "tools": []string{"issues"}}}},
	})
	session := app.WaitFor(sessionID, tarsy.SessionCompleted)
	require.Equal(t, []tarsy.MCPServerSelection{{Name: "github", Tools: []string{"issues"}}}, session.MCPSelection.Servers)

	tools := app.Script.Calls()[0].Request.Tools
	require.Len(t, tools, 1)
	require.Equal(t, "github__issues", tools[0].Name)

	told := app.Script.Calls()[1].Request.Messages[3:]
	require.Equal(t, "issues", unmarked(told[0].Content))
	require.Contains(t, told[1].Content, `The MCP server "github" offers no tool "merge" here.`)
	require.Contains(t, told[2].Content, "no such MCP server is available here")
	require.Len(t, github.Calls(), 1)
	require.Empty(t, kubernetes.Calls())
}

// The chat configures servers of its own, and the alert still decides.
func TestAnAlertsSelectionHoldsForItsChat(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"})
	github := tarsytest.NewMCPServer("github", tarsytest.Tool{Name: "issues", ReadOnly: true}, tarsytest.Tool{Name: "merge"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes, github}, Config: `
agents:
  Investigator: {mcp_servers: [kubernetes]}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Investigator}]}]
    chat: {enabled: true, mcp_servers: [kubernetes]}
`})
	app.Script.Route("Investigator", says("Seen."))
	app.Script.Route("ExecSummaryAgent", says("Seen."))
	app.Script.Route("ChatAgent", says("No."))

	sessionID := app.SubmitAlert(map[string]any{
		"alert_type": "test", "data": "look",
		"mcp_selection": map[string]any{"servers": []any{map[string]any{"name": "github", "tools": []string{"issues"}}}},
	})
	app.WaitFor(sessionID, tarsy.SessionCompleted)
	app.Answer(sessionID, "Is there more?")

	tools := requestOf(t, app, "ChatAgent").Tools
	require.Len(t, tools, 1)
	require.Equal(t, "github__issues", tools[0].Name)
}

func TestStrictStartKeepsTheServerUnready(t *testing.T) {
	t.Parallel()

	const strict = "system: {mcp_startup: strict}\n" + kubernetesAgent

	t.Run("a server fails", func(t *testing.T) {
		t.Parallel()

		kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods"})
		kubernetes.Break(errors.New("connection refused"))

		app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}, Config: strict})
		app.WaitAnswer("/health", "the result of the check", func(r tarsytest.Response) bool {
			warnings := decode[healthBody](r.Body).Warnings

			return len(warnings) == 1 && warnings[0].Message == "MCP server kubernetes cannot be reached: make transport: connection refused"
		})

		answer := app.Do(http.MethodGet, "/readyz", nil)
		require.Equal(t, http.StatusServiceUnavailable, answer.Status)
		require.Equal(t, string(tarsy.CodeUnavailable), answer.Problem(t).Code)
		require.Contains(t, answer.Problem(t).Detail, "kubernetes")
		require.Equal(t, http.StatusOK, app.Do(http.MethodGet, "/livez", nil).Status)
	})

	t.Run("all servers answer", func(t *testing.T) {
		t.Parallel()

		kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods"})
		app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}, Config: strict})
		app.WaitAnswer("/readyz", "readiness", func(r tarsytest.Response) bool { return r.Status == http.StatusOK })
		require.Empty(t, waitWarnings(app, 0).Warnings)
	})
}

// The monitor looks every 15 s: a server that comes back takes its warning away and, where the start is strict, makes
// the installation ready without a restart.
func TestAWarningGoesWhenTheServerIsBack(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods"})
	kubernetes.Break(errors.New("connection refused"))

	app := tarsytest.New(t, tarsytest.Options{
		MCP: []*tarsytest.MCPServer{kubernetes}, Config: "system: {mcp_startup: strict}\n" + kubernetesAgent, Clock: clock,
	})
	waitWarnings(app, 1)
	require.Equal(t, http.StatusServiceUnavailable, app.Do(http.MethodGet, "/readyz", nil).Status)

	// Nothing is claimed before that, unless to be cancelled.
	app.Script.Add(calls("kubernetes__get_pods"), says("Seen."), says("Seen."))
	waiting, unwanted := app.Submit("test", "look"), app.Submit("test", "never mind")
	app.Cancel(unwanted)
	app.WaitFor(unwanted, tarsy.SessionCancelled)
	require.Equal(t, tarsy.SessionPending, app.Session(waiting).Status)

	kubernetes.Break(nil)
	app.WaitAnswer("/readyz", "readiness", func(r tarsytest.Response) bool {
		clock.Advance(15 * time.Second)

		return r.Status == http.StatusOK
	})

	health := waitWarnings(app, 0)
	require.Empty(t, health.Warnings)

	app.WaitFor(waiting, tarsy.SessionCompleted)
	require.Len(t, kubernetes.Calls(), 1, "the session had its tools")
}

// An alert chooses the provider's own tools: they are used where no MCP tools are bound, and only there.
func TestNativeToolsOfAnAlert(t *testing.T) {
	t.Parallel()

	const searching = `
llm_providers: {searching: {type: scripted, model: m, native_tools: {google_search: true, code_execution: true}}}
agents: {Investigator: {mcp_servers: [kubernetes], native_tools: {url_context: true}}}
agent_chains: {test: {alert_types: [test], llm_provider: searching, stages: [{name: look, agents: [{name: Investigator}]}]}}
`

	tests := map[string]struct {
		selection any
		want      llm.NativeTools
	}{
		"the chain's servers":   {nil, llm.NativeTools{}},
		"a server of the alert": {map[string]any{"servers": []any{map[string]any{"name": "kubernetes"}}, "native_tools": map[string]any{"code_execution": true}}, llm.NativeTools{}},
		"no servers":            {map[string]any{"servers": []any{}, "native_tools": map[string]any{}}, llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}},
		"overridden":            {map[string]any{"servers": []any{}, "native_tools": map[string]any{"google_search": false}}, llm.NativeTools{CodeExecution: true, URLContext: true}},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true})
			app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}, Config: searching})
			app.Script.Add(says("Looked."), says("Fine."))

			alert := map[string]any{"alert_type": "test", "data": "x"}
			if test.selection != nil {
				alert["mcp_selection"] = test.selection
			}

			app.WaitFor(app.SubmitAlert(alert), tarsy.SessionCompleted)

			request := app.Script.Calls()[0].Request
			require.Equal(t, test.want, request.NativeTools)
			require.Equal(t, test.want == llm.NativeTools{}, len(request.Tools) > 0)
			require.Equal(t, llm.NativeTools{}, app.Script.Calls()[1].Request.NativeTools, "a summary needs none")
		})
	}
}
