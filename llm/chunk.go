package llm

import "fmt"

// Chunk is a piece of a streamed answer: one of the eight kinds below.
type Chunk interface{ chunk() }

// TextChunk is a piece of the answer's text.
type TextChunk struct{ Text string }

// ThinkingChunk is a piece of the model's thinking, if the provider shows it.
type ThinkingChunk struct{ Text string }

// ToolCallChunk is one complete tool call.
type ToolCallChunk struct{ Call ToolCall }

// CodeExecutionChunk is code that the provider ran, and its result.
type CodeExecutionChunk struct {
	Code   string
	Result string
}

// GroundingChunk reports what the provider searched or fetched on its own.
type GroundingChunk struct {
	Kind    string // "google_search" or "url_context"
	Queries []string
	Sources []Source
}

// Source is a page that an answer is based on.
type Source struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// UsageChunk counts the tokens of the call; it comes once, near the end. However a provider counts, InputTokens includes
// CachedTokens, and OutputTokens does not include ThinkingTokens.
type UsageChunk struct {
	InputTokens    int
	OutputTokens   int
	ThinkingTokens int
	CachedTokens   int
}

// EndChunk reports how the answer ended; it is the last chunk of a complete answer. A client that has nothing to report omits
// it, which means StopEnd and no signature.
type EndChunk struct {
	Reason    StopReason
	Signature *Signature
}

// StopReason is why a model stopped.
type StopReason string

// The stop reasons. A withheld answer is not one of them: clients return it as an Error of ClassSafety.
const (
	StopEnd       StopReason = "end"
	StopToolCalls StopReason = "tool_calls"
	// StopMaxTokens: the answer was cut off, at MaxOutputTokens or at the model's own limit.
	StopMaxTokens StopReason = "max_tokens"
	StopSequence  StopReason = "stop_sequence"
)

// ErrorChunk is an error that the provider reported within the stream. Consumers treat it as an error; AsError classifies it.
type ErrorChunk struct { //nolint:errname // a chunk in the first place
	Message   string
	Code      string
	Retryable bool
}

func (TextChunk) chunk()          {}
func (ThinkingChunk) chunk()      {}
func (ToolCallChunk) chunk()      {}
func (CodeExecutionChunk) chunk() {}
func (GroundingChunk) chunk()     {}
func (UsageChunk) chunk()         {}
func (EndChunk) chunk()           {}
func (ErrorChunk) chunk()         {}

// Error implements error.
func (e ErrorChunk) Error() string {
	if e.Code == "" {
		return e.Message
	}

	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}
