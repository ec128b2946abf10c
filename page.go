package tarsy

import "time"

// TimelineQuery chooses a page of a session's timeline.
type TimelineQuery struct {
	// After is the sequence number of the last event of the previous page; zero begins with the first event.
	After int64
	// Limit is how many events a page has at most. A page is shorter where the events are large.
	Limit int
	// Preview is how many UTF-16 units of each event's content are wanted; zero means all.
	Preview int
}

// TimelinePage is a part of a session's timeline, in order.
type TimelinePage struct {
	// Version is the number of the last journal event that the page includes. Whoever reads several pages goes on with
	// the journal after the version of the first.
	Version int64
	Events  []TimelineItem
	// More reports that events follow.
	More bool
}

// TraceQuery chooses a page of a session's trace.
type TraceQuery struct {
	// After is the last interaction of the previous page; nil begins with the first.
	After *TraceCursor
	// Limit is how many interactions, of LLMs and of tools together, a page has at most.
	Limit int
}

// TraceCursor is a place in the order of a session's interactions.
type TraceCursor struct {
	// CreatedAt and ID are those of the last interaction before it.
	CreatedAt time.Time `json:"t"`
	ID        string    `json:"i"`
}

// TracePage is a part of a session's trace. Stages, executions and the usage are whole on every page; the interactions
// are those of the page.
type TracePage struct {
	Trace

	// Next is where the next page begins; nil on the last page.
	Next *TraceCursor
}

// Append adds the interactions of the next page. Everything else stays as the first page has it.
func (t *Trace) Append(page Trace) {
	t.SessionInteractions = append(t.SessionInteractions, page.SessionInteractions...)

	executions := map[string]*TraceExecution{}

	for _, s := range t.Stages {
		for i := range s.Executions {
			executions[s.Executions[i].ExecutionID] = &s.Executions[i]
		}
	}

	for _, s := range page.Stages {
		for _, e := range s.Executions {
			if known, ok := executions[e.ExecutionID]; ok {
				known.LLMInteractions = append(known.LLMInteractions, e.LLMInteractions...)
				known.MCPInteractions = append(known.MCPInteractions, e.MCPInteractions...)
			}
		}
	}
}
