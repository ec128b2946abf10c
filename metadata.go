package tarsy

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Metadata is the additional data of a timeline event: one JSON object, or nil. The event's type determines which of the structs below it
// encodes; NewMetadata encodes one and MetadataAs decodes one. It remains JSON because rows, REST responses and journal events pass it on
// without decoding it, and so that keys written by a newer release are not lost. Its keys are sorted, so that its bytes are the same
// whether it was encoded here or read from the database, which orders keys differently.
type Metadata json.RawMessage

// MetadataType is any of the metadata structs below.
type MetadataType interface {
	ToolCallMetadata | ToolCallResult | ToolSummaryMetadata | ErrorMetadata | QuestionMetadata | FinalAnalysisMetadata |
		CodeExecutionMetadata | GroundingMetadata | ProviderFallbackMetadata | ContextShortenedMetadata
}

// NewMetadata encodes a metadata struct. It returns nil if the object would have no keys.
func NewMetadata[T MetadataType](value T) Metadata {
	var keys map[string]any

	raw, err := json.Marshal(value)
	if err == nil {
		err = decodeExact(raw, &keys)
	}

	if err != nil {
		// Only the arguments of a tool call could fail, and the agent has encoded them itself.
		panic("tarsy: metadata does not marshal: " + err.Error())
	}

	if len(keys) == 0 {
		return nil
	}

	return sortedMetadata(keys)
}

// sortedMetadata encodes decoded JSON with sorted keys, which always succeeds.
func sortedMetadata(keys any) Metadata {
	var out bytes.Buffer

	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)

	err := encoder.Encode(keys)
	if err != nil {
		panic("tarsy: decoded JSON does not marshal: " + err.Error())
	}

	return bytes.TrimSpace(out.Bytes())
}

// MetadataAs decodes metadata. Unknown keys are ignored and values of an unexpected type leave their field empty, because rows of other
// releases must remain readable.
func MetadataAs[T MetadataType](m Metadata) T {
	var value T

	// Ignore the error: Unmarshal still sets the fields that it can decode.
	_ = json.Unmarshal(m, &value)

	return value
}

// Merge adds the keys of next, which replace existing ones. Keys that this release does not know are kept.
func (m Metadata) Merge(next Metadata) Metadata {
	if len(next) == 0 {
		return m
	}

	var merged, added map[string]json.RawMessage

	if json.Unmarshal(m, &merged) != nil || json.Unmarshal(next, &added) != nil || merged == nil {
		return next
	}

	maps.Copy(merged, added)

	return sortedMetadata(merged)
}

// MarshalJSON implements json.Marshaler.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if len(m) == 0 {
		return []byte("null"), nil
	}

	return m, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Metadata) UnmarshalJSON(raw []byte) error {
	*m = nil

	var keys any

	err := decodeExact(raw, &keys)
	if err == nil && keys != nil {
		*m = sortedMetadata(keys)
	}

	return err
}

// decodeExact decodes a JSON text so that the numbers in it, such as those of a call's arguments, keep all their digits.
func decodeExact(raw []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()

	return decoder.Decode(value)
}

// The structs below are the metadata of timeline events. Their tags are the published documentation: internal/eventschema generates the
// JSON Schema of docs/events.schema.json from them. `doc` describes a field, `schema` names a shared definition, `minimum` and `const`
// restrict its value; a field with omitempty may be absent.

// ToolCallMetadata is the metadata of EventToolCall.
type ToolCallMetadata struct {
	// Written by CallNumber. Empty in rows that predate call numbers.
	Call string `doc:"The number of the call in its session: stage, agent, and position among the agent's calls." json:"call" schema:"call"`
	// Same as in MCPInteraction.
	ServerName string `doc:"The MCP server." json:"server_name"`
	ToolName   string `doc:"The tool." json:"tool_name"`
	// Any JSON value; a string if the model did not write valid JSON. Omitted from previews if long.
	Arguments json.RawMessage `doc:"The arguments as the model wrote them." json:"arguments"`
	// ID of the MCPInteraction, and the approval that it needs. Empty and nil if it needs none.
	ApprovalID string    `doc:"The approval that the call needs; absent if it needs none." json:"approval_id,omitempty" schema:"id"`
	Approval   *Approval `doc:"The approval as it is now; absent if the call needs none." json:"approval,omitempty"`

	// Nil until the call has ended.
	*ToolCallResult
}

// ToolCallResult is the part of a tool call's metadata that is added when the call ends.
type ToolCallResult struct {
	// Same as in MCPInteraction.
	IsError    bool  `doc:"Whether the tool failed; set when completed." json:"is_error"`
	Attempt    int   `doc:"The number of attempts; set when completed." json:"attempt" minimum:"1"`
	DurationMs int64 `doc:"The duration; set when completed." json:"duration_ms" minimum:"0"`
	// Size before truncation and summarizing, at four bytes a token.
	ResultTokens int `doc:"The estimated length of the tool's full result; set when completed." json:"result_tokens" minimum:"0"`
	// OutcomeUnknown or empty.
	Outcome string `const:"unknown" doc:"The call was cut off and may have taken effect." json:"outcome,omitempty"`
}

// OutcomeUnknown is the outcome of a tool call that was interrupted and may have taken effect.
const OutcomeUnknown = "unknown"

// ToolSummaryMetadata is the metadata of EventToolSummary.
type ToolSummaryMetadata struct {
	// Server and tool whose result was summarized.
	ServerName string `doc:"The MCP server." json:"server_name"`
	ToolName   string `doc:"The tool." json:"tool_name"`
	// The EventToolCall with the full result.
	ToolCallEventID string `doc:"The timeline event of the call." json:"tool_call_event_id" schema:"id"`
	// Size of the full result, at four bytes a token.
	OriginalTokens int `doc:"The estimated length of the full result." json:"original_tokens" minimum:"1"`
}

// ErrorMetadata is the metadata of EventError.
type ErrorMetadata struct {
	// Same as Execution.ErrorCode, or one of the codes in this package that do not fail the execution.
	Code string `doc:"A stable error code." json:"code" schema:"code"`
	// Set with ErrorQuestionRefused: the id that was returned for the question.
	MessageID string `doc:"The question that cannot be answered; set with question_refused." json:"message_id,omitempty" schema:"id"`
}

// QuestionMetadata is the metadata of EventUserQuestion.
type QuestionMetadata struct {
	// From the ChatUserMessage.
	Author    string `doc:"The author of the question." json:"author"`
	ChatID    string `doc:"The session's chat." json:"chat_id" schema:"id"`
	MessageID string `doc:"The question." json:"message_id" schema:"id"`
}

// FinalAnalysisMetadata is the metadata of EventFinalAnalysis. Fields other than Citations are set only if the analysis is unusual.
type FinalAnalysisMetadata struct {
	// In order of first appearance, at most 200. Nil if the analysis cites nothing.
	Citations []Citation `doc:"The cited tool calls: the number of each call, and its timeline event." json:"citations,omitempty"`
	// Call numbers that the model invented or could not have seen.
	UnknownCitations []string `doc:"Citations that match no call of this agent or of an earlier stage." json:"unknown_citations,omitempty" schema:"call"`
	// The agent was forced to conclude. Reason and MaxIterations are set only then.
	ForcedConclusion bool             `doc:"The agent had to conclude early." json:"forced_conclusion,omitempty"`
	Reason           ForcedConclusion `doc:"Why the agent had to conclude." json:"reason,omitempty"`
	MaxIterations    int              `doc:"The iteration limit; set with forced_conclusion." json:"max_iterations,omitempty" minimum:"1"`
	// The analysis is incomplete: it reached the output token limit.
	CutOff bool `doc:"The model reached its output limit before it was done." json:"cut_off,omitempty"`
}

// CodeExecutionMetadata is the metadata of EventCodeExecution.
type CodeExecutionMetadata struct {
	// Source that the provider ran. The output is the event's content.
	Code string `doc:"The code." json:"code"`
}

// GroundingMetadata is the metadata of EventGoogleSearch and EventURLContext.
type GroundingMetadata struct {
	// Empty, not nil, if the provider fetched URLs without searching.
	Queries []string `doc:"The search queries." json:"queries"`
	// In the provider's order. Also in the event's content, one per line.
	Sources []GroundingSource `doc:"The title and URL of each page." json:"sources"`
}

// GroundingSource is a page that the provider found or read.
type GroundingSource struct {
	// As the provider reported them; either may be empty.
	Title string `json:"title"`
	URL   string `json:"url"`
}

// ProviderFallbackMetadata is the metadata of EventProviderFallback.
type ProviderFallbackMetadata struct {
	// Keys of providers in the configuration. All later calls of the execution use To.
	From string `doc:"The provider that failed." json:"from"`
	To   string `doc:"The provider that continues." json:"to"`
	// Error code of the call that failed.
	Code string `doc:"A stable error code." json:"code" schema:"code"`
}

// ContextShortenedMetadata is the metadata of EventContextShortened.
type ContextShortenedMetadata struct {
	// Number of tool results, or of parts of the first prompt, that are shortened; at least one.
	Results int `doc:"The number of tool results, or parts of the prompt, that are shortened from now on." json:"results" minimum:"1"`
	// Same as Execution.ShortenedThrough, or the number of the prompt.
	Through int `doc:"The number of the last message that may be shortened." json:"through" minimum:"1"`
}
