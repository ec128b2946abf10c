package tarsy

import (
	"time"
	"unicode/utf16"
)

// EventType is the kind of a timeline event.
type EventType string

// The kinds of timeline events.
const (
	EventThinking         EventType = "llm_thinking"
	EventResponse         EventType = "llm_response"
	EventToolCall         EventType = "llm_tool_call"
	EventToolSummary      EventType = "mcp_tool_summary"
	EventError            EventType = "error"
	EventUserQuestion     EventType = "user_question"
	EventExecutiveSummary EventType = "executive_summary"
	EventFinalAnalysis    EventType = "final_analysis"
	EventCodeExecution    EventType = "code_execution"
	EventGoogleSearch     EventType = "google_search_result"
	EventURLContext       EventType = "url_context_result"
	// EventProviderFallback reports that a provider failed and another one continues.
	EventProviderFallback EventType = "provider_fallback"
	// EventContextShortened reports that old tool results, or parts of the prompt, are shortened from now on.
	EventContextShortened EventType = "context_shortened"
)

// ErrorRunbookUnavailable is the code of the error event for a runbook that could not be fetched; the default one is used.
const ErrorRunbookUnavailable = "runbook_unavailable"

// ErrorMCPUnavailable is the code of the error event of an agent if some of its MCP servers could not be reached or lack tools that the
// alert selected; the agent continues without those tools.
const ErrorMCPUnavailable = "mcp_unavailable"

// ErrorQuestionRefused is the code of the session's error event for a question that was accepted but can never be answered.
const ErrorQuestionRefused = "question_refused"

// EventStatus is the state of a timeline event, which is streaming until its content is final.
type EventStatus string

// The statuses of timeline events.
const (
	EventStreaming EventStatus = "streaming"
	EventCompleted EventStatus = "completed"
	EventFailed    EventStatus = "failed"
	EventCancelled EventStatus = "cancelled"
	EventTimedOut  EventStatus = "timed_out"
)

// EventStatuses lists the statuses of timeline events.
func EventStatuses() []EventStatus {
	return []EventStatus{EventStreaming, EventCompleted, EventFailed, EventCancelled, EventTimedOut}
}

// TimelineEvent is one item of the timeline that users see of a session.
type TimelineEvent struct {
	// UUIDv7, chosen by the agent or the engine.
	ID string `json:"id"`
	// The session, never empty.
	SessionID string `json:"session_id"`
	// Both nil for events about the session as a whole.
	StageID     *string `json:"stage_id"`
	ExecutionID *string `json:"execution_id"`
	// Order in the session, from one.
	SequenceNumber int64 `json:"sequence_number"`
	// What the event shows. Determines the type of Metadata.
	EventType EventType `json:"event_type"`
	// EventStreaming until the content is final.
	Status EventStatus `json:"status"`
	// Text or Markdown. Saved about once a second while it streams.
	Content string `json:"content"`
	// Additional data, such as the arguments of a tool call; nil for types that have none.
	Metadata Metadata `json:"metadata"`
	// When the event began.
	CreatedAt time.Time `json:"created_at"`
	// When content or status last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// When the content became final; nil while streaming.
	CompletedAt *time.Time `json:"completed_at"`
}

// TimelineItem is a timeline event as shown in lists.
type TimelineItem struct {
	TimelineEvent

	// Length of the full content in UTF-16 units, as browsers count.
	ContentLength int `json:"content_length"`
	// The content was cut to the preview length (tool results in the middle), or long tool arguments were omitted from the metadata.
	Truncated bool `json:"truncated"`
}

// UTF16Len returns the length of a text in UTF-16 units, as browsers count.
func UTF16Len(text string) int {
	units := 0
	for _, r := range text {
		units += utf16.RuneLen(r)
	}

	return units
}

// CutUTF16 cuts a text to at most the given number of UTF-16 units, without splitting a character.
func CutUTF16(text string, units int) string {
	for i, r := range text {
		units -= utf16.RuneLen(r)
		if units < 0 {
			return text[:i]
		}
	}

	return text
}

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
	// Number of the last journal event that the page includes. A reader that loads several pages continues with the journal after the
	// version of the first page.
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

// TracePage is a part of a session's trace. Stages, executions and usage are complete on every page; only the interactions are paginated.
type TracePage struct {
	Trace

	// Start of the next page; nil on the last one.
	Next *TraceCursor
}

// Append adds the interactions of the next page. Everything else is kept from the first page.
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
