package llm

import "fmt"

// Chunk is a piece of a streamed answer: one of the seven kinds below.
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

// UsageChunk counts the tokens of the call; it comes once, near the end.
type UsageChunk struct {
	InputTokens    int
	OutputTokens   int
	ThinkingTokens int
	CachedTokens   int
}

// ErrorChunk is an error that the provider reported within the stream. Consumers treat it as the error it carries.
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
func (ErrorChunk) chunk()         {}

// Error makes an ErrorChunk usable as the error it is.
func (e ErrorChunk) Error() string {
	if e.Code == "" {
		return e.Message
	}

	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}
