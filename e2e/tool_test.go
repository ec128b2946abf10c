package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func TestToolCallsOfOneAnswerRunInOrder(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes",
		tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "two pods"},
		tarsytest.Tool{Name: "get_logs", ReadOnly: true, Text: "a stack trace"})
	metrics := tarsytest.NewMCPServer("metrics", tarsytest.Tool{Name: "query", ReadOnly: true, Text: "97 %"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes, metrics}})
	app.Script.Add(
		script.Reply{Thinking: "Three things at once.", ToolCalls: []llm.ToolCall{
			{ID: "same", Name: "kubernetes__get_pods", Arguments: `{"namespace":"shop"}`},
			{ID: "same", Name: "metrics.query", Arguments: ``},
			{Name: "kubernetes__get_logs", Arguments: `{"pod":"app-1"}`},
		}},
		says("All three agree."), says("They agree."),
	)

	session := app.Run("test", "look")
	require.Equal(t, tarsy.SessionCompleted, session.Status)

	last := app.Script.Calls()[1].Request.Messages
	require.Len(t, last, 6)
	require.Equal(t, []string{"two pods", "97 %", "a stack trace"}, []string{unmarked(last[3].Content), unmarked(last[4].Content), unmarked(last[5].Content)})

	ids := map[string]bool{}

	for i, call := range last[2].ToolCalls {
		require.Equal(t, call.ID, last[3+i].ToolCallID)
		require.Equal(t, call.Name, last[3+i].ToolName)
		ids[call.ID] = true
	}

	require.Len(t, ids, 3, "ids that a model repeats are made different")

	n := app.Normalizer(session.ID)
	tarsytest.GoldenJSON(t, n, "several_tools/timeline.golden", app.Timeline(session.ID))
	tarsytest.GoldenJSON(t, n, "several_tools/mcp_interactions.golden", app.MCPInteractions(session.ID))
}

// The model gets the error of a tool that fails, or of a name that is not a tool, and continues.
func TestToolErrorsAreShownToModel(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		tool  string
		told  []string
		calls int
	}{
		"the tool fails":           {"kubernetes__get_pods", []string{"pods is forbidden: 403"}, 1},
		"no such tool":             {"kubernetes__get_pod", []string{`offers no tool "get_pod"`, "- kubernetes__get_pods"}, 0},
		"no such server":           {"github__issues", []string{"no such MCP server", "- kubernetes__get_pods"}, 0},
		"no name at all":           {"", []string{"is not the name of a tool"}, 0},
		"a name that is an attack": {"kubernetes__get_pods; rm -rf /", []string{"is not the name of a tool"}, 0},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{
				Name:   "get_pods",
				Handle: func(context.Context, map[string]any) (string, error) { return "", errors.New("pods is forbidden: 403") },
			})
			app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}})
			app.Script.Add(calls(test.tool), says("I could not look."), says("Nothing seen."))

			session := app.Run("test", "look")
			require.Equal(t, tarsy.SessionCompleted, session.Status)
			require.Equal(t, "I could not look.", session.FinalAnalysis)

			messages := app.Script.Calls()[1].Request.Messages
			told := messages[len(messages)-1]
			require.Equal(t, llm.RoleTool, told.Role)

			shown := event(t, app.Timeline(session.ID), tarsy.EventToolCall)
			require.Equal(t, tarsy.EventCompleted, shown.Status)
			require.True(t, tarsy.MetadataAs[tarsy.ToolCallMetadata](shown.Metadata).IsError)
			require.Equal(t, unmarked(told.Content), shown.Content)

			for _, text := range test.told {
				require.Contains(t, told.Content, text)
			}

			interaction := app.MCPInteractions(session.ID)[0]
			require.Equal(t, tarsy.CallFailed, interaction.Status)
			require.True(t, interaction.IsError)
			require.Equal(t, unmarked(told.Content), interaction.ToolResult)

			require.Len(t, kubernetes.Calls(), test.calls)
		})
	}
}

// At its limit the agent is asked to conclude, without tools.
func TestForcedConclusionAtIterationLimit(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}, Config: `
agents:
  Investigator: {mcp_servers: [kubernetes], max_iterations: 2}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: analysis, agents: [{name: Investigator}]}]
`})
	app.Script.Add(
		calls("kubernetes__get_pods"), calls("kubernetes__get_pods"),
		says("From what I saw, memory is short."), says("Memory is short."),
	)

	session := app.Run("test", "look")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "From what I saw, memory is short.", session.FinalAnalysis)
	require.Len(t, kubernetes.Calls(), 2)

	calls := app.Script.Calls()
	require.Len(t, calls, 4)
	require.Len(t, calls[0].Request.Tools, 1)
	require.Len(t, calls[1].Request.Tools, 1)

	last := calls[2].Request
	require.Empty(t, last.Tools, "no tools are bound to the last call")
	require.Equal(t, string(tarsy.InteractionForcedConclusion), last.Purpose)

	asked := last.Messages[len(last.Messages)-1]
	require.Equal(t, llm.RoleUser, asked.Role)
	require.True(t, strings.HasPrefix(asked.Content, "You have used all 2 iterations"), asked.Content)

	analysis := event(t, app.Timeline(session.ID), tarsy.EventFinalAnalysis)
	require.JSONEq(t, `{"forced_conclusion": true, "reason": "iterations", "max_iterations": 2}`, string(analysis.Metadata))

	n := app.Normalizer(session.ID)
	tarsytest.GoldenJSON(t, n, "forced_conclusion/timeline.golden", app.Timeline(session.ID))
	tarsytest.GoldenJSON(t, n, "forced_conclusion/messages.golden", app.Messages(session.ID))
	tarsytest.GoldenJSON(t, n, "forced_conclusion/llm_interactions.golden", n.LLMInteractions(app.LLMInteractions(session.ID)))
}
