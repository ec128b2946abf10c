package tarsy

import (
	"encoding/json"
	"fmt"
	"time"
)

// Role says who speaks in a message.
type Role string

// The roles of messages.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of an execution's conversation with the LLM. SequenceNumber counts from one in its execution.
type Message struct {
	ID             string     `json:"id"`
	SessionID      string     `json:"session_id"`
	StageID        string     `json:"stage_id"`
	ExecutionID    string     `json:"execution_id"`
	SequenceNumber int        `json:"sequence_number"`
	Role           Role       `json:"role"`
	Content        string     `json:"content"`
	ToolCalls      []ToolCall `json:"tool_calls"`
	ToolCallID     string     `json:"tool_call_id"`
	ToolName       string     `json:"tool_name"`
	// Signature is what the provider wants back with this answer, as its client wrote it.
	Signature json.RawMessage `json:"signature"`
	CreatedAt time.Time       `json:"created_at"`
}

// shortenedBytes is how much a model is given of a tool result that was shortened.
const shortenedBytes = 2_000

// ContentFor is the content as a model is given it when tool results are shortened through a sequence number.
func (m Message) ContentFor(shortenedThrough int) string {
	if m.ToolCallID == "" || m.SequenceNumber > shortenedThrough || len(m.Content) <= shortenedBytes {
		return m.Content
	}

	return CutText(m.Content, shortenedBytes) +
		fmt.Sprintf("\n\n[shortened: the first %d of %d bytes; the conversation had become too long]", shortenedBytes, len(m.Content))
}

// ToolCall is what the model asked for: a tool by its wire name and arguments as the model wrote them.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
