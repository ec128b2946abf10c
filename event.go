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

// StageStarted is the status that stage.status and execution.status carry when work begins; the row says "active".
const StageStarted = "started"

// Channel names, as they are on the wire.
const (
	// ChannelSessions is the feed of all sessions.
	ChannelSessions = "sessions"
	// ChannelSessionPrefix and a session's id name the journal of that session.
	ChannelSessionPrefix = "session:"
)

// SessionChannel is the name of a session's journal on the wire.
func SessionChannel(sessionID string) string { return ChannelSessionPrefix + sessionID }

// Event is one entry of a session's journal. Seq counts from one without gaps; it is zero until the event is
// committed. Payload is one of the structs below as JSON.
type Event struct {
	SessionID string          `json:"session_id"`
	Seq       int64           `json:"seq"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
	CreatedAt time.Time       `json:"created_at"`
}

// SessionStatusPayload tells that a session has a new status.
type SessionStatusPayload struct {
	Type      string        `json:"type"`
	SessionID string        `json:"session_id"`
	Status    SessionStatus `json:"status"`
	// ConcludedEarly is why a completed session ended before its agents were done.
	ConcludedEarly string    `json:"concluded_early,omitempty"`
	ErrorCode      string    `json:"error_code,omitempty"`
	ErrorMessage   string    `json:"error_message,omitempty"`
	Timestamp      time.Time `json:"timestamp"`
}

// StageStatusPayload tells that a stage started or ended.
type StageStatusPayload struct {
	Type       string    `json:"type"`
	SessionID  string    `json:"session_id"`
	StageID    string    `json:"stage_id"`
	StageName  string    `json:"stage_name"`
	StageType  StageType `json:"stage_type"`
	StageIndex int       `json:"stage_index"`
	// ExpectedAgentCount lets a reader lay agents out side by side before they begin.
	ExpectedAgentCount int       `json:"expected_agent_count"`
	Status             string    `json:"status"`
	Timestamp          time.Time `json:"timestamp"`
}

// ExecutionStatusPayload tells that one agent of a stage started or ended.
type ExecutionStatusPayload struct {
	Type         string    `json:"type"`
	SessionID    string    `json:"session_id"`
	StageID      string    `json:"stage_id"`
	ExecutionID  string    `json:"execution_id"`
	AgentName    string    `json:"agent_name"`
	AgentIndex   int       `json:"agent_index"`
	Status       string    `json:"status"`
	ErrorMessage string    `json:"error_message,omitempty"`
	Timestamp    time.Time `json:"timestamp"`
}

// TimelineCreatedPayload carries the whole of a new timeline event.
type TimelineCreatedPayload struct {
	Type           string      `json:"type"`
	EventID        string      `json:"event_id"`
	SessionID      string      `json:"session_id"`
	StageID        *string     `json:"stage_id,omitempty"`
	ExecutionID    *string     `json:"execution_id,omitempty"`
	SequenceNumber int64       `json:"sequence_number"`
	EventType      EventType   `json:"event_type"`
	Status         EventStatus `json:"status"`
	Content        string      `json:"content"`
	Metadata       Metadata    `json:"metadata,omitempty"`
	Timestamp      time.Time   `json:"timestamp"`
}

// TimelineCompletedPayload carries the final content of a timeline event.
type TimelineCompletedPayload struct {
	Type      string      `json:"type"`
	EventID   string      `json:"event_id"`
	SessionID string      `json:"session_id"`
	EventType EventType   `json:"event_type"`
	Status    EventStatus `json:"status"`
	Content   string      `json:"content"`
	Metadata  Metadata    `json:"metadata,omitempty"`
	Timestamp time.Time   `json:"timestamp"`
}

// ChatCreatedPayload tells that a session's chat has begun.
type ChatCreatedPayload struct {
	Type      string    `json:"type"`
	SessionID string    `json:"session_id"`
	ChatID    string    `json:"chat_id"`
	CreatedBy string    `json:"created_by"`
	Timestamp time.Time `json:"timestamp"`
}

// ChatUserMessagePayload tells that somebody asked; the stage is the one that answers.
type ChatUserMessagePayload struct {
	Type      string    `json:"type"`
	SessionID string    `json:"session_id"`
	ChatID    string    `json:"chat_id"`
	MessageID string    `json:"message_id"`
	StageID   string    `json:"stage_id"`
	Author    string    `json:"author"`
	Content   string    `json:"content"`
	Timestamp time.Time `json:"timestamp"`
}

// StreamChunkPayload is a piece of a timeline event's text on its way. Offset is where the piece begins, in UTF-16
// units as browsers count; a reader whose text is shorter has missed something and asks for the timeline. A higher
// fence means that the text starts over.
type StreamChunkPayload struct {
	Type        string    `json:"type"`
	SessionID   string    `json:"session_id"`
	ExecutionID *string   `json:"execution_id,omitempty"`
	EventID     string    `json:"event_id"`
	EventType   EventType `json:"event_type"`
	Delta       string    `json:"delta"`
	Offset      int       `json:"offset"`
	Fence       int64     `json:"fence"`
	Timestamp   time.Time `json:"timestamp"`
}

// SessionChangedPayload is an item of the sessions feed: this session is now at this version. The feed keeps no
// order between sessions and no history; Behind tells a reader that items were dropped and the list must be reloaded.
type SessionChangedPayload struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id,omitempty"`
	Version   int64  `json:"version,omitempty"`
	Behind    bool   `json:"behind,omitempty"`
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
