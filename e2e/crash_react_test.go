package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// textProtocol returns a recipe with one agent whose model has no function calling. It first forgets the format, then
// looks, makes up the result, and concludes.
func textProtocol() recipe {
	return recipe{
		agents: "  Reasoner: {custom_instructions: Reason., iteration_strategy: react}\n",
		chain:  "stages: [{name: reason, agents: [{name: Reasoner}]}]",
		reply: func(i *investigation, call string, req *llm.Request) (script.Reply, bool) {
			switch call {
			case "Reasoner 1":
				return says("I had better look at it."), true
			case "Reasoner 2":
				return says(fmt.Sprintf("Thought: Let me look.\nAction: %s.%s\nAction Input: {\"by\":\"Reasoner\"}\nObservation: all is well", i.id, toolLook)), true
			case "Reasoner 3":
				return says(fmt.Sprintf("Thought: Now I know it.\nFinal Answer: It comes to %x.", i.sum(req))), true
			default:
				return script.Reply{}, false
			}
		},
	}
}

// A server is killed between turns of the text protocol, in the middle of a reply, and during the requested tool call; the
// result is that of an undisturbed session.
func TestKillDuringReActRun(t *testing.T) {
	t.Parallel()

	type point struct {
		name        string
		call        string
		after       int
		tools       []string
		interrupted *investigation
		reached     <-chan struct{}
	}

	points := []*point{
		{name: "before the first word", call: "Reasoner 1"},
		{name: "put right, and not asked again", call: "Reasoner 2"},
		{name: "amid the action", call: "Reasoner 2", after: 5},
		{name: "amid what it makes up", call: "Reasoner 2", after: 11},
		{name: "in the call", tools: []string{"Reasoner"}},
		{name: "between the observation and the next call", call: "Reasoner 3"},
		{name: "amid the answer", call: "Reasoner 3", after: 8},
	}
	undisturbed := newInvestigation(t, "undisturbed", textProtocol())
	all := []*investigation{undisturbed}

	for _, p := range points {
		p.interrupted = newInvestigation(t, p.name, textProtocol())
		all = append(all, p.interrupted)

		if p.call == "" {
			p.reached = p.interrupted.Desk.HoldCaller(t, "Reasoner").reached
		} else {
			p.reached = p.interrupted.HoldCall(p.call, p.after).Reached()
		}
	}

	w := newWorld(t, worldOptions{}, all...)
	first := w.Start()

	for _, i := range all {
		w.SubmitAndWatch(i)
	}

	w.Await(undisturbed)

	for _, p := range points {
		await(t, p.reached, p.name)
	}

	first.Kill()
	w.Start()

	calls := map[string]int{"Reasoner 1": 1, "Reasoner 2": 1, "Reasoner 3": 1, callSummary: 1}
	want := w.record(undisturbed)
	require.Equal(t, 1, strings.Count(want, `"content": "Observation: [call 1.1.1]\nlook is done for Reasoner`), "what the tool said, once")
	require.NotContains(t, want, "all is well", "what the model made up is kept nowhere")

	for _, p := range points {
		t.Run(p.name, func(t *testing.T) {
			var again []string
			if p.call != "" {
				again = []string{p.call}
			}

			w.Await(p.interrupted)
			w.requireInvestigation(t, p.interrupted, calls, again, p.tools)
			require.Equal(t, want, w.record(p.interrupted))
		})
	}
}
