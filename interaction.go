package tarsy

import (
	"encoding/json"
	"time"
)

// InteractionType says what an LLM call was for.
type InteractionType string

// The purposes of LLM calls.
const (
	InteractionIteration        InteractionType = "iteration"
	InteractionForcedConclusion InteractionType = "forced_conclusion"
	InteractionExecutiveSummary InteractionType = "executive_summary"
	InteractionSummarization    InteractionType = "summarization"
	InteractionSynthesis        InteractionType = "synthesis"
)

// Usage counts tokens, and what they cost.
type Usage struct {
	InputTokens    int `json:"input_tokens"`
	OutputTokens   int `json:"output_tokens"`
	ThinkingTokens int `json:"thinking_tokens"`
	CachedTokens   int `json:"cached_tokens"`
	TotalTokens    int `json:"total_tokens"`
	// CostUSD is what the tokens cost whose price is known; UnpricedTokens are the others.
	CostUSD        float64 `json:"cost_usd"`
	UnpricedTokens int     `json:"unpriced_tokens"`
}

// LLMInteraction is one finished LLM call, kept in full for the trace. Calls of an execution that use its messages
// store how many messages they saw; self-contained calls store their request in LLMRequest.
type LLMInteraction struct {
	ID              string          `json:"id"`
	SessionID       string          `json:"session_id"`
	StageID         *string         `json:"stage_id"`
	ExecutionID     *string         `json:"execution_id"`
	InteractionType InteractionType `json:"interaction_type"`
	Provider        string          `json:"provider"`
	ModelName       string          `json:"model_name"`
	MessageCount    int             `json:"message_count"`
	LLMRequest      json.RawMessage `json:"llm_request"`
	LLMResponse     json.RawMessage `json:"llm_response"`
	ThinkingContent string          `json:"thinking_content"`
	Usage           Usage           `json:"usage"`
	DurationMs      int64           `json:"duration_ms"`
	// Attempts is how often the call was made until an answer began, or until it was given up.
	Attempts   int    `json:"attempts"`
	StopReason string `json:"stop_reason"`
	// ShortenedThrough is the number of the last message whose result the model was given shortened.
	ShortenedThrough int       `json:"shortened_through"`
	ErrorCode        string    `json:"error_code"`
	ErrorMessage     string    `json:"error_message"`
	CreatedAt        time.Time `json:"created_at"`
}

// CallStatus is how far an MCP call has come.
type CallStatus string

// The statuses of MCP calls. A call is written down as started before it is made; one that is still started when
// its session is loaded was cut off.
const (
	CallStarted   CallStatus = "started"
	CallCompleted CallStatus = "completed"
	CallFailed    CallStatus = "failed"
	CallUnknown   CallStatus = "unknown"
)

// MCPInteraction is one MCP tool call. Summary is what the model was given instead of a long result. Its id travels with the call in `_meta`, so that a server can tell a repeat.
type MCPInteraction struct {
	ID              string          `json:"id"`
	SessionID       string          `json:"session_id"`
	StageID         string          `json:"stage_id"`
	ExecutionID     string          `json:"execution_id"`
	TimelineEventID string          `json:"timeline_event_id"`
	ToolCallID      string          `json:"tool_call_id"`
	ServerName      string          `json:"server_name"`
	ToolName        string          `json:"tool_name"`
	ToolArguments   json.RawMessage `json:"tool_arguments"`
	ToolResult      string          `json:"tool_result"`
	Summary         string          `json:"summary"`
	AvailableTools  []string        `json:"available_tools"`
	ReadOnly        bool            `json:"read_only"`
	IsError         bool            `json:"is_error"`
	Attempt         int             `json:"attempt"`
	Status          CallStatus      `json:"status"`
	DurationMs      int64           `json:"duration_ms"`
	ErrorMessage    string          `json:"error_message"`
	CreatedAt       time.Time       `json:"created_at"`
	CompletedAt     *time.Time      `json:"completed_at"`
}
