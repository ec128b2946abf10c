package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// parallelChain returns a recipe with three stages of two agents each, a synthesis after each stage, a summary, and a chat.
func parallelChain() recipe {
	return recipe{
		agents: `  Logs: {custom_instructions: Read the logs.}
  Metrics: {custom_instructions: Read the metrics.}
  Examiner: {custom_instructions: Examine what was collected.}
  Judge: {custom_instructions: Say what it is.}
  Skeptic: {custom_instructions: Say what it is not.}
  Collected: {iteration_strategy: synthesis}
  Examined: {iteration_strategy: synthesis}
  Decided: {iteration_strategy: synthesis}
`,
		chain: `chat: {enabled: true}, stages: [
    {name: collect, agents: [{name: Logs}, {name: Metrics}], synthesis: {agent: Collected}},
    {name: examine, agents: [{name: Examiner}], replicas: 2, synthesis: {agent: Examined}},
    {name: decide, agents: [{name: Judge}, {name: Skeptic}], synthesis: {agent: Decided}}]`,
	}
}

// chainCalls returns the LLM calls of a parallelChain, with their counts.
func chainCalls() map[string]int {
	calls := map[string]int{callSummary: 1}
	for _, agent := range []string{"Logs", "Metrics", "Examiner-1", "Examiner-2", "Judge", "Skeptic", "ChatAgent"} {
		calls[agent+" 1"], calls[agent+" 2"] = 1, 1
	}

	for _, agent := range []string{"Collected", "Examined", "Decided"} {
		calls[agent+" 1"] = 1
	}

	return calls
}

// chainKill is a point of a parallelChain at which its server is killed.
type chainKill struct {
	name string
	// calls are the LLM calls that are cut off, tools the agents whose tool calls are cut off.
	calls, tools []string
	// done is an agent that has finished.
	done string
	// question reports whether the question is asked before the server is killed.
	question bool
	// shut reports whether the chat cannot connect to its desk.
	shut bool
	// askedWhileDown reports whether the question is asked while no server runs.
	askedWhileDown bool
}

func chainKills() []chainKill {
	points := []chainKill{
		{name: "summing up", calls: []string{callSummary}},
		{name: "begun to answer", question: true, shut: true},
		{name: "answering", calls: []string{"ChatAgent 1"}, question: true},
		{name: "looking for the answer", tools: []string{"ChatAgent"}, question: true},
		{name: "ending the answer", calls: []string{"ChatAgent 2"}, question: true},
		{name: "asked while no server runs", askedWhileDown: true},
	}

	for _, stage := range []struct{ name, one, other, synthesis string }{
		{"collect", "Logs", "Metrics", "Collected"},
		{"examine", "Examiner-1", "Examiner-2", "Examined"},
		{"decide", "Judge", "Skeptic", "Decided"},
	} {
		points = append(points,
			chainKill{name: stage.name + ", both ask", calls: []string{stage.one + " 1", stage.other + " 1"}},
			chainKill{name: stage.name + ", both look", tools: []string{stage.one, stage.other}},
			chainKill{name: stage.name + ", one asks and one looks", calls: []string{stage.one + " 2"}, tools: []string{stage.other}},
			chainKill{name: stage.name + ", one is done", calls: []string{stage.other + " 2"}, done: stage.one},
			chainKill{name: stage.name + ", synthesis", calls: []string{stage.synthesis + " 1"}},
		)
	}

	return points
}

// arrange holds the server at the point, and returns a function that waits until it gets there.
func (p chainKill) arrange(i *investigation) (reach func(*world)) {
	// In the middle of the text: two chunks of thinking come before it.
	const midText = 5

	waits := []func(){}

	for _, call := range p.calls {
		gate := i.HoldCall(call, midText)
		waits = append(waits, func() { await(i.t, gate.Reached(), p.name+": "+call) })
	}

	for _, agent := range p.tools {
		h := i.Desk.HoldCaller(i.t, agent)
		waits = append(waits, func() { await(i.t, h.reached, p.name+": the tool call of "+agent) })
	}

	return func(w *world) {
		switch {
		case p.shut:
			i.Socket.WaitStatus("completed")

			door := i.Desk.HoldConnections(i.t)

			w.Question(i)
			i.Socket.Wait("the stage of the answer", func(e tarsytest.Event) bool {
				return e.Type == tarsy.TypeStageStatus && e.Fields["stage_id"] == i.Question.StageID
			})
			await(i.t, door.reached, p.name+": the chat at the door")
		case p.question:
			w.Question(i)
		case p.askedWhileDown:
			i.Socket.WaitStatus("completed")
		}

		for _, wait := range waits {
			wait()
		}

		if p.done != "" {
			i.Socket.Wait("the end of "+p.done, func(e tarsytest.Event) bool {
				return e.Type == tarsy.TypeExecutionStatus && e.Fields["agent_name"] == p.done && e.Fields["status"] == "completed"
			})
		}
	}
}

// A server is killed at every point of a session with three parallel stages, also in the chat, and another one continues:
// finished work is not repeated, and the result is, word for word, that of an undisturbed session.
func TestParallelChainResumesAfterKill(t *testing.T) {
	t.Parallel()

	points := chainKills()
	undisturbed := newInvestigation(t, "undisturbed", parallelChain())
	all, reach := []*investigation{undisturbed}, make([]func(*world), len(points))

	for n, point := range points {
		i := newInvestigation(t, point.name, parallelChain())
		all, reach[n] = append(all, i), point.arrange(i)
	}

	w := newWorld(t, worldOptions{}, all...)
	first := w.Start()

	for _, i := range all {
		w.SubmitAndWatch(i)
	}

	w.Await(undisturbed)

	for _, r := range reach {
		r(w)
	}

	first.Kill()

	for n, point := range points {
		if point.askedWhileDown {
			w.Question(all[n+1])
		}

		all[n+1].Desk.Open()
	}

	second := w.Start()

	for _, i := range all {
		w.Await(i)
	}

	w.requireInvestigation(t, undisturbed, chainCalls(), nil, nil)

	want := w.record(undisturbed)

	for n, point := range points {
		t.Run(point.name, func(t *testing.T) {
			i := all[n+1]
			w.requireInvestigation(t, i, chainCalls(), point.calls, point.tools)
			require.Equal(t, second.ServerID, w.Session(i.SessionID).PodID)
			require.Equal(t, want, w.record(i))
		})
	}

	requireReleased(t, w.App)
}
