package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// A model without functions writes its calls as text: the first reply does not follow the format and is corrected, the
// second calls a tool with key-value input, the third answers.
func TestReAct(t *testing.T) {
	t.Parallel()

	tools := oomTools()
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{tools}, Config: `
agents:
  Reasoner: {mcp_servers: [test-mcp], iteration_strategy: react}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: reason, agents: [{name: Reasoner}]}]
`})
	app.Script.Route("Reasoner",
		says("I should look at the logs of the pod."),
		says("Thought: The logs will tell.\n**Action:** `test-mcp.get_pod_logs`\nAction Input: pod: app-1, tail: 20, previous: true\nObservation: nothing wrong"),
		says("Thought: Clear now.\nFinal Answer: app-1 exceeded its memory limit.\n\nRaise it."),
	)
	app.Script.Route("ExecSummaryAgent", says("Memory limit."))

	session := app.Run("test", "react")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "app-1 exceeded its memory limit.\n\nRaise it.", session.FinalAnalysis)
	require.Equal(t, "react", session.Stages[0].Executions[0].IterationStrategy)

	require.Len(t, tools.Calls(), 1)
	require.Equal(t, map[string]any{"pod": "app-1", "tail": float64(20), "previous": true}, tools.Calls()[0].Arguments)

	requests := app.Script.Calls()
	require.Empty(t, requests[0].Request.Tools, "nothing is bound: the tools are in the prompt")
	require.Contains(t, requests[0].Request.Messages[0].Content, "test-mcp.get_pod_logs")

	third := requests[2].Request.Messages
	require.Equal(t, "user", third[len(third)-1].Role)
	require.Contains(t, third[len(third)-1].Content, "Observation: [call 1.1.1]\nmemory limit exceeded", "what the tool said, not what the model made up")

	n := app.Normalizer(session.ID)
	tarsytest.GoldenJSON(t, n, "react_flow/messages.golden", app.Messages(session.ID))
	tarsytest.GoldenJSON(t, n, "react_flow/timeline.golden", app.Timeline(session.ID))
	tarsytest.GoldenJSON(t, n, "react_flow/mcp_interactions.golden", app.MCPInteractions(session.ID))
}
