package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// approved returns a recipe with one agent that makes a restart, which a person must approve.
func approved() recipe {
	return recipe{
		agents: "  Fixer: {custom_instructions: Fix it.}\n",
		server: ", writing_tools: [restart]",
		chain:  "stages: [{name: fix, agents: [{name: Fixer}]}]",
		reply: func(i *investigation, call string, _ *llm.Request) (script.Reply, bool) {
			return script.Reply{ToolCalls: i.call(toolRestart, `{"by":"Fixer"}`)}, call == "Fixer 1"
		},
	}
}

// The server is killed at every point of an approval: when it has been requested, when it was given and the call is about
// to be made, while the tool works, and when the call is done. The tool runs once, or its outcome is reported as unknown.
func TestKillDuringApproval(t *testing.T) {
	t.Parallel()

	points := []struct {
		name string
		// arrange holds the server at the point, and returns a function that waits until it gets there.
		arrange func(*investigation) (reach func())
		// early marks points before the decision.
		early bool
		made  int
		// unknown reports whether it stays unknown if the tool ran.
		unknown bool
	}{
		{name: "asked", early: true, made: 1},
		{name: "approved", arrange: func(i *investigation) func() {
			h := i.Desk.HoldTool(i.t, toolRestart, reconnecting)

			return func() { await(i.t, h.reached, "the tool call") }
		}, made: 0, unknown: true},
		{name: "executing", arrange: func(i *investigation) func() {
			h := i.Desk.HoldTool(i.t, toolRestart, insideTool)

			return func() { await(i.t, h.reached, "the tool") }
		}, made: 1, unknown: true},
		{name: "done", arrange: func(i *investigation) func() {
			gate := i.HoldCall("Fixer 2", 0)

			return func() { await(i.t, gate.Reached(), "the LLM call after the tool call") }
		}, made: 1},
	}

	for _, point := range points {
		t.Run(point.name, func(t *testing.T) {
			t.Parallel()

			i := newInvestigation(t, point.name, approved())
			reach := func() {}

			if point.arrange != nil {
				reach = point.arrange(i)
			}

			w := newWorld(t, worldOptions{}, i)
			first := w.Start()
			w.SubmitAndWatch(i)
			approval := waitApproval(w.App, i.Socket)
			require.Empty(t, i.Desk.Seen())

			if point.early {
				first.Kill()
				decide(t, w.App, approval.ID, "approve", map[string]any{})
			} else {
				decide(t, w.App, approval.ID, "approve", map[string]any{})
				reach()
				first.Kill()
			}

			w.Start()
			w.Await(i)
			require.Len(t, i.Desk.Seen(), point.made)

			call := w.MCPInteractions(i.SessionID)[0]
			require.Equal(t, tarsy.ApprovalApproved, call.Approval.Status)

			want := tarsy.CallCompleted
			if point.unknown {
				want = tarsy.CallUnknown
			}

			require.Equal(t, want, call.Status)
		})
	}
}

// The decision is made while no server runs, and the next server makes the call.
func TestDecisionWithoutServerIsKept(t *testing.T) {
	t.Parallel()

	i := newInvestigation(t, "kept", approved())
	w := newWorld(t, worldOptions{}, i)
	first := w.Start()
	w.SubmitAndWatch(i)
	approval := waitApproval(w.App, i.Socket)
	requireUnheld(t, w.App, i.SessionID)
	first.Kill()

	decide(t, w.App, approval.ID, "reject", map[string]any{"reason": "not today"})
	w.Start()
	w.Await(i)
	require.Empty(t, i.Desk.Seen())
	require.Equal(t, tarsy.ApprovalRejected, w.MCPInteractions(i.SessionID)[0].Approval.Status)
}
