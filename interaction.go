package tarsy

import (
	"encoding/json"
	"time"
)

// InteractionType is the purpose of an LLM call.
type InteractionType string

// The purposes of LLM calls.
const (
	InteractionIteration        InteractionType = "iteration"
	InteractionForcedConclusion InteractionType = "forced_conclusion"
	InteractionExecutiveSummary InteractionType = "executive_summary"
	InteractionVerdict          InteractionType = "verdict"
	InteractionSummarization    InteractionType = "summarization"
	InteractionSynthesis        InteractionType = "synthesis"
)

// InteractionTypes lists every purpose.
func InteractionTypes() []InteractionType {
	return []InteractionType{
		InteractionIteration, InteractionForcedConclusion, InteractionExecutiveSummary,
		InteractionVerdict, InteractionSummarization, InteractionSynthesis,
	}
}

// Usage counts tokens and their cost.
type Usage struct {
	// Whole prompt, including CachedTokens.
	InputTokens int `json:"input_tokens"`
	// Answer text and tool calls, without ThinkingTokens.
	OutputTokens int `json:"output_tokens"`
	// Billed as output. Zero if the provider does not report them.
	ThinkingTokens int `json:"thinking_tokens"`
	// Part of InputTokens that the provider read from its prompt cache.
	CachedTokens int `json:"cached_tokens"`
	// InputTokens + OutputTokens + ThinkingTokens.
	TotalTokens int `json:"total_tokens"`
	// US dollars, computed from the price table when the call ends. Covers priced tokens only.
	CostUSD float64 `json:"cost_usd"`
	// Tokens of models that the price table does not know. Zero if pricing is disabled.
	UnpricedTokens int `json:"unpriced_tokens"`
}

// LLMInteraction is one finished LLM call, successful or not, stored in full for the trace. Rows are never changed.
type LLMInteraction struct {
	// UUIDv7, chosen when the call ends.
	ID string `json:"id"`
	// The session, never empty.
	SessionID string `json:"session_id"`
	// Both nil for calls that belong to no execution, such as the executive summary.
	StageID     *string `json:"stage_id"`
	ExecutionID *string `json:"execution_id"`
	// Why the call was made.
	InteractionType InteractionType `json:"interaction_type"`
	// Key of the provider in the configuration, and the model as its API names it.
	Provider  string `json:"provider"`
	ModelName string `json:"model_name"`
	// Number of messages the model saw: the first n of the execution, or those in LLMRequest.
	MessageCount int `json:"message_count"`
	// Messages of a self-contained call (summaries) as a JSON array; nil for calls over the execution's own messages.
	LLMRequest json.RawMessage `json:"llm_request"`
	// JSON object with "text" and "tool_calls"; both empty if the call failed before an answer began.
	LLMResponse json.RawMessage `json:"llm_response"`
	// Thinking text; empty if the provider does not reveal it.
	ThinkingContent string `json:"thinking_content"`
	// As the provider reported it, plus the cost. Zero if the call failed before usage was reported.
	Usage Usage `json:"usage"`
	// Wall time in milliseconds, including retries and the waits between them.
	DurationMs int64 `json:"duration_ms"`
	// Number of requests until an answer began or the call was abandoned.
	Attempts int `json:"attempts"`
	// One of llm.StopReason, or a gateway's own value, at most 100 bytes. Empty if the call failed or the provider gave none.
	StopReason string `json:"stop_reason"`
	// Value of Execution.ShortenedThrough during the call, needed to rebuild the prompt.
	ShortenedThrough int `json:"shortened_through"`
	// Both empty on success. The code is stable, e.g. "llm_quota"; the message has secrets masked.
	ErrorCode    string `json:"error_code"`
	ErrorMessage string `json:"error_message"`
	// When the call ended.
	CreatedAt time.Time `json:"created_at"`
}

// CallStatus is the state of an MCP call.
type CallStatus string

// The statuses of MCP calls. A call is stored as started before it is made. A call that is still started when its session is loaded was
// interrupted; CallUnknown means that it may have taken effect. A call that needs an approval is first stored as waiting.
const (
	CallWaiting   CallStatus = "waiting"
	CallStarted   CallStatus = "started"
	CallCompleted CallStatus = "completed"
	CallFailed    CallStatus = "failed"
	CallUnknown   CallStatus = "unknown"
)

// MCPInteraction is one MCP tool call. It is stored before the call is made and updated when the call ends.
type MCPInteraction struct {
	// UUIDv7. Sent to the server in `_meta`, so that it can detect a repeated call.
	ID string `json:"id"`
	// The execution that made the call, and what it belongs to.
	SessionID   string `json:"session_id"`
	StageID     string `json:"stage_id"`
	ExecutionID string `json:"execution_id"`
	// The EventToolCall that shows this call to users.
	TimelineEventID string `json:"timeline_event_id"`
	// ID that the model gave the call, made unique within the execution.
	ToolCallID string `json:"tool_call_id"`
	// Server and tool without the wire prefix. The server is empty if the model named a tool without one.
	ServerName string `json:"server_name"`
	ToolName   string `json:"tool_name"`
	// JSON as the model wrote it; a JSON string if it was not valid JSON.
	ToolArguments json.RawMessage `json:"tool_arguments"`
	// Masked text, truncated to about 8,000 tokens. Empty until the call ends.
	ToolResult string `json:"tool_result"`
	// Text that the model received instead of a long result; empty if the result was not summarized.
	Summary string `json:"summary"`
	// Wire names of all tools that the execution had.
	AvailableTools []string `json:"available_tools"`
	// Declared by the tool. An interrupted call is repeated only if this is true.
	ReadOnly bool `json:"read_only"`
	// The tool reported an error, could not be called, or the outcome is unknown.
	IsError bool `json:"is_error"`
	// Number of times the call was made, from one.
	Attempt int `json:"attempt"`
	// CallWaiting or CallStarted until the call ends.
	Status CallStatus `json:"status"`
	// The approval that the call requires or required; nil if it requires none.
	Approval *Approval `json:"approval"`
	// Milliseconds that the call took, excluding the wait for an approval; zero if it was interrupted or not made.
	DurationMs int64 `json:"duration_ms"`
	// Set only if the call was still open when its execution was closed. Errors of tools are in ToolResult.
	ErrorMessage string `json:"error_message"`
	// Just before the call was made, or its approval was requested.
	CreatedAt time.Time `json:"created_at"`
	// Nil until the call ends.
	CompletedAt *time.Time `json:"completed_at"`
}
