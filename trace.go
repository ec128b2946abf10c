package tarsy

import (
	"encoding/json"
	"time"
)

// Trace is what went on inside a session: every interaction, without its texts, under the execution that made it.
// Version is the number of the last journal event that it includes.
type Trace struct {
	SessionID string `json:"session_id"`
	Version   int64  `json:"version"`
	// Usage is that of all LLM calls, those of SessionInteractions included.
	Usage  Usage        `json:"usage"`
	Stages []TraceStage `json:"stages"`
	// SessionInteractions belong to no execution, such as the executive summary.
	SessionInteractions []LLMInteractionItem `json:"session_interactions"`
}

// TraceStage is a stage of a trace. Its usage is that of its executions.
type TraceStage struct {
	StageID    string           `json:"stage_id"`
	StageName  string           `json:"stage_name"`
	StageType  StageType        `json:"stage_type"`
	StageIndex int              `json:"stage_index"`
	Status     Status           `json:"status"`
	Usage      Usage            `json:"usage"`
	Executions []TraceExecution `json:"executions"`
}

// TraceExecution is an execution of a trace; its interactions stand in the order of their times.
type TraceExecution struct {
	ExecutionID       string               `json:"execution_id"`
	AgentName         string               `json:"agent_name"`
	AgentIndex        int                  `json:"agent_index"`
	IterationStrategy string               `json:"iteration_strategy"`
	LLMProvider       string               `json:"llm_provider"`
	Status            Status               `json:"status"`
	Usage             Usage                `json:"usage"`
	LLMInteractions   []LLMInteractionItem `json:"llm_interactions"`
	MCPInteractions   []MCPInteractionItem `json:"mcp_interactions"`
}

// LLMInteractionItem is an LLMInteraction as the trace lists it.
type LLMInteractionItem struct {
	ID              string          `json:"id"`
	InteractionType InteractionType `json:"interaction_type"`
	Provider        string          `json:"provider"`
	ModelName       string          `json:"model_name"`
	MessageCount    int             `json:"message_count"`
	Usage           Usage           `json:"usage"`
	DurationMs      int64           `json:"duration_ms"`
	Attempts        int             `json:"attempts"`
	StopReason      string          `json:"stop_reason"`
	ErrorCode       string          `json:"error_code"`
	ErrorMessage    string          `json:"error_message"`
	CreatedAt       time.Time       `json:"created_at"`
}

// MCPInteractionItem is an MCPInteraction as the trace lists it. Summarized tells that the model was given a summary
// instead of the result.
type MCPInteractionItem struct {
	ID              string     `json:"id"`
	TimelineEventID string     `json:"timeline_event_id"`
	ToolCallID      string     `json:"tool_call_id"`
	ServerName      string     `json:"server_name"`
	ToolName        string     `json:"tool_name"`
	Status          CallStatus `json:"status"`
	IsError         bool       `json:"is_error"`
	Attempt         int        `json:"attempt"`
	ReadOnly        bool       `json:"read_only"`
	DurationMs      int64      `json:"duration_ms"`
	ErrorMessage    string     `json:"error_message"`
	CreatedAt       time.Time  `json:"created_at"`
	CompletedAt     *time.Time `json:"completed_at"`
	Summarized      bool       `json:"summarized"`
}

// LLMInteractionDetail is an LLM call in full, with the conversation as the model saw it.
type LLMInteractionDetail struct {
	LLMInteraction

	Conversation []TraceMessage `json:"conversation"`
	// Response is nil if the call ended before the model said anything.
	Response *TraceMessage `json:"response"`
}

// TraceMessage is one turn of a conversation.
type TraceMessage struct {
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
	ToolName   string     `json:"tool_name"`
}

// Add adds what another call used.
func (u *Usage) Add(other Usage) {
	u.InputTokens += other.InputTokens
	u.OutputTokens += other.OutputTokens
	u.ThinkingTokens += other.ThinkingTokens
	u.CachedTokens += other.CachedTokens
	u.TotalTokens += other.TotalTokens
	u.CostUSD += other.CostUSD
	u.UnpricedTokens += other.UnpricedTokens
}

// Detail puts the conversation back together. Messages are those of the call's execution that it saw; a call that
// carries its own request does not need them.
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

// request reads the messages that the call carries. A request of another form is shown in full anyway, as it is.
func (i LLMInteraction) request() []TraceMessage {
	var messages []TraceMessage

	err := json.Unmarshal(i.LLMRequest, &messages)
	if err != nil || messages == nil {
		return []TraceMessage{}
	}

	return messages
}

func (i LLMInteraction) response() *TraceMessage {
	var said struct {
		Text      string     `json:"text"`
		ToolCalls []ToolCall `json:"tool_calls"`
	}

	if i.LLMResponse == nil || json.Unmarshal(i.LLMResponse, &said) != nil {
		return nil
	}

	if i.ErrorCode != "" && said.Text == "" && len(said.ToolCalls) == 0 {
		return nil
	}

	response := &TraceMessage{Role: RoleAssistant, Content: said.Text, ToolCalls: said.ToolCalls}
	response.fill()

	return response
}

// fill makes no tool calls an empty list.
func (m *TraceMessage) fill() {
	if m.ToolCalls == nil {
		m.ToolCalls = []ToolCall{}
	}
}
