package tarsy

import "encoding/json"

// The structs below are the metadata of timeline events. Their tags are their documentation: internal/eventschema makes
// the JSON Schema of docs/events.schema.json from them. `doc` says what a field is, `schema` names a shared definition,
// `minimum` and `const` bound its value; a field with omitempty may be absent.

// ToolCallMetadata is the metadata of EventToolCall.
type ToolCallMetadata struct {
	Call       string          `doc:"The call's number in its session: stage, agent, and its place among the agent's calls." json:"call" schema:"call"`
	ServerName string          `doc:"The MCP server." json:"server_name"`
	ToolName   string          `doc:"The tool." json:"tool_name"`
	Arguments  json.RawMessage `doc:"What the model gave it, whatever that is." json:"arguments"`

	// ToolCallResult is nil until the call has ended.
	*ToolCallResult
}

// ToolCallResult is the part of a tool call's metadata that is known when the call has ended.
type ToolCallResult struct {
	IsError      bool   `doc:"The tool failed; when completed." json:"is_error"`
	Attempt      int    `doc:"How often it was called; when completed." json:"attempt" minimum:"1"`
	DurationMs   int64  `doc:"How long it took; when completed." json:"duration_ms" minimum:"0"`
	ResultTokens int    `doc:"How long the result was as the tool gave it, estimated; when completed." json:"result_tokens" minimum:"0"`
	Outcome      string `const:"unknown" doc:"Nobody knows whether the call took effect." json:"outcome,omitempty"`
}

// OutcomeUnknown is the outcome of a tool call that was cut off when it may have taken effect.
const OutcomeUnknown = "unknown"

// ToolSummaryMetadata is the metadata of EventToolSummary.
type ToolSummaryMetadata struct {
	ServerName      string `doc:"The MCP server." json:"server_name"`
	ToolName        string `doc:"The tool." json:"tool_name"`
	ToolCallEventID string `doc:"The timeline event of the call." json:"tool_call_event_id" schema:"id"`
	OriginalTokens  int    `doc:"How long the result was, estimated." json:"original_tokens" minimum:"1"`
}

// ErrorMetadata is the metadata of EventError.
type ErrorMetadata struct {
	Code string `doc:"A stable name for what went wrong." json:"code" schema:"code"`
}

// QuestionMetadata is the metadata of EventUserQuestion.
type QuestionMetadata struct {
	Author    string `doc:"Who asked." json:"author"`
	ChatID    string `doc:"The session's chat." json:"chat_id" schema:"id"`
	MessageID string `doc:"The question." json:"message_id" schema:"id"`
}

// FinalAnalysisMetadata is the metadata of EventFinalAnalysis. The last four fields say what was special about the
// conclusion; most analyses have none of them.
type FinalAnalysisMetadata struct {
	Citations        []Citation       `doc:"The tool calls that its marks name: the call's number, and its timeline event." json:"citations,omitempty"`
	UnknownCitations []string         `doc:"Marks that name no call of this agent or of an earlier stage: nothing supports them." json:"unknown_citations,omitempty" schema:"call"`
	ForcedConclusion bool             `doc:"The agent was told to conclude before it was done." json:"forced_conclusion,omitempty"`
	Reason           ForcedConclusion `doc:"Why it was told." json:"reason,omitempty"`
	MaxIterations    int              `doc:"How many iterations it may have; with forced_conclusion." json:"max_iterations,omitempty" minimum:"1"`
	CutOff           bool             `doc:"The model reached its limit of tokens before it was done." json:"cut_off,omitempty"`
}

// CodeExecutionMetadata is the metadata of EventCodeExecution.
type CodeExecutionMetadata struct {
	Code string `doc:"The code." json:"code"`
}

// GroundingMetadata is the metadata of EventGoogleSearch and EventURLContext.
type GroundingMetadata struct {
	Queries []string          `doc:"What was searched for." json:"queries"`
	Sources []GroundingSource `doc:"Title and url of each page." json:"sources"`
}

// GroundingSource is a page that the provider searched or read.
type GroundingSource struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// ProviderFallbackMetadata is the metadata of EventProviderFallback.
type ProviderFallbackMetadata struct {
	From string `doc:"The provider that failed." json:"from"`
	To   string `doc:"The provider that goes on." json:"to"`
	Code string `doc:"A stable name for what went wrong." json:"code" schema:"code"`
}

// ContextShortenedMetadata is the metadata of EventContextShortened.
type ContextShortenedMetadata struct {
	Results int `doc:"How many tool results the model is given shortened from now on." json:"results" minimum:"1"`
	Through int `doc:"The number of the last message that may be shortened." json:"through" minimum:"1"`
}
