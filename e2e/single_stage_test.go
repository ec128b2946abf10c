package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// One stage, one agent, one tool call, then the answer: golden files have everything that people see of it.
func TestSingleStageWithToolCall(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes",
		tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: `[{"name":"app-1","status":"OOMKilled","restarts":5}]`})
	app := tarsytest.New(t, tarsytest.Options{HoldStreams: true, MCP: []*tarsytest.MCPServer{kubernetes}})
	app.Script.Add(
		script.Reply{
			Thinking: "A pod was killed. I look at the pods first.", Text: "Looking at the pods.",
			ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: `{"namespace":"shop"}`}},
		},
		script.Reply{Text: "The pod app-1 was killed because it ran out of memory."},
		script.Reply{Text: "app-1 ran out of memory."},
	)

	sessionID := app.Submit("test", "app-1 was killed")
	socket := app.Watch(sessionID)
	socket.WaitStatus("completed")

	session := app.Session(sessionID)
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "The pod app-1 was killed because it ran out of memory.", session.FinalAnalysis)
	require.Equal(t, "app-1 ran out of memory.", session.ExecutiveSummary)

	calls := kubernetes.Calls()
	require.Len(t, calls, 1)
	require.Equal(t, map[string]any{"namespace": "shop"}, calls[0].Arguments)
	require.Equal(t, calls[0].ID, app.MCPInteractions(sessionID)[0].ID, "the call's id travels to the server")

	n := app.Normalizer(sessionID)
	tarsytest.GoldenEvents(t, n, "single_stage/ws_events.golden", socket.Events())
	tarsytest.GoldenJSON(t, n, "single_stage/session.golden", session)
	tarsytest.GoldenJSON(t, n, "single_stage/timeline.golden", app.Timeline(sessionID))
	tarsytest.GoldenJSON(t, n, "single_stage/messages.golden", app.Messages(sessionID))
	tarsytest.GoldenJSON(t, n, "single_stage/llm_interactions.golden", n.LLMInteractions(app.LLMInteractions(sessionID)))
	tarsytest.GoldenJSON(t, n, "single_stage/mcp_interactions.golden", app.MCPInteractions(sessionID))
}
