package tarsy

import (
	"encoding/json"
	"time"
)

// The types of journal events. Each is also the "type" field of its payload.
const (
	TypeSessionStatus     = "session.status"
	TypeStageStatus       = "stage.status"
	TypeExecutionStatus   = "execution.status"
	TypeTimelineCreated   = "timeline_event.created"
	TypeTimelineCompleted = "timeline_event.completed"
	TypeChatCreated       = "chat.created"
	TypeChatUserMessage   = "chat.user_message"
)

// The types of transient events, which no journal keeps.
const (
	TypeStreamChunk    = "stream.chunk"
	TypeSessionChanged = "session.changed"
)

// WorkStatus is the status of a stage or an execution as events carry it: StageStarted where the row says "active", and
// otherwise the row's. A pending one has no event.
type WorkStatus string

// StageStarted is the status that stage.status and execution.status carry when work begins.
const StageStarted = "started"

// WorkStatuses lists every status that an event of a stage or an execution can carry.
func WorkStatuses() []WorkStatus {
	return []WorkStatus{
		StageStarted, WorkStatus(StatusCompleted), WorkStatus(StatusFailed), WorkStatus(StatusCancelled), WorkStatus(StatusTimedOut),
	}
}

// Channel names, as they are on the wire.
const (
	// ChannelSessions is the feed of all sessions.
	ChannelSessions = "sessions"
	// ChannelSessionPrefix and a session's id name the journal of that session.
	ChannelSessionPrefix = "session:"
)

// SessionChannel is the name of a session's journal on the wire.
func SessionChannel(sessionID string) string { return ChannelSessionPrefix + sessionID }

// Event is one entry of a session's journal.
type Event struct {
	// SessionID is the session whose journal it is.
	SessionID string `json:"session_id"`
	// Seq is the event's number in the journal, from one without gaps; it is zero until the event is committed.
	Seq int64 `json:"seq"`
	// Type is one of the Type constants.
	Type string `json:"type"`
	// Payload is the payload struct of the type, as JSON.
	Payload json.RawMessage `json:"payload"`
	// CreatedAt is when it happened, by the clock of the server that made the event.
	CreatedAt time.Time `json:"created_at"`
}

// The payload structs below are the messages that readers receive, apart from the number and the channel that the stream
// adds. Their tags are their documentation, as in metadata_types.go: internal/eventschema makes the JSON Schema from them.

// SessionStatusPayload tells that a session has a new status.
type SessionStatusPayload struct {
	Type           string        `doc:"What kind of message this is." json:"type"`
	SessionID      string        `doc:"The session." json:"session_id" schema:"id"`
	Status         SessionStatus `doc:"The session's new status." json:"status"`
	ConcludedEarly string        `doc:"Why a completed session ended before its agents were done." json:"concluded_early,omitempty" schema:"early_conclusion"`
	ErrorCode      string        `doc:"A stable name for what went wrong." json:"error_code,omitempty" schema:"code"`
	ErrorMessage   string        `doc:"What went wrong, for people." json:"error_message,omitempty"`
	Timestamp      time.Time     `doc:"When it happened." json:"timestamp"`
}

// StageStatusPayload tells that a stage started or ended. ExpectedAgentCount lets a reader lay agents out side by side
// before they begin.
type StageStatusPayload struct {
	Type               string     `doc:"What kind of message this is." json:"type"`
	SessionID          string     `doc:"The session." json:"session_id" schema:"id"`
	StageID            string     `doc:"The stage." json:"stage_id" schema:"id"`
	StageName          string     `doc:"The stage's name in its chain." json:"stage_name"`
	StageType          StageType  `doc:"What the stage is for." json:"stage_type"`
	StageIndex         int        `doc:"The stage's place in the session, from 1, over all types." json:"stage_index" minimum:"1"`
	ExpectedAgentCount int        `doc:"How many agents the stage runs at once." json:"expected_agent_count" minimum:"1"`
	Status             WorkStatus `doc:"'started', or how it ended." json:"status"`
	Timestamp          time.Time  `doc:"When it happened." json:"timestamp"`
}

// ExecutionStatusPayload tells that one agent of a stage started or ended.
type ExecutionStatusPayload struct {
	Type         string     `doc:"What kind of message this is." json:"type"`
	SessionID    string     `doc:"The session." json:"session_id" schema:"id"`
	StageID      string     `doc:"The stage." json:"stage_id" schema:"id"`
	ExecutionID  string     `doc:"The execution." json:"execution_id" schema:"id"`
	AgentName    string     `doc:"The agent; replicas have their number at the end." json:"agent_name"`
	AgentIndex   int        `doc:"The agent's place in its stage, from 1." json:"agent_index" minimum:"1"`
	Status       WorkStatus `doc:"'started', or how it ended." json:"status"`
	ErrorMessage string     `doc:"What went wrong, for people." json:"error_message,omitempty"`
	Timestamp    time.Time  `doc:"When it happened." json:"timestamp"`
}

// TimelineCreatedPayload carries the whole of a new timeline event.
type TimelineCreatedPayload struct {
	Type           string      `doc:"What kind of message this is." json:"type"`
	EventID        string      `doc:"The timeline event." json:"event_id" schema:"id"`
	SessionID      string      `doc:"The session." json:"session_id" schema:"id"`
	StageID        *string     `doc:"The stage that it belongs to; absent where it concerns the session as a whole." json:"stage_id,omitempty" schema:"id"`
	ExecutionID    *string     `doc:"The execution that it belongs to; absent where it concerns the session as a whole." json:"execution_id,omitempty" schema:"id"`
	SequenceNumber int64       `doc:"The timeline event's place in the session." json:"sequence_number" minimum:"1"`
	EventType      EventType   `doc:"What the timeline event shows." json:"event_type"`
	Status         EventStatus `doc:"'streaming' until the content is final." json:"status"`
	Content        string      `doc:"Its text, as far as it is known." json:"content"`
	Metadata       Metadata    `doc:"More about it; the keys depend on 'event_type'." json:"metadata,omitempty"`
	Timestamp      time.Time   `doc:"When it happened." json:"timestamp"`
}

// TimelineCompletedPayload carries the final content of a timeline event.
type TimelineCompletedPayload struct {
	Type      string      `doc:"What kind of message this is." json:"type"`
	EventID   string      `doc:"The timeline event." json:"event_id" schema:"id"`
	SessionID string      `doc:"The session." json:"session_id" schema:"id"`
	EventType EventType   `doc:"What the timeline event shows." json:"event_type"`
	Status    EventStatus `doc:"'streaming' until the content is final." json:"status"`
	Content   string      `doc:"Its text, as far as it is known." json:"content"`
	Metadata  Metadata    `doc:"More about it; the keys depend on 'event_type'." json:"metadata,omitempty"`
	Timestamp time.Time   `doc:"When it happened." json:"timestamp"`
}

// ChatCreatedPayload tells that a session's chat has begun.
type ChatCreatedPayload struct {
	Type      string    `doc:"What kind of message this is." json:"type"`
	SessionID string    `doc:"The session." json:"session_id" schema:"id"`
	ChatID    string    `doc:"The session's chat." json:"chat_id" schema:"id"`
	CreatedBy string    `doc:"Who asked first." json:"created_by"`
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// ChatUserMessagePayload tells that somebody asked; the stage is the one that answers.
type ChatUserMessagePayload struct {
	Type      string    `doc:"What kind of message this is." json:"type"`
	SessionID string    `doc:"The session." json:"session_id" schema:"id"`
	ChatID    string    `doc:"The session's chat." json:"chat_id" schema:"id"`
	MessageID string    `doc:"The question." json:"message_id" schema:"id"`
	StageID   string    `doc:"The stage that answers." json:"stage_id" schema:"id"`
	Author    string    `doc:"Who asked." json:"author"`
	Content   string    `doc:"What was asked, in Markdown." json:"content"`
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// StreamChunkPayload is a piece of the text of a timeline event that is still streaming. A reader whose text is shorter than
// Offset has missed something and asks for the timeline.
type StreamChunkPayload struct {
	Type        string    `doc:"What kind of message this is." json:"type"`
	SessionID   string    `doc:"The session." json:"session_id" schema:"id"`
	ExecutionID *string   `doc:"The execution that it belongs to; absent where it concerns the session as a whole." json:"execution_id,omitempty" schema:"id"`
	EventID     string    `doc:"The timeline event." json:"event_id" schema:"id"`
	EventType   EventType `doc:"What the timeline event shows." json:"event_type"`
	Delta       string    `doc:"The piece of text." json:"delta"`
	Offset      int       `doc:"Where the piece begins, in UTF-16 units." json:"offset" minimum:"0"`
	Fence       int64     `doc:"Whose text it is: a higher number means that the text starts over." json:"fence" minimum:"1"`
	Timestamp   time.Time `doc:"When it happened." json:"timestamp"`
}

// SessionChangedPayload is an item of the sessions feed: either a session with its new version, or Behind. The feed keeps
// no order between sessions and no history.
type SessionChangedPayload struct {
	Type      string `doc:"What kind of message this is." json:"type"`
	SessionID string `doc:"The session." json:"session_id,omitempty" schema:"id"`
	Version   int64  `doc:"The number of the session's last event." json:"version,omitempty" minimum:"1"`
	Behind    bool   `doc:"Changes were dropped: load the list again." json:"behind,omitempty"`
}

// NewEvent makes a journal event from its payload, which is one of the payload structs of this file.
func NewEvent(sessionID, eventType string, payload any, at time.Time) Event {
	raw, err := json.Marshal(payload)
	if err != nil {
		// The payload structs of this file always marshal; NewMetadata and the database give valid JSON only.
		panic("tarsy: event payload does not marshal: " + err.Error())
	}

	return Event{SessionID: sessionID, Type: eventType, Payload: raw, CreatedAt: at}
}
