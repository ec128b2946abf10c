package progress

import (
	"slices"

	"tarsy.dev/tarsy"
)

// Apply brings the state to where the database is after the step was committed. Whoever applies many steps to one state has an
// Applier.
func (s *State) Apply(step Step) { new(Applier).Apply(s, step) }

// Applier applies steps to one state and knows which rows are new without looking for them: a session may have ten thousand rows, each in
// a step of its own. Between its calls nobody else may add rows to the state. The zero value is ready to use.
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

// known is what is known of the rows of a table: their number, and the greatest of their ids. Ids begin with the time, so that of a new row is
// mostly greater than all others.
type known struct {
	rows   int
	newest string
}

// put replaces rows by id and appends new ones. A row that changes is mostly one of the last, so the search goes backwards. Rows
// are wide, so they are compared in place and not copied.
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
