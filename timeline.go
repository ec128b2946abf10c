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
	// EventProviderFallback tells that another provider goes on where one failed.
	EventProviderFallback EventType = "provider_fallback"
	// EventContextShortened tells that old tool results are shortened from now on.
	EventContextShortened EventType = "context_shortened"
)

// ErrorRunbookUnavailable is the code of the error event that tells that the default runbook is used.
const ErrorRunbookUnavailable = "runbook_unavailable"

// EventStatus is the state of a timeline event: it is streaming until its content is final.
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

// TimelineEvent is one thing a person sees.
type TimelineEvent struct {
	// ID is a UUID, made by the server that first wrote the event down.
	ID string `json:"id"`
	// SessionID is the session that the event belongs to.
	SessionID string `json:"session_id"`
	// StageID and ExecutionID are the stage and the agent's run that it belongs to; nil for events of the session as a whole.
	StageID     *string `json:"stage_id"`
	ExecutionID *string `json:"execution_id"`
	// SequenceNumber orders the events of a session from one.
	SequenceNumber int64 `json:"sequence_number"`
	// EventType is what the event shows, and decides what Metadata is.
	EventType EventType `json:"event_type"`
	// Status is EventStreaming until Content is final.
	Status EventStatus `json:"status"`
	// Content is the text, masked; of a streaming event what was saved last, about once a second.
	Content string `json:"content"`
	// Metadata is what is known besides the text, such as a tool call's arguments; nil for most types.
	Metadata Metadata `json:"metadata"`
	// CreatedAt is when the event began.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the row was last written.
	UpdatedAt time.Time `json:"updated_at"`
	// CompletedAt is when Content became final; nil while the event is streaming.
	CompletedAt *time.Time `json:"completed_at"`
}

// TimelineItem is a timeline event as lists show it.
type TimelineItem struct {
	TimelineEvent

	// ContentLength is the length of the whole content in UTF-16 units, as browsers count.
	ContentLength int `json:"content_length"`
	// Truncated tells that not all of the event is here: content was cut, or metadata's arguments were left out.
	Truncated bool `json:"truncated"`
}

// UTF16Len is the length of a text in UTF-16 units, as browsers count.
func UTF16Len(text string) int {
	units := 0
	for _, r := range text {
		units += utf16.RuneLen(r)
	}

	return units
}

// CutUTF16 returns the first units of a text in UTF-16, or one fewer where they would end within a character.
func CutUTF16(text string, units int) string {
	for i, r := range text {
		units -= utf16.RuneLen(r)
		if units < 0 {
			return text[:i]
		}
	}

	return text
}
