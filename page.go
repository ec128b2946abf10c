package tarsy

import "time"

// TimelineQuery selects a page of a session's timeline.
type TimelineQuery struct {
	// Sequence number of the last event of the previous page; zero starts with the first event.
	After int64
	// Maximum number of events. A page has fewer if their contents are large.
	Limit int
	// Maximum length of each event's content in UTF-16 units; zero means unlimited.
	Preview int
}

// TimelinePage is a part of a session's timeline, in order.
type TimelinePage struct {
	// Number of the last journal event that the page includes. A reader that loads several pages continues with the
	// journal after the version of the first.
	Version int64
	// Ordered by sequence number. Nil if nothing follows.
	Events []TimelineItem
	// Another page follows.
	More bool
}

// TraceQuery selects a page of a session's trace.
type TraceQuery struct {
	// Last interaction of the previous page; nil starts with the first.
	After *TraceCursor
	// Maximum number of interactions, LLM and MCP together.
	Limit int
}

// TraceCursor is a position in the order of a session's interactions.
type TraceCursor struct {
	// Identify the last interaction before the position. The ID breaks ties.
	CreatedAt time.Time `json:"t"`
	ID        string    `json:"i"`
}

// TracePage is a part of a session's trace. Stages, executions and usage are complete on every page; only the interactions are
// paginated.
type TracePage struct {
	Trace

	// Start of the next page; nil on the last one.
	Next *TraceCursor
}

// Append adds the interactions of the next page. Everything else stays as on the first page.
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
