package e2e

import (
	"errors"
	"net/http"
	"slices"
	"strings"
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

func TestOneOfTwoMCPServersIsUnreachable(t *testing.T) {
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

// bothServers is a chain whose only agent has the tools of two servers.
const bothServers = `
agents:
  Investigator: {mcp_servers: [kubernetes, github]}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Investigator}]}]
`

// selecting returns an alert that selects tools of one server.
func selecting(server string, tools ...string) map[string]any {
	selected := map[string]any{"name": server}
	if len(tools) > 0 {
		selected["tools"] = tools
	}

	return map[string]any{"alert_type": "test", "data": "look", "mcp_selection": map[string]any{"servers": []any{selected}}}
}

func toolNames(tools []llm.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}

	return names
}

func TestMCPSelectionNarrowsServersAndTools(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"})
	github := tarsytest.NewMCPServer("github",
		tarsytest.Tool{Name: "issues", ReadOnly: true, Text: "issues"}, tarsytest.Tool{Name: "merge", Text: "merged"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes, github}, Config: bothServers})
	app.Script.Add(calls("github__issues", "github__merge", "kubernetes__get_pods"), says("Seen."), says("Seen."))

	session := app.WaitFor(app.SubmitAlert(selecting("github", "issues")), tarsy.SessionCompleted)
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

// The server that the first alert selects is configured, but not for the chain.
func TestMCPSelectionOutsideChainIsRefused(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true}, tarsytest.Tool{Name: "restart"})
	github := tarsytest.NewMCPServer("github", tarsytest.Tool{Name: "merge"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes, github}, Config: `
agents:
  Investigator: {mcp_servers: [kubernetes], read_only: true}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Investigator}]}]
`})
	app.WaitAnswer("/api/v1/system/default-tools?alert_type=test", "the tools", func(r tarsytest.Response) bool {
		return strings.Contains(string(r.Body), `"known":true`)
	})
	require.Equal(t, []any{map[string]any{"name": "kubernetes", "tools": []any{"get_pods"}, "known": true}},
		get(t, app, "/api/v1/system/default-tools?alert_type=test")["servers"], "what a read-only agent may not use is not offered")

	native := selecting("kubernetes")
	native["mcp_selection"].(map[string]any)["native_tools"] = map[string]any{"google_search": true}

	tests := []struct {
		alert  map[string]any
		code   tarsy.Code
		field  string
		detail string
	}{
		{selecting("github"), tarsy.CodeMCPServerNotAllowed, "mcp_selection.servers", "known MCP servers of the chain: kubernetes"},
		{selecting("kubernetes", "get_podz"), tarsy.CodeUnknownTool, "mcp_selection.servers[0].tools[0]", "did you mean get_pods?"},
		{selecting("kubernetes", "get_pods", "restart"), tarsy.CodeToolNotAllowed, "mcp_selection.servers[0].tools[1]", "known tools of the chain: get_pods"},
		{native, tarsy.CodeToolNotAllowed, "mcp_selection.native_tools.google_search", "only switch native tools off"},
	}
	for _, test := range tests {
		answer := app.Do(http.MethodPost, "/api/v1/alerts", test.alert)
		require.Equal(t, http.StatusBadRequest, answer.Status, "%s", answer.Body)
		problem := answer.Problem(t)
		require.Equal(t, string(test.code), problem.Code)
		require.Equal(t, test.field, problem.Field)
		require.Contains(t, problem.Detail, test.detail)
	}

	require.Empty(t, get(t, app, "/api/v1/sessions")["sessions"], "nothing is stored")
	require.Empty(t, github.Calls())
}

// The tools of a server that has not responded yet are unknown, so missing ones are reported when the agent runs.
func TestMisspelledToolOfUnknownServerIsInTimeline(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true})
	kubernetes.Break(errors.New("connection refused"))

	app := tarsytest.New(t, tarsytest.Options{
		MCP: []*tarsytest.MCPServer{kubernetes}, Config: "system: {mcp_startup: strict}\n" + kubernetesAgent, Clock: clock,
	})
	waitWarnings(app, 1)
	app.Script.Add(says("I could see nothing."), says("Nothing seen."))
	waiting := app.SubmitAlert(selecting("kubernetes", "get_podz"))

	kubernetes.Break(nil)
	app.WaitAnswer("/readyz", "readiness", func(r tarsytest.Response) bool {
		clock.Advance(15 * time.Second)

		return r.Status == http.StatusOK
	})
	app.WaitFor(waiting, tarsy.SessionCompleted)
	require.Empty(t, app.Script.Calls()[0].Request.Tools)

	told := app.Timeline(waiting)[0]
	require.Equal(t, tarsy.EventError, told.EventType)
	require.Equal(t, "Some tools of these MCP servers are missing. No tools are available.\n\n"+
		"- kubernetes: the alert selected tools that are not available: get_podz", told.Content)
	require.Equal(t, tarsy.ErrorMCPUnavailable, tarsy.MetadataAs[tarsy.ErrorMetadata](told.Metadata).Code)
}

// The chat's agent can be limited separately from those of the stages.
func TestToolRulesHideToolsFromModelAndRefuseCalls(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"},
		tarsytest.Tool{Name: "get_secret", ReadOnly: true, Text: "hunter2"}, tarsytest.Tool{Name: "restart", Text: "restarted"}, tarsytest.Tool{Name: "delete"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}, Config: `
mcp_servers:
  kubernetes: {transport: {type: stdio, command: unused}, denied_tools: [get_secret]}
agents:
  Investigator: {mcp_servers: [kubernetes], denied_tools: ['del*']}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Investigator}]}]
    chat: {enabled: true, read_only: true}
`})
	app.Script.Route("Investigator", calls("kubernetes__get_secret", "kubernetes__delete", "kubernetes__restart"), says("Seen."))
	app.Script.Route("ExecSummaryAgent", says("Seen."))
	app.Script.Route("ChatAgent", calls("kubernetes__restart"), says("No."))

	session := app.Run("test", "look")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	app.Answer(session.ID, "Can you restart it again?")

	require.Equal(t, []string{"kubernetes__get_pods", "kubernetes__restart"}, toolNames(requestOf(t, app, "Investigator").Tools))
	require.Equal(t, []string{"kubernetes__get_pods"}, toolNames(requestOf(t, app, "ChatAgent").Tools))
	require.Len(t, kubernetes.Calls(), 1, "refused calls do not reach the server")
	require.Equal(t, "restart", kubernetes.Calls()[0].Tool)
}

// A chat without limits of its own cannot do more than the agents could.
func TestChatInheritsToolRulesOfAgents(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"}, tarsytest.Tool{Name: "restart"})
	github := tarsytest.NewMCPServer("github", tarsytest.Tool{Name: "issues", ReadOnly: true}, tarsytest.Tool{Name: "merge"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes, github}, Config: `
agents:
  Investigator: {mcp_servers: [kubernetes], read_only: true}
  Developer: {mcp_servers: [github], denied_tools: [issues]}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Investigator}]}, {name: change, agents: [{name: Developer}]}]
    chat: {enabled: true}
`})
	app.Script.Route("Investigator", says("Seen."))
	app.Script.Route("Developer", says("Seen."))
	app.Script.Route("ExecSummaryAgent", says("Seen."))
	app.Script.Route("ChatAgent", calls("kubernetes__restart", "github__issues"), says("No."))

	session := app.Run("test", "look")
	app.Answer(session.ID, "Can you restart it?")

	require.ElementsMatch(t, []string{"kubernetes__get_pods", "github__merge"}, toolNames(requestOf(t, app, "ChatAgent").Tools))
	require.Empty(t, slices.Concat(kubernetes.Calls(), github.Calls()), "refused calls do not reach the server")
}

// The chat configures its own servers, and the alert narrows them.
func TestAlertMCPSelectionAppliesToItsChat(t *testing.T) {
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
    chat: {enabled: true, mcp_servers: [kubernetes, github]}
`})
	app.Script.Route("Investigator", says("Seen."))
	app.Script.Route("ExecSummaryAgent", says("Seen."))
	app.Script.Route("ChatAgent", says("No."))

	sessionID := app.SubmitAlert(selecting("github", "issues"))
	app.WaitFor(sessionID, tarsy.SessionCompleted)
	app.Answer(sessionID, "Is there more?")

	require.Empty(t, requestOf(t, app, "Investigator").Tools, "an agent gets no server that it does not have itself")
	tools := requestOf(t, app, "ChatAgent").Tools
	require.Len(t, tools, 1)
	require.Equal(t, "github__issues", tools[0].Name)
}

func TestStrictStartKeepsServerUnready(t *testing.T) {
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

// The monitor checks every 15 s: a server that recovers clears its warning and, with strict startup, makes the installation
// ready without a restart.
func TestWarningClearsWhenServerRecovers(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods"})
	kubernetes.Break(errors.New("connection refused"))

	app := tarsytest.New(t, tarsytest.Options{
		MCP: []*tarsytest.MCPServer{kubernetes}, Config: "system: {mcp_startup: strict}\n" + kubernetesAgent, Clock: clock,
	})
	waitWarnings(app, 1)
	require.Equal(t, http.StatusServiceUnavailable, app.Do(http.MethodGet, "/readyz", nil).Status)

	// Until then nothing is claimed, except to be cancelled.
	app.Script.Add(calls("kubernetes__get_pods"), says("Seen."), says("Seen."))
	waiting, unwanted := app.Submit("test", "look"), app.Submit("test", "never mind")
	app.Cancel(unwanted)
	app.WaitFor(unwanted, tarsy.SessionCancelled)
	require.Equal(t, tarsy.SessionPending, app.Session(waiting).Status)

	kubernetes.Break(nil)
	app.WaitAnswer("/readyz", "readiness", func(r tarsytest.Response) bool {
		ready := r.Status == http.StatusOK
		if !ready { // once it is ready, the session's time limits apply
			clock.Advance(15 * time.Second)
		}

		return ready
	})

	health := waitWarnings(app, 0)
	require.Empty(t, health.Warnings)

	app.WaitFor(waiting, tarsy.SessionCompleted)
	require.Len(t, kubernetes.Calls(), 1, "the session had its tools")
}

// An alert can disable the provider's native tools. They are used where no MCP tools are bound, and only there.
func TestAlertNativeToolsReachProvider(t *testing.T) {
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
		"a server of the chain": {map[string]any{"servers": []any{map[string]any{"name": "kubernetes"}}, "native_tools": map[string]any{"code_execution": true}}, llm.NativeTools{}},
		"no servers":            {map[string]any{"servers": []any{}, "native_tools": map[string]any{}}, llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}},
		"switched off":          {map[string]any{"servers": []any{}, "native_tools": map[string]any{"google_search": false}}, llm.NativeTools{CodeExecution: true, URLContext: true}},
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
