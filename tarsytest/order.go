package tarsytest

import (
	"cmp"
	"slices"

	"tarsy.dev/tarsy"
)

// Agents of one stage run in parallel, so their work interleaves differently in every run. The functions in this file put
// it into a fixed order: by agent, within each stage. The calls for the executive summary and for the verdict, which belong
// to no stage, run in parallel too; they are ordered by type.

// Timeline returns events ordered by agent, and renumbered.
func (n *Normalizer) Timeline(events []tarsy.TimelineEvent) []tarsy.TimelineEvent {
	ordered := inOrder(n, events, func(e tarsy.TimelineEvent) string { return text(e.ExecutionID) })
	for i := range ordered {
		ordered[i].SequenceNumber = int64(i + 1)
	}

	return ordered
}

// LLMInteractions returns LLM calls ordered by agent, with the summary before the verdict.
func (n *Normalizer) LLMInteractions(calls []tarsy.LLMInteraction) []tarsy.LLMInteraction {
	ordered := inOrder(n, calls, func(c tarsy.LLMInteraction) string { return text(c.ExecutionID) })
	sortRuns(ordered, func(c tarsy.LLMInteraction) bool { return c.ExecutionID == nil }, func(a, b tarsy.LLMInteraction) int {
		return cmp.Compare(a.InteractionType, b.InteractionType)
	})

	return ordered
}

// Trace returns a trace with the summary before the verdict, and names its interactions in that order: {LLM_INTERACTION_ID_1} and so on.
func (n *Normalizer) Trace(trace tarsy.Trace) tarsy.Trace {
	trace.SessionInteractions = slices.Clone(trace.SessionInteractions)
	slices.SortStableFunc(trace.SessionInteractions, func(a, b tarsy.LLMInteractionItem) int {
		return cmp.Compare(a.InteractionType, b.InteractionType)
	})
	n.nameInteractions(trace)

	return trace
}

// MCPInteractions returns tool calls ordered by agent.
func (n *Normalizer) MCPInteractions(calls []tarsy.MCPInteraction) []tarsy.MCPInteraction {
	return inOrder(n, calls, func(c tarsy.MCPInteraction) string { return c.ExecutionID })
}

// Messages returns conversations ordered by agent.
func (n *Normalizer) Messages(messages []tarsy.Message) []tarsy.Message {
	ordered := slices.Clone(messages)
	slices.SortStableFunc(ordered, func(a, b tarsy.Message) int {
		return cmp.Or(cmp.Compare(n.places[a.ExecutionID].order, n.places[b.ExecutionID].order), cmp.Compare(a.SequenceNumber, b.SequenceNumber))
	})

	return ordered
}

// events returns the events of a reader, ordered by agent.
func (n *Normalizer) events(events []Event) []Event {
	return inOrder(n, events, func(e Event) string {
		if id, ok := e.Fields["execution_id"].(string); ok {
			return id
		}

		id, _ := e.Fields["event_id"].(string)

		return n.owners[id]
	})
}

// place is the position of an execution in its session.
type place struct {
	stage string
	order int
}

// inOrder sorts every run of items whose executions belong to one stage.
func inOrder[T any](n *Normalizer, items []T, execution func(T) string) []T {
	ordered := slices.Clone(items)
	stage := func(i int) string { return n.places[execution(ordered[i])].stage }

	for from := 0; from < len(ordered); {
		to := from + 1
		for to < len(ordered) && stage(to) == stage(from) {
			to++
		}

		if stage(from) != "" {
			slices.SortStableFunc(ordered[from:to], func(a, b T) int {
				return cmp.Compare(n.places[execution(a)].order, n.places[execution(b)].order)
			})
		}

		from = to
	}

	return ordered
}

// sortRuns sorts every run of items for which belongs is true.
func sortRuns[T any](items []T, belongs func(T) bool, compare func(a, b T) int) {
	for from := 0; from < len(items); {
		to := from
		for to < len(items) && belongs(items[to]) {
			to++
		}

		slices.SortStableFunc(items[from:to], compare)

		from = to + 1
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}

	return *s
}
