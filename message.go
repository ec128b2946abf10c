package tarsy

import "time"

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
	CreatedAt      time.Time  `json:"created_at"`
}

// ToolCall is what the model asked for: a tool by its wire name and arguments as the model wrote them.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
