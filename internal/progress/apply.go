package progress

import (
	"slices"

	"tarsy.dev/tarsy"
)

// Apply updates the state to match the database after the step was committed. To apply many steps to one state, use an Applier.
func (s *State) Apply(step Step) { new(Applier).Apply(s, step) }

// Applier applies steps to one state and detects new rows without searching for them: a session can have ten thousand rows,
// each in its own step. Nothing else may add rows to the state between its calls. The zero value is ready to use.
type Applier struct {
	stages, executions, timeline, messages, llmInteractions, mcpInteractions, chats, chatMessages known
}

// Apply is State.Apply.
func (a *Applier) Apply(s *State, step Step) {
	if step.Session != nil {
		s.Session = *step.Session
	}

	s.Stages = put(s.Stages, step.Stages, &a.stages, func(r *tarsy.Stage) string { return r.ID })
	s.Executions = put(s.Executions, step.Executions, &a.executions, func(r *tarsy.Execution) string { return r.ID })
	s.Timeline = put(s.Timeline, step.Timeline, &a.timeline, func(r *tarsy.TimelineEvent) string { return r.ID })
	s.Messages = put(s.Messages, step.Messages, &a.messages, func(r *tarsy.Message) string { return r.ID })
	s.LLMInteractions = put(s.LLMInteractions, step.LLMInteractions, &a.llmInteractions, func(r *tarsy.LLMInteraction) string { return r.ID })
	s.MCPInteractions = put(s.MCPInteractions, step.MCPInteractions, &a.mcpInteractions, func(r *tarsy.MCPInteraction) string { return r.ID })

	s.Chats = put(s.Chats, step.Chats, &a.chats, func(r *tarsy.Chat) string { return r.ID })
	s.ChatMessages = put(s.ChatMessages, step.ChatMessages, &a.chatMessages, func(r *tarsy.ChatUserMessage) string { return r.ID })

	for _, answered := range step.Answered {
		s.Requests = slices.DeleteFunc(s.Requests, func(r tarsy.Request) bool { return r.ID == answered.ID })
	}

	s.LastSeq += int64(len(step.Events))
}

// known summarizes the rows of a table: their number and the greatest ID. IDs start with the time, so the ID of a new row is
// usually greater than all others.
type known struct {
	rows   int
	newest string
}

// put replaces rows by ID and appends new ones. A changed row is usually one of the last, so the search goes backwards. Rows
// are large, so they are compared in place and not copied.
func put[R any](rows, changed []R, about *known, id func(*R) string) []R {
	for c := range changed {
		key := id(&changed[c])

		if about.rows > 0 && about.rows == len(rows) && key > about.newest {
			rows = append(rows, changed[c])
			*about = known{rows: len(rows), newest: key}

			continue
		}

		found, newest := false, key

		for i := len(rows) - 1; i >= 0 && !found; i-- {
			other := id(&rows[i])
			newest = max(newest, other)

			if other == key {
				rows[i], found = changed[c], true
			}
		}

		if !found {
			rows = append(rows, changed[c])
			*about = known{rows: len(rows), newest: newest}
		}
	}

	return rows
}
