package llm

import "fmt"

// Chunk is a piece of a streamed answer: one of the eight kinds below.
type Chunk interface{ chunk() }

// TextChunk is a piece of the answer's text.
type TextChunk struct{ Text string }

// ThinkingChunk is a piece of the model's thinking, where the provider shows it.
type ThinkingChunk struct{ Text string }

// ToolCallChunk is one whole tool call.
type ToolCallChunk struct{ Call ToolCall }

// CodeExecutionChunk is code that the provider ran, and what came out.
type CodeExecutionChunk struct {
	Code   string
	Result string
}

// GroundingChunk tells what the provider searched or fetched on its own.
type GroundingChunk struct {
	Kind    string // "google_search" or "url_context"
	Queries []string
	Sources []Source
}

// Source is a page that an answer rests on.
type Source struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// UsageChunk counts the tokens of the call; it comes once, near the end. Whatever a provider counts how, here
// InputTokens includes CachedTokens, and OutputTokens does not include ThinkingTokens.
type UsageChunk struct {
	InputTokens    int
	OutputTokens   int
	ThinkingTokens int
	CachedTokens   int
}

// EndChunk tells how the answer ended; it is the last chunk of an answer that came to its end. A client that has
// nothing to tell leaves it out, which means StopEnd and no signature.
type EndChunk struct {
	Reason    StopReason
	Signature *Signature
}

// StopReason is why a model stopped.
type StopReason string

// The reasons to stop. An answer that was withheld is no answer: clients return it as an Error of ClassSafety.
const (
	StopEnd       StopReason = "end"
	StopToolCalls StopReason = "tool_calls"
	// StopMaxTokens: the answer is cut, at MaxOutputTokens or at the model's own limit.
	StopMaxTokens StopReason = "max_tokens"
	StopSequence  StopReason = "stop_sequence"
)

// ErrorChunk is an error that the provider reported within the stream. Consumers treat it as the error it carries;
// AsError tells its class.
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

// Error makes an ErrorChunk usable as the error it is.
func (e ErrorChunk) Error() string {
	if e.Code == "" {
		return e.Message
	}

	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}
