package tarsy

import (
	"encoding/json"
	"time"
)

// Trace lists every LLM and MCP call of a session, without texts, under the execution that made it.
type Trace struct {
	// The session the trace belongs to.
	SessionID string `json:"session_id"`
	// Number of the last journal event included.
	Version int64 `json:"version"`
	// Sum over all LLM calls, including SessionInteractions.
	Usage Usage `json:"usage"`
	// Ordered by StageIndex; empty, not nil, before the first stage.
	Stages []TraceStage `json:"stages"`
	// Calls that belong to no execution, such as the executive summary.
	SessionInteractions []LLMInteractionItem `json:"session_interactions"`
	// Takeovers in the order in which they happened, at most the first 100; empty, not nil.
	Interruptions []Interruption `json:"interruptions"`
}

// Interruption is a gap in the work on a session, from when its server stopped responding until another one took over.
type Interruption struct {
	// The server that stopped responding.
	ServerID string `json:"server_id"`
	// When it last renewed its lease. It stopped at that time or shortly after, so calls may have ended later.
	LastSeenAt time.Time `json:"last_seen_at"`
	// The server that continued the session; the same ID if that server was restarted under its name.
	ResumedBy string `json:"resumed_by"`
	// When that server took over.
	ResumedAt time.Time `json:"resumed_at"`
}

// TraceStage is a stage in a trace.
type TraceStage struct {
	// Same as in Stage.
	StageID   string    `json:"stage_id"`
	StageName string    `json:"stage_name"`
	StageType StageType `json:"stage_type"`
	// From one, over all types.
	StageIndex int    `json:"stage_index"`
	Status     Status `json:"status"`
	// Sum over the executions.
	Usage Usage `json:"usage"`
	// Ordered by AgentIndex.
	Executions []TraceExecution `json:"executions"`
}

// TraceExecution is an execution in a trace.
type TraceExecution struct {
	// Same as in Execution.
	ExecutionID string `json:"execution_id"`
	AgentName   string `json:"agent_name"`
	AgentIndex  int    `json:"agent_index"`
	// How the agent worked, and the provider it used last.
	IterationStrategy string `json:"iteration_strategy"`
	LLMProvider       string `json:"llm_provider"`
	// Current when the trace was read.
	Status Status `json:"status"`
	// Sum over all LLM calls of the execution, including those on other pages.
	Usage Usage `json:"usage"`
	// Each ordered by CreatedAt; empty, not nil, if there are none.
	LLMInteractions []LLMInteractionItem `json:"llm_interactions"`
	MCPInteractions []MCPInteractionItem `json:"mcp_interactions"`
}

// LLMInteractionItem is an LLMInteraction as the trace lists it, without prompt and answer.
type LLMInteractionItem struct {
	// Same as in LLMInteraction.
	ID              string          `json:"id"`
	InteractionType InteractionType `json:"interaction_type"`
	// Key of the provider in the configuration, and the model as its API names it.
	Provider  string `json:"provider"`
	ModelName string `json:"model_name"`
	// Number of messages the model saw.
	MessageCount int `json:"message_count"`
	// Tokens and cost of this call alone.
	Usage Usage `json:"usage"`
	// Milliseconds, including all attempts.
	DurationMs int64 `json:"duration_ms"`
	Attempts   int   `json:"attempts"`
	// Empty if the provider gave none.
	StopReason string `json:"stop_reason"`
	// Both empty on success.
	ErrorCode    string `json:"error_code"`
	ErrorMessage string `json:"error_message"`
	// When the call ended.
	CreatedAt time.Time `json:"created_at"`
}

// MCPInteractionItem is an MCPInteraction as the trace lists it, without arguments and result.
type MCPInteractionItem struct {
	// Same as in MCPInteraction.
	ID              string `json:"id"`
	TimelineEventID string `json:"timeline_event_id"`
	ToolCallID      string `json:"tool_call_id"`
	// The server is empty if the model named a tool without one.
	ServerName string `json:"server_name"`
	ToolName   string `json:"tool_name"`
	// CallWaiting or CallStarted until the call ends; IsError is false until then.
	Status  CallStatus `json:"status"`
	IsError bool       `json:"is_error"`
	// Number of times the call was made, from one.
	Attempt int `json:"attempt"`
	// Declared by the tool.
	ReadOnly bool `json:"read_only"`
	// Milliseconds; zero until the call ends.
	DurationMs int64 `json:"duration_ms"`
	// Set only if the call was still open when its execution was closed.
	ErrorMessage string `json:"error_message"`
	// Just before the call, and when it ended; CompletedAt is nil until then.
	CreatedAt   time.Time  `json:"created_at"`
	CompletedAt *time.Time `json:"completed_at"`
	// The model received a summary instead of the result.
	Summarized bool `json:"summarized"`
}

// LLMInteractionDetail is an LLM call in full, with the conversation as the model saw it.
type LLMInteractionDetail struct {
	LLMInteraction

	// Prompt of the call in order; empty, not nil.
	Conversation []TraceMessage `json:"conversation"`
	// Nil if the call ended before the model answered.
	Response *TraceMessage `json:"response"`
}

// TraceMessage is one turn of a conversation as the model saw it.
type TraceMessage struct {
	// Same as in Message.
	Role Role `json:"role"`
	// Shortened if the model received it shortened.
	Content string `json:"content"`
	// Empty, not nil, if the message requests none.
	ToolCalls []ToolCall `json:"tool_calls"`
	// Empty unless the message is a tool result.
	ToolCallID string `json:"tool_call_id"`
	ToolName   string `json:"tool_name"`
}

// Add adds the usage of another call.
func (u *Usage) Add(other Usage) {
	u.InputTokens += other.InputTokens
	u.OutputTokens += other.OutputTokens
	u.ThinkingTokens += other.ThinkingTokens
	u.CachedTokens += other.CachedTokens
	u.TotalTokens += other.TotalTokens
	u.CostUSD += other.CostUSD
	u.UnpricedTokens += other.UnpricedTokens
}

// Detail rebuilds the conversation. Messages are those of the execution that the call saw; a call with its own request needs none.
func (i LLMInteraction) Detail(messages []Message) LLMInteractionDetail {
	detail := LLMInteractionDetail{LLMInteraction: i, Conversation: []TraceMessage{}, Response: i.response()}

	for _, m := range messages {
		detail.Conversation = append(detail.Conversation, TraceMessage{
			Role: m.Role, Content: m.ContentFor(i.ShortenedThrough), ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID, ToolName: m.ToolName,
		})
	}

	if i.LLMRequest != nil {
		detail.Conversation = i.request()
	}

	for n := range detail.Conversation {
		detail.Conversation[n].fill()
	}

	return detail
}

// request decodes the messages that the call stores. One that cannot be decoded is still visible in LLMRequest.
func (i LLMInteraction) request() []TraceMessage {
	var messages []TraceMessage

	err := json.Unmarshal(i.LLMRequest, &messages)
	if err != nil || messages == nil {
		return []TraceMessage{}
	}

	return messages
}

func (i LLMInteraction) response() *TraceMessage {
	var answer struct {
		Text      string     `json:"text"`
		ToolCalls []ToolCall `json:"tool_calls"`
	}

	if i.LLMResponse == nil || json.Unmarshal(i.LLMResponse, &answer) != nil {
		return nil
	}

	if i.ErrorCode != "" && answer.Text == "" && len(answer.ToolCalls) == 0 {
		return nil
	}

	response := &TraceMessage{Role: RoleAssistant, Content: answer.Text, ToolCalls: answer.ToolCalls}
	response.fill()

	return response
}

// fill replaces nil tool calls with an empty list.
func (m *TraceMessage) fill() {
	if m.ToolCalls == nil {
		m.ToolCalls = []ToolCall{}
	}
}
