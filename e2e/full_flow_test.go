package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// oomChain collects, lets two agents look in parallel, diagnoses, and accepts questions.
const oomChain = `
defaults: {llm_provider: test, max_iterations: 3}
agents:
  DataCollector: {mcp_servers: [test-mcp], iteration_strategy: native-thinking}
  MetricsAgent: {mcp_servers: [test-mcp], iteration_strategy: native-thinking}
  EventsAgent: {mcp_servers: [test-mcp], iteration_strategy: native-thinking}
  Diagnostician: {iteration_strategy: native-thinking}
agent_chains:
  kubernetes-oom:
    alert_types: [kubernetes-oom]
    stages:
      - {name: data-collection, agents: [{name: DataCollector}]}
      - {name: parallel-investigation, success_policy: any, agents: [{name: MetricsAgent}, {name: EventsAgent}]}
      - {name: final-diagnosis, agents: [{name: Diagnostician}]}
    chat: {enabled: true}
`

// oomTools returns the MCP server of oomChain's agents.
func oomTools() *tarsytest.MCPServer {
	return tarsytest.NewMCPServer("test-mcp",
		tarsytest.Tool{Name: "get_pod_logs", ReadOnly: true, Text: "memory limit exceeded"},
		tarsytest.Tool{Name: "get_metrics", ReadOnly: true, Text: `{"rss":"1.9Gi","limit":"2Gi"}`},
		tarsytest.Tool{Name: "get_events", ReadOnly: true, Text: "OOMKilled at 14:32"},
		tarsytest.Tool{Name: "get_pod_status", ReadOnly: true, Text: "Running, 5 restarts"},
	)
}

// tool returns a reply that calls one tool with arguments.
func tool(name, arguments string) script.Reply {
	return script.Reply{ToolCalls: []llm.ToolCall{{Name: "test-mcp__" + name, Arguments: arguments}}}
}

// Three stages, the second with two agents and a synthesis, an executive summary, then two questions: golden files have
// everything that people see of it.
func TestFullFlow(t *testing.T) {
	t.Parallel()

	tools := oomTools()
	app := tarsytest.New(t, tarsytest.Options{HoldStreams: true, Config: oomChain, MCP: []*tarsytest.MCPServer{tools}})
	app.Script.Route("DataCollector", tool("get_pod_logs", `{"pod":"app-1"}`), says("Collected metrics showing OOM."))
	app.Script.Route("MetricsAgent", tool("get_metrics", `{"pod":"app-1"}`), says("Memory grows until the limit."))
	app.Script.Route("EventsAgent", tool("get_events", `{"pod":"app-1"}`), says("The pod was OOM-killed five times."))
	app.Script.Route("SynthesisAgent", says("Both agents agree on a memory leak."))
	app.Script.Route("Diagnostician", says("The root cause is a memory leak in app."))
	app.Script.Route("ExecSummaryAgent", says("app-1 ran out of memory because of a leak."))
	app.Script.Route("ChatAgent",
		tool("get_pod_status", `{"pod":"app-1"}`), says("The leak in the cache caused it."), says("Roll back to 1.4."))

	sessionID := app.Submit("kubernetes-oom", "app-1 was OOM-killed")
	socket := app.Watch(sessionID)
	socket.WaitStatus("completed")

	session := app.Session(sessionID)
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "The root cause is a memory leak in app.", session.FinalAnalysis)
	require.Equal(t, "app-1 ran out of memory because of a leak.", session.ExecutiveSummary)
	require.Equal(t, 4, session.CurrentStageIndex, "the synthesis is a stage of its own")
	require.Nil(t, session.Chat)

	for i, question := range []string{"What caused the OOM?", "How do I make it stop?"} {
		asked := app.Ask(sessionID, question)
		socket.WaitStage(asked.StageID)
		require.Equal(t, asked.ChatID, app.Session(sessionID).Chat.ID)
		require.Equal(t, 5+i, app.Session(sessionID).Stages[4+i].StageIndex)
	}

	after := app.Session(sessionID)
	require.Equal(t, session.Status, after.Status)
	require.Equal(t, session.FinalAnalysis, after.FinalAnalysis)
	require.Equal(t, session.ExecutiveSummary, after.ExecutiveSummary)
	require.Equal(t, session.CompletedAt, after.CompletedAt)
	require.Equal(t, []string{
		"data-collection", "parallel-investigation", "parallel-investigation - Synthesis", "final-diagnosis", "Chat Response", "Chat Response",
	}, stageNames(after))
	require.Equal(t, 12, app.Script.CallCount())
	require.Empty(t, app.Script.Unused())

	var called []string
	for _, c := range tools.Calls() {
		called = append(called, c.Tool)
	}

	require.ElementsMatch(t, []string{"get_pod_logs", "get_metrics", "get_events", "get_pod_status"}, called)

	diagnosis := requestOf(t, app, "Diagnostician").Messages[1].Content
	require.Contains(t, diagnosis, "Collected metrics showing OOM.")
	require.Contains(t, diagnosis, "Both agents agree on a memory leak.")
	require.NotContains(t, diagnosis, "Memory grows until the limit.", "the synthesis speaks for its agents")
	require.Contains(t, diagnosis, "<!-- CHAIN_CONTEXT_START -->")

	n := app.Normalizer(sessionID)
	tarsytest.GoldenEvents(t, n, "full_flow/ws_events.golden", socket.Events())
	tarsytest.GoldenJSON(t, n, "full_flow/session.golden", after)
	tarsytest.GoldenJSON(t, n, "full_flow/timeline.golden", n.Timeline(app.Timeline(sessionID)))
}

func stageNames(session tarsy.SessionDetail) []string {
	names := make([]string, len(session.Stages))
	for i, s := range session.Stages {
		names[i] = s.StageName
	}

	return names
}

// requestOf returns the first request of an agent.
func requestOf(t *testing.T, app *tarsytest.App, agent string) llm.Request {
	t.Helper()

	for _, c := range app.Script.Calls() {
		if c.Request.Agent == agent {
			return c.Request
		}
	}

	require.FailNow(t, "the model was never asked by "+agent)

	return llm.Request{}
}
