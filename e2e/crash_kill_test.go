package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// killPoint is a point of a session at which its server is killed.
type killPoint struct {
	name string
	// arrange holds the server there, and returns a function that waits until it gets there.
	arrange func(*investigation) (reach func())
	// again are the LLM calls that were cut off and are repeated.
	again []string
	// made are the calls that reached a tool, in order.
	made []string
	// unknown reports whether the model is told that the outcome of the second call is unknown.
	unknown bool
}

func killPoints() []killPoint {
	held := func(call string, after int) func(*investigation) func() {
		return func(i *investigation) func() {
			gate := i.HoldCall(call, after)

			return func() { await(i.t, gate.Reached(), "the LLM call") }
		}
	}
	// The second tool call has been recorded when it is held.
	at := func(tool string, where place) func(*investigation) func() {
		return func(i *investigation) func() {
			h := i.HoldSecond(tool, where)

			return func() {
				i.WaitSecond()
				await(i.t, h.reached, "the tool call")
			}
		}
	}
	both := []string{toolLook, toolInspect}

	return []killPoint{
		{name: "before the first LLM call", arrange: held(callFirst, 0), again: []string{callFirst}, made: both},
		{name: "before an LLM call", arrange: held(callSecond, 0), again: []string{callSecond}, made: both},
		{name: "during an LLM call", arrange: holdSecondMidText, again: []string{callSecond}, made: both},
		{name: "after an LLM call", arrange: at(toolInspect, beforeTool), made: both},
		{name: "before a tool call that reads", arrange: at(toolInspect, reconnecting), made: both},
		{name: "before a tool call that writes", arrange: at(toolRestart, reconnecting), made: []string{toolLook}, unknown: true},
		{name: "during a tool call that reads", arrange: at(toolInspect, insideTool), made: []string{toolLook, toolInspect, toolInspect}},
		{name: "during a tool call that writes", arrange: at(toolRestart, insideTool), made: []string{toolLook, toolRestart}, unknown: true},
		{name: "after a tool call", arrange: held(callThird, 0), again: []string{callThird}, made: both},
		{name: "during the LLM call with the analysis", arrange: holdAnalysisMidText, again: []string{callThird}, made: both},
		{name: "during the executive summary", arrange: held(callSummary, 2), again: []string{callSummary}, made: both},
	}
}

// holdSecondMidText holds the second answer until readers have seen a part of its text.
func holdSecondMidText(i *investigation) func() { return holdMidText(i, callSecond, secondText) }

// holdAnalysisMidText does the same for the third answer.
func holdAnalysisMidText(i *investigation) func() {
	return holdMidText(i, callThird, analysisOf(toolInspect+" is done"))
}

func holdMidText(i *investigation, call, whole string) func() {
	// Some answers begin with two chunks of thinking.
	gate := i.HoldCall(call, 5)

	return func() {
		await(i.t, gate.Reached(), "the LLM call")
		i.Socket.Wait("a part of the text", func(e tarsytest.Event) bool {
			text, _ := e.Fields["delta"].(string)

			return e.Type == tarsy.TypeStreamChunk && text != "" && len(text) < len(whole) && text == whole[:len(text)]
		})
	}
}

// A server is killed at every point of a session, and another one continues: finished work is not repeated, and the journal
// does not show that anything happened.
func TestKillAtEachPointOfSession(t *testing.T) {
	t.Parallel()

	points := killPoints()
	investigations, reach := make([]*investigation, len(points)), make([]func(), len(points))

	for n, point := range points {
		investigations[n] = newInvestigation(t, point.name, twoTools())
		reach[n] = point.arrange(investigations[n])
	}

	w := newWorld(t, worldOptions{}, investigations...)
	first := w.Start()

	for _, i := range investigations {
		w.SubmitAndWatch(i)
	}

	for n := range points {
		reach[n]()
	}

	first.Kill()

	second := w.Start()

	for _, i := range investigations {
		i.Socket.WaitStatus("completed")
	}

	for n, point := range points {
		t.Run(point.name, func(t *testing.T) {
			i := investigations[n]

			w.requireTwoTools(t, i)
			require.Equal(t, second.ServerID, w.Session(i.SessionID).PodID)

			require.Equal(t, eachOnce(point.again...), i.Asked(), "only what was cut off is asked again")
			requireCalls(t, w, i, point)
		})
	}
}

// requireCalls checks which tool calls reached a tool, each under the id that it was recorded with.
func requireCalls(t *testing.T, w *world, i *investigation, point killPoint) {
	t.Helper()

	interactions := w.MCPInteractions(i.SessionID)
	ids := map[string]string{}

	for _, interaction := range interactions {
		ids[interaction.ToolName] = interaction.ID
	}

	made := make([]deskCall, 0, len(point.made))
	for _, tool := range point.made {
		made = append(made, deskCall{Tool: tool, ID: ids[tool]})
	}

	require.Equal(t, made, i.Desk.Seen())

	second, analysis := interactions[1], w.Session(i.SessionID).FinalAnalysis
	if point.unknown {
		require.Equal(t, tarsy.CallUnknown, second.Status)
		require.Contains(t, analysis, "outcome is unknown", "the model is told")

		return
	}

	require.Equal(t, tarsy.CallCompleted, second.Status)
	require.Equal(t, analysisOf(toolInspect+" is done"), analysis)
}
