package tarsy

import (
	"encoding/json"
	"fmt"
	"time"

	"tarsy.dev/tarsy/internal/plaintext"
)

// Role is the sender of a message.
type Role string

// The roles of messages.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of an execution's conversation with the LLM.
type Message struct {
	// UUIDv7, chosen by the agent.
	ID string `json:"id"`
	// The execution whose conversation this is, and what it belongs to.
	SessionID   string `json:"session_id"`
	StageID     string `json:"stage_id"`
	ExecutionID string `json:"execution_id"`
	// Counts from one without gaps in its execution.
	SequenceNumber int `json:"sequence_number"`
	// Tool results have RoleTool, or RoleUser where the agent uses the ReAct text protocol.
	Role Role `json:"role"`
	// Text as the model wrote or receives it. The content of a long tool result is replaced once by its summary, and that of a prompt that
	// the model rejected as too long by a shorter one.
	Content string `json:"content"`
	// Calls that the assistant requested; nil for other roles.
	ToolCalls []ToolCall `json:"tool_calls"`
	// ID and wire name of the call whose result this is; empty unless the message is a tool result.
	ToolCallID string `json:"tool_call_id"`
	ToolName   string `json:"tool_name"`
	// Opaque data that the provider expects to be sent back with this answer, e.g. for its thinking. Nil if it sent none.
	Signature json.RawMessage `json:"signature"`
	// When the agent added the message.
	CreatedAt time.Time `json:"created_at"`
}

// shortenedBytes is the length of a shortened tool result.
const shortenedBytes = 2_000

// ContentFor returns the content as the model receives it when tool results up to a sequence number are shortened.
func (m Message) ContentFor(shortenedThrough int) string {
	if m.ToolCallID == "" || m.SequenceNumber > shortenedThrough || len(m.Content) <= shortenedBytes {
		return m.Content
	}

	note := fmt.Sprintf("\n\n[cut: about %d of %d bytes left out, because the conversation became too long]\n\n", len(m.Content)-shortenedBytes, len(m.Content))

	return plaintext.CutMiddle(m.Content, shortenedBytes, note)
}

// ToolCall is a call that the model requested.
type ToolCall struct {
	// From the model, or generated if missing, too long or already used in the execution.
	ID string `json:"id"`
	// Wire name, usually "server__tool". Not necessarily an existing tool.
	Name string `json:"name"`
	// As the model wrote them; meant to be a JSON object, but not validated.
	Arguments string `json:"arguments"`
}

// The types of messages about a connection, which are neither journal events nor transient events.
const (
	TypeEstablished  = "connection.established"
	TypeSubscribed   = "subscription.confirmed"
	TypeUnsubscribed = "subscription.removed"
	TypeOverflow     = "catchup.overflow"
	TypePong         = "pong"
	TypeError        = "error"
	TypeEnd          = "end"
	TypeBye          = "bye"
)

// EstablishedFrame is the first message on a WebSocket.
type EstablishedFrame struct {
	// Always TypeEstablished.
	Type string `doc:"The type of the message." json:"type"`
	// Appears as connection_id in the server's logs. Not needed by clients.
	ConnectionID string `doc:"The id of the connection in the server's log." json:"connection_id" schema:"id"`
}

// SubscriptionFrame confirms that the client subscribed to or unsubscribed from a channel.
type SubscriptionFrame struct {
	// TypeSubscribed or TypeUnsubscribed.
	Type string `doc:"The type of the message." json:"type"`
	// "sessions", "notes", or "session:" and an ID.
	Channel string `doc:"The channel from the client's message." json:"channel" schema:"channel"`
}

// OverflowFrame asks the reader to load the session, or the lists of notes, over REST: too many events are missing or some were deleted.
type OverflowFrame struct {
	// Always TypeOverflow.
	Type string `doc:"The type of the message." json:"type"`
	// Channel of a journal; the sessions feed reports Behind instead.
	Channel string `doc:"The channel of the message." json:"channel" schema:"journal_channel"`
	// Delivery continues with the event after this one.
	Head int64 `doc:"The number of the last event that was not replayed." json:"head" minimum:"1"`
}

// PongFrame answers a ping.
type PongFrame struct {
	// Always TypePong.
	Type string `doc:"The type of the message." json:"type"`
}

// ErrorFrame reports a command that failed. The connection stays open.
type ErrorFrame struct {
	// Always TypeError.
	Type string `doc:"The type of the message." json:"type"`
	// Empty if the command had no channel or could not be parsed.
	Channel string `doc:"The channel from the client's message, unchanged." json:"channel,omitempty"`
	// From the Error that the command resulted in; CodeInternal for unexpected ones.
	Code    Code   `doc:"A stable error code." json:"code"`
	Message string `doc:"The error message, for people." json:"message"`
}

// EndFrame is the last event of a session's SSE stream.
type EndFrame struct {
	// Always TypeEnd.
	Type string `doc:"The type of the message." json:"type"`
	// Always terminal: no more events follow, so clients do not reconnect.
	Status SessionStatus `doc:"The final status of the session." json:"status" schema:"terminal_status"`
}

// ByeFrame is the last event of an SSE stream that ends because its server is shutting down or its reader's login ended.
type ByeFrame struct {
	// Always TypeBye.
	Type string `doc:"The type of the message." json:"type"`
	// For display. Clients reconnect with their last event ID.
	Reason string `doc:"Why the stream ends, for people." json:"reason"`
}
