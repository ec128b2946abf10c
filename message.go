package tarsy

import (
	"encoding/json"
	"fmt"
	"time"
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
	// Text as the model wrote or receives it. The content of a long tool result is replaced once by its summary,
	// and that of a prompt the model refused for its length by a shorter one.
	Content string `json:"content"`
	// Calls that the assistant requested; nil for other roles.
	ToolCalls []ToolCall `json:"tool_calls"`
	// ID and wire name of the call whose result this is; empty unless the message is a tool result.
	ToolCallID string `json:"tool_call_id"`
	ToolName   string `json:"tool_name"`
	// Opaque data that the provider expects back with this answer, e.g. for its thinking. Nil if it sent none.
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

	return CutMiddle(m.Content, shortenedBytes, note)
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
