package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// The LLM calls of twoTools, besides the summary.
const (
	callFirst  = "Investigator 1"
	callSecond = "Investigator 2"
	callThird  = "Investigator 3"
)

const (
	secondText  = "One tool has answered, now the next one."
	summaryText = "The app was looked after."
)

// twoTools returns a recipe with one agent that calls two tools one after the other, then concludes. The second one can be chosen.
func twoTools() recipe {
	return recipe{
		agents: "  Investigator: {custom_instructions: Look twice.}\n",
		chain:  "stages: [{name: analysis, agents: [{name: Investigator}]}]",
		second: toolInspect,
		reply: func(i *investigation, call string, req *llm.Request) (script.Reply, bool) {
			switch call {
			case callFirst:
				return script.Reply{Thinking: "I look first.", Text: "Looking.", ToolCalls: i.call(toolLook, "{}")}, true
			case callSecond:
				return script.Reply{Thinking: "Go on.", Text: secondText, ToolCalls: i.call(i.recipe.second, "{}")}, true
			case callThird:
				return says(analysisOf(unmarked(req.Messages[len(req.Messages)-1].Content))), true
			case callSummary:
				return says(summaryText), true
			default:
				return script.Reply{Err: fmt.Errorf("there is no call %s", call)}, true
			}
		},
	}
}

// eachOnce returns the counts of the LLM calls of twoTools, some of them repeated.
func eachOnce(again ...string) map[string]int {
	calls := map[string]int{callFirst: 1, callSecond: 1, callThird: 1, callSummary: 1}
	for _, name := range again {
		calls[name]++
	}

	return calls
}

// analysisOf returns the analysis, which repeats the answer of the second tool.
func analysisOf(toolResult string) string { return "The tool said: " + toolResult }

// HoldSecond sets the second tool and holds its call.
func (i *investigation) HoldSecond(tool string, at place) *hold {
	i.t.Helper()
	i.recipe.second = tool

	return i.Desk.HoldTool(i.t, tool, at)
}

// WaitSecond waits until the journal reports the call of the second tool.
func (i *investigation) WaitSecond() {
	i.t.Helper()
	i.Socket.Wait("the call of "+i.recipe.second, func(e tarsytest.Event) bool {
		metadata, _ := e.Fields["metadata"].(map[string]any)

		return e.Type == tarsy.TypeTimelineCreated && metadata["tool_name"] == i.recipe.second
	})
}

// requireTwoTools checks that a session of twoTools completed, whichever servers ran it, and that nothing that people see
// of it is missing or duplicated.
func (w *world) requireTwoTools(t testing.TB, i *investigation) {
	t.Helper()

	sessionID := i.SessionID
	session := w.Session(sessionID)
	require.Equal(t, tarsy.SessionCompleted, session.Status, session.ErrorMessage)
	require.Equal(t, summaryText, session.ExecutiveSummary)
	require.NotNil(t, session.Verdict, session.VerdictError)

	requireSeen(t, i.Socket, requireJournal(t, w.App, sessionID))

	require.Len(t, scriptedCalls(w.App, sessionID), len(eachOnce()), "each finished LLM call once")
	require.Len(t, w.MCPInteractions(sessionID), 2, "each tool call once")

	var texts []string
	for _, e := range w.Timeline(sessionID) {
		texts = append(texts, e.Content)
	}

	messages := w.Messages(sessionID)
	require.Contains(t, messages[3].Content, "[call 1.1.1]\n")
	require.Contains(t, messages[5].Content, "[call 1.1.2]\n", "a call keeps its number, whoever goes on with it")

	last := unmarked(messages[len(messages)-2].Content)
	require.Equal(t, analysisOf(last), session.FinalAnalysis)
	require.Equal(t, []string{
		"I look first.", "Looking.", "look is done", "Go on.", secondText, last, analysisOf(last), analysisOf(last), summaryText,
	}, texts, "each text of the timeline is there once and whole")
}

func withoutIDs(calls []deskCall) []deskCall {
	for n := range calls {
		calls[n].ID = ""
	}

	return calls
}
