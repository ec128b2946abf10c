package tarsy

import (
	"encoding/json"
	"time"
)

// The types of journal events. Each is also the "type" field of its payload.
const (
	TypeSessionStatus     = "session.status"
	TypeSessionVerdict    = "session.verdict"
	TypeStageStatus       = "stage.status"
	TypeExecutionStatus   = "execution.status"
	TypeTimelineCreated   = "timeline_event.created"
	TypeTimelineCompleted = "timeline_event.completed"
	TypeApprovalStatus    = "approval.status"
	TypeChatCreated       = "chat.created"
	TypeChatUserMessage   = "chat.user_message"
)

// The types of transient events, which are not stored in a journal.
const (
	TypeStreamChunk    = "stream.chunk"
	TypeSessionChanged = "session.changed"
)

// WorkStatus is the status of a stage or an execution in events: StageStarted where the row has "active", otherwise the
// same as the row. There is no event for "pending".
type WorkStatus string

// StageStarted is the status that stage.status and execution.status carry when work begins.
const StageStarted = "started"

// WorkStatuses lists every status that an event of a stage or an execution can carry.
func WorkStatuses() []WorkStatus {
	return []WorkStatus{
		StageStarted, WorkStatus(StatusCompleted), WorkStatus(StatusFailed), WorkStatus(StatusCancelled), WorkStatus(StatusTimedOut),
	}
}

// Channel names on the wire.
const (
	// ChannelSessions is the feed of all sessions.
	ChannelSessions = "sessions"
	// ChannelSessionPrefix followed by a session's ID is the channel of its journal.
	ChannelSessionPrefix = "session:"
)

// SessionChannel is the name of a session's journal on the wire.
func SessionChannel(sessionID string) string { return ChannelSessionPrefix + sessionID }

// Event is one entry of a session's journal, or of the journal of notes, where SessionID is empty and Seq zero.
type Event struct {
	// The session whose journal it is; unique together with Seq.
	SessionID string `json:"session_id"`
	// Counts from one without gaps in a session. Zero until the event is committed.
	Seq int64 `json:"seq"`
	// One of the journal event types above. Also in the payload.
	Type string `json:"type"`
	// One of the payload structs below, encoded as JSON and delivered to readers unchanged.
	Payload json.RawMessage `json:"payload"`
	// When it happened, by the clock of the server that made the event. Same as the payload's timestamp.
	CreatedAt time.Time `json:"created_at"`
}

// The payload structs below are the messages that readers receive, apart from the number and the channel that the stream adds. Their doc
// tags are the published documentation, as in metadata.go: internal/eventschema generates the JSON Schema from them. The comments add what
// only readers of this code need.

// SessionStatusPayload reports a session's new status.
type SessionStatusPayload struct {
	// Always TypeSessionStatus.
	Type string `doc:"The type of the message." json:"type"`
	// Also names the channel; see SessionChannel.
	SessionID string `doc:"The session." json:"session_id" schema:"id"`
	// Set together with the session's row, in the same commit.
	Status SessionStatus `doc:"The session's new status." json:"status"`
	// Same as the fields of Session; empty until the session has ended.
	ConcludedEarly string `doc:"Why a completed session ended before its agents were done." json:"concluded_early,omitempty" schema:"early_conclusion"`
	ErrorCode      string `doc:"A stable error code." json:"error_code,omitempty" schema:"code"`
	ErrorMessage   string `doc:"The error message, for people." json:"error_message,omitempty"`
	// Time of the step that changed the status.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// SessionVerdictPayload reports the verdict of a session, before its last status.
type SessionVerdictPayload struct {
	// Always TypeSessionVerdict.
	Type      string `doc:"The type of the message." json:"type"`
	SessionID string `doc:"The session." json:"session_id" schema:"id"`
	// Same as in Verdict, which the session's detail has in full.
	Outcome    Outcome    `doc:"What kind of conclusion it is." json:"outcome"`
	Cause      string     `doc:"What is wrong, in one line; empty if no cause was found." json:"cause"`
	Confidence Confidence `doc:"How certain the outcome is." json:"confidence"`
	// Time of the step that completes the session.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// StageStatusPayload reports that a stage started or ended.
type StageStatusPayload struct {
	// Always TypeStageStatus, with the IDs of the rows.
	Type      string `doc:"The type of the message." json:"type"`
	SessionID string `doc:"The session." json:"session_id" schema:"id"`
	StageID   string `doc:"The stage." json:"stage_id" schema:"id"`
	// Repeated from Stage, so that a reader needs no second request.
	StageName  string    `doc:"The stage's name in its chain." json:"stage_name"`
	StageType  StageType `doc:"What the stage is for." json:"stage_type"`
	StageIndex int       `doc:"The position of the stage in the session, from 1, counting all types." json:"stage_index" minimum:"1"`
	// Lets a reader lay out parallel agents before they start.
	ExpectedAgentCount int `doc:"The number of agents that the stage runs concurrently." json:"expected_agent_count" minimum:"1"`
	// StageStarted once, then one terminal status.
	Status WorkStatus `doc:"'started', or the final status." json:"status"`
	// StartedAt or CompletedAt of the stage.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// ExecutionStatusPayload reports that one agent of a stage started or ended.
type ExecutionStatusPayload struct {
	// Always TypeExecutionStatus, with the IDs of the rows.
	Type      string `doc:"The type of the message." json:"type"`
	SessionID string `doc:"The session." json:"session_id" schema:"id"`
	StageID   string `doc:"The stage." json:"stage_id" schema:"id"`
	// Repeated from Execution, so that a reader needs no second request.
	ExecutionID string `doc:"The execution." json:"execution_id" schema:"id"`
	AgentName   string `doc:"The agent. Replicas have a number at the end." json:"agent_name"`
	AgentIndex  int    `doc:"The position of the agent in its stage, from 1." json:"agent_index" minimum:"1"`
	// StageStarted once, then one terminal status.
	Status WorkStatus `doc:"'started', or the final status." json:"status"`
	// Empty unless the execution ended without success.
	ErrorMessage string `doc:"The error message, for people." json:"error_message,omitempty"`
	// StartedAt or CompletedAt of the execution.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// TimelineCreatedPayload carries a new timeline event in full.
type TimelineCreatedPayload struct {
	// Always TypeTimelineCreated.
	Type string `doc:"The type of the message." json:"type"`
	// ID of the TimelineEvent, not of the journal event, and its session.
	EventID   string `doc:"The timeline event." json:"event_id" schema:"id"`
	SessionID string `doc:"The session." json:"session_id" schema:"id"`
	// Both nil for an event about the session as a whole.
	StageID     *string `doc:"The stage of the event; absent if the event belongs to the session as a whole." json:"stage_id,omitempty" schema:"id"`
	ExecutionID *string `doc:"The execution of the event; absent if the event belongs to the session as a whole." json:"execution_id,omitempty" schema:"id"`
	// Order in the timeline. Unrelated to Event.Seq.
	SequenceNumber int64 `doc:"The position of the timeline event in the session." json:"sequence_number" minimum:"1"`
	// A streaming event is followed by a TimelineCompletedPayload; any other status is final.
	EventType EventType   `doc:"The type of the timeline event." json:"event_type"`
	Status    EventStatus `doc:"'streaming' until the content is final." json:"status"`
	// Empty for an event that starts streaming.
	Content string `doc:"The text so far." json:"content"`
	// Nil for types that have none.
	Metadata Metadata `doc:"Additional data; the keys depend on 'event_type'." json:"metadata,omitempty"`
	// CreatedAt of the timeline event.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// TimelineCompletedPayload carries the final content of a timeline event that was streaming.
type TimelineCompletedPayload struct {
	// Always TypeTimelineCompleted.
	Type string `doc:"The type of the message." json:"type"`
	// ID of the TimelineEvent, not of the journal event, and its session.
	EventID   string `doc:"The timeline event." json:"event_id" schema:"id"`
	SessionID string `doc:"The session." json:"session_id" schema:"id"`
	// Type as created, and the terminal status.
	EventType EventType   `doc:"The type of the timeline event." json:"event_type"`
	Status    EventStatus `doc:"'streaming' until the content is final." json:"status"`
	// Replaces whatever the reader assembled from stream chunks. Partial if the status is not EventCompleted.
	Content string `doc:"The text so far." json:"content"`
	// Complete, not only the keys added since creation. Nil for types that have none.
	Metadata Metadata `doc:"Additional data; the keys depend on 'event_type'." json:"metadata,omitempty"`
	// UpdatedAt of the timeline event.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// ApprovalStatusPayload reports that an approval was requested or decided. It is about the tool call with the same EventID, whose
// metadata changed with it.
type ApprovalStatusPayload struct {
	// Always TypeApprovalStatus.
	Type      string `doc:"The type of the message." json:"type"`
	SessionID string `doc:"The session." json:"session_id" schema:"id"`
	StageID   string `doc:"The stage." json:"stage_id" schema:"id"`
	// IDs of the execution and of the EventToolCall.
	ExecutionID string `doc:"The execution that requests the call." json:"execution_id" schema:"id"`
	EventID     string `doc:"The timeline event of the tool call." json:"event_id" schema:"id"`
	// ID of the MCPInteraction. Decisions name it.
	ApprovalID string `doc:"The approval." json:"approval_id" schema:"id"`
	// Same as in MCPInteraction.
	ServerName string          `doc:"The MCP server." json:"server_name"`
	ToolName   string          `doc:"The tool." json:"tool_name"`
	Arguments  json.RawMessage `doc:"The exact arguments as the model wrote them." json:"arguments"`
	// Also in the metadata of the timeline event.
	Approval Approval `doc:"The approval as it is now." json:"approval"`
	// Time of the step that changed the approval.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// ChatCreatedPayload reports the first question about a session.
type ChatCreatedPayload struct {
	// Always TypeChatCreated.
	Type string `doc:"The type of the message." json:"type"`
	// Also names the channel; see SessionChannel.
	SessionID string `doc:"The session." json:"session_id" schema:"id"`
	// Stays the same for all later questions.
	ChatID string `doc:"The session's chat." json:"chat_id" schema:"id"`
	// Author of the first question.
	CreatedBy string `doc:"The author of the first question." json:"created_by"`
	// CreatedAt of the chat.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// ChatUserMessagePayload reports a question and the stage that answers it.
type ChatUserMessagePayload struct {
	// Always TypeChatUserMessage.
	Type string `doc:"The type of the message." json:"type"`
	// Also names the channel; see SessionChannel.
	SessionID string `doc:"The session." json:"session_id" schema:"id"`
	// IDs as returned to the caller who submitted the question.
	ChatID    string `doc:"The session's chat." json:"chat_id" schema:"id"`
	MessageID string `doc:"The question." json:"message_id" schema:"id"`
	StageID   string `doc:"The stage that answers the question." json:"stage_id" schema:"id"`
	// As stored in ChatUserMessage.
	Author  string `doc:"The author of the question." json:"author"`
	Content string `doc:"The text of the question, in Markdown." json:"content"`
	// CreatedAt of the message: when a server picked it up.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// StreamChunkPayload is a piece of the text of a timeline event that is still streaming. It is sent live and never stored. A reader whose
// text is shorter than Offset has missed a chunk and must load the timeline.
type StreamChunkPayload struct {
	// Always TypeStreamChunk.
	Type string `doc:"The type of the message." json:"type"`
	// IDs of the timeline event and what it belongs to. ExecutionID is nil for an event about the session as a whole.
	SessionID   string  `doc:"The session." json:"session_id" schema:"id"`
	ExecutionID *string `doc:"The execution of the event; absent if the event belongs to the session as a whole." json:"execution_id,omitempty" schema:"id"`
	EventID     string  `doc:"The timeline event." json:"event_id" schema:"id"`
	// Thinking, response or tool summary: the types that stream.
	EventType EventType `doc:"The type of the timeline event." json:"event_type"`
	// Never splits a character.
	Delta string `doc:"The piece of text." json:"delta"`
	// Length of the text sent before this chunk under the same fence, in UTF-16 units.
	Offset int `doc:"The position of the piece in the text, in UTF-16 units." json:"offset" minimum:"0"`
	// Fence of the lease of the server that streams. A higher value than before means that another server took over and the text
	// starts again at offset zero.
	Fence int64 `doc:"A higher number than before means that another server took over and the text restarts." json:"fence" minimum:"1"`
	// When the chunk was sent.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// SessionChangedPayload is an item of the sessions feed: either one session with its new version, or Behind. The feed has no
// history and no order between sessions.
type SessionChangedPayload struct {
	// Always TypeSessionChanged.
	Type string `doc:"The type of the message." json:"type"`
	// Empty and zero if Behind is set. An item with a version that the reader already has reports a change outside the journal: the counts
	// of the session's alert, feedback, or its handling by people.
	SessionID string `doc:"The session." json:"session_id,omitempty" schema:"id"`
	Version   int64  `doc:"The number of the session's last event." json:"version,omitempty" minimum:"1"`
	// Set when this reader was too slow and items were dropped.
	Behind bool `doc:"Messages were dropped; reload the list." json:"behind,omitempty"`
}

// NewEvent returns a journal event with one of the payload structs of this file.
func NewEvent(sessionID, eventType string, payload any, at time.Time) Event {
	raw, err := json.Marshal(payload)
	if err != nil {
		// The payload structs of this file always marshal: metadata from NewMetadata or the database is valid JSON.
		panic("tarsy: event payload does not marshal: " + err.Error())
	}

	return Event{SessionID: sessionID, Type: eventType, Payload: raw, CreatedAt: at}
}

// TimelineCreated is the journal event of a new timeline event.
func TimelineCreated(e TimelineEvent) Event {
	return NewEvent(e.SessionID, TypeTimelineCreated, TimelineCreatedPayload{
		Type: TypeTimelineCreated, EventID: e.ID, SessionID: e.SessionID, StageID: e.StageID, ExecutionID: e.ExecutionID,
		SequenceNumber: e.SequenceNumber, EventType: e.EventType, Status: e.Status, Content: e.Content,
		Metadata: e.Metadata, Timestamp: e.CreatedAt,
	}, e.CreatedAt)
}

// TimelineCompleted is the journal event of a timeline event whose content is final.
func TimelineCompleted(e TimelineEvent) Event {
	return NewEvent(e.SessionID, TypeTimelineCompleted, TimelineCompletedPayload{
		Type: TypeTimelineCompleted, EventID: e.ID, SessionID: e.SessionID, EventType: e.EventType, Status: e.Status,
		Content: e.Content, Metadata: e.Metadata, Timestamp: e.UpdatedAt,
	}, e.UpdatedAt)
}

// ApprovalChanged is the journal event of an approval that was requested or decided.
func ApprovalChanged(c MCPInteraction, at time.Time) Event {
	return NewEvent(c.SessionID, TypeApprovalStatus, ApprovalStatusPayload{
		Type: TypeApprovalStatus, SessionID: c.SessionID, StageID: c.StageID, ExecutionID: c.ExecutionID, EventID: c.TimelineEventID, ApprovalID: c.ID,
		ServerName: c.ServerName, ToolName: c.ToolName, Arguments: c.ToolArguments, Approval: *c.Approval, Timestamp: at,
	}, at)
}

// SessionStatusChanged is the journal event of a session whose status changed.
func SessionStatusChanged(s Session, at time.Time) Event {
	return NewEvent(s.ID, TypeSessionStatus, SessionStatusPayload{
		Type: TypeSessionStatus, SessionID: s.ID, Status: s.Status, ConcludedEarly: s.ConcludedEarly, ErrorCode: s.ErrorCode, ErrorMessage: s.ErrorMessage,
		Timestamp: at,
	}, at)
}

// SessionVerdict is the journal event of a verdict.
func SessionVerdict(v Verdict, at time.Time) Event {
	return NewEvent(v.SessionID, TypeSessionVerdict, SessionVerdictPayload{
		Type: TypeSessionVerdict, SessionID: v.SessionID, Outcome: v.Outcome, Cause: v.Cause.Text, Confidence: v.Confidence, Timestamp: at,
	}, at)
}

// StageStatusChanged is the journal event of a stage that started or ended.
func StageStatusChanged(s Stage, at time.Time) Event {
	return NewEvent(s.SessionID, TypeStageStatus, StageStatusPayload{
		Type: TypeStageStatus, SessionID: s.SessionID, StageID: s.ID, StageName: s.StageName, StageType: s.StageType, StageIndex: s.StageIndex,
		ExpectedAgentCount: s.ExpectedAgentCount, Status: workStatus(s.Status), Timestamp: at,
	}, at)
}

// ExecutionStatusChanged is the journal event of an agent that started or ended.
func ExecutionStatusChanged(e Execution, at time.Time) Event {
	return NewEvent(e.SessionID, TypeExecutionStatus, ExecutionStatusPayload{
		Type: TypeExecutionStatus, SessionID: e.SessionID, StageID: e.StageID, ExecutionID: e.ID, AgentName: e.AgentName,
		AgentIndex: e.AgentIndex, Status: workStatus(e.Status), ErrorMessage: e.ErrorMessage, Timestamp: at,
	}, at)
}

// ChatCreated is the journal event of a session's first question.
func ChatCreated(c Chat) Event {
	return NewEvent(c.SessionID, TypeChatCreated, ChatCreatedPayload{
		Type: TypeChatCreated, SessionID: c.SessionID, ChatID: c.ID, CreatedBy: c.CreatedBy, Timestamp: c.CreatedAt,
	}, c.CreatedAt)
}

// ChatAsked is the journal event of a question that a stage answers.
func ChatAsked(m ChatUserMessage, stageID string) Event {
	return NewEvent(m.SessionID, TypeChatUserMessage, ChatUserMessagePayload{
		Type: TypeChatUserMessage, SessionID: m.SessionID, ChatID: m.ChatID, MessageID: m.ID, StageID: stageID, Author: m.Author,
		Content: m.Content, Timestamp: m.CreatedAt,
	}, m.CreatedAt)
}

func workStatus(s Status) WorkStatus {
	if s == StatusActive {
		return StageStarted
	}

	return WorkStatus(s)
}
