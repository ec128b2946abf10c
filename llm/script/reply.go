package script

import (
	"errors"
	"strconv"
	"unicode"
	"unicode/utf8"

	"tarsy.dev/tarsy/llm"
)

// Reply is one scripted answer. Its chunks are the thinking in pieces, the text in pieces, the tool calls and the
// usage, in this order; or exactly Chunks. The zero Reply is an empty answer.
type Reply struct {
	Text     string
	Thinking string
	// ToolCalls without an ID get call_1, call_2, … counted on from the tool calls that the request already holds, so
	// ids are unique in a conversation and the same whenever it is played.
	ToolCalls []llm.ToolCall
	// Chunks are played as they are, instead of Text, Thinking and ToolCalls; Usage, if set, follows them.
	Chunks []llm.Chunk
	// Usage is estimated from the request and the answer where it is nil.
	Usage *llm.UsageChunk

	// Err ends the call after AfterChunks chunks, or after all of them if there are fewer.
	Err error
	// Hang stops the stream after AfterChunks chunks until the call's context is done.
	Hang        bool
	AfterChunks int
	// Gate holds the stream after GateAfter chunks until it is opened: before the first chunk by default, before
	// the end of the call if there are no more chunks.
	Gate      *Gate
	GateAfter int
	// Expect checks the request; its error becomes the call's error, before the first chunk and before the gate.
	Expect func(*llm.Request) error
}

var errBothWays = errors.New("a scripted reply has Chunks, or Text, Thinking and ToolCalls, but not both")

// chunks is all that the reply streams.
func (r *Reply) chunks(req *llm.Request) ([]llm.Chunk, error) {
	if r.Chunks != nil {
		if r.Text != "" || r.Thinking != "" || len(r.ToolCalls) > 0 {
			return nil, errBothWays
		}

		chunks := append([]llm.Chunk(nil), r.Chunks...)
		if r.Usage != nil {
			chunks = append(chunks, *r.Usage)
		}

		return chunks, nil
	}

	var chunks []llm.Chunk

	for _, piece := range split(r.Thinking) {
		chunks = append(chunks, llm.ThinkingChunk{Text: piece})
	}

	for _, piece := range split(r.Text) {
		chunks = append(chunks, llm.TextChunk{Text: piece})
	}

	for _, call := range withIDs(r.ToolCalls, req) {
		chunks = append(chunks, llm.ToolCallChunk{Call: call})
	}

	usage := r.Usage
	if usage == nil {
		usage = r.estimate(req)
	}

	return append(chunks, *usage), nil
}

// withIDs names the calls that have no id.
func withIDs(calls []llm.ToolCall, req *llm.Request) []llm.ToolCall {
	made := 0
	for _, message := range req.Messages {
		made += len(message.ToolCalls)
	}

	named := make([]llm.ToolCall, len(calls))

	for i, call := range calls {
		if call.ID == "" {
			call.ID = "call_" + strconv.Itoa(made+i+1)
		}

		named[i] = call
	}

	return named
}

// estimate counts tokens as people guess them: four bytes each.
func (r *Reply) estimate(req *llm.Request) *llm.UsageChunk {
	var in, out int

	for _, message := range req.Messages {
		in += len(message.Content)
		for _, call := range message.ToolCalls {
			in += len(call.Name) + len(call.Arguments)
		}
	}

	for _, tool := range req.Tools {
		in += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}

	out += len(r.Text)
	for _, call := range r.ToolCalls {
		out += len(call.Name) + len(call.Arguments)
	}

	return &llm.UsageChunk{InputTokens: tokens(in), OutputTokens: tokens(out), ThinkingTokens: tokens(len(r.Thinking))}
}

const (
	bytesPerToken = 4
	maxPieceRunes = 32
)

func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// split cuts text after the white space that follows a word, and words that are long after maxPieceRunes. The pieces
// together are the text, byte for byte, and no rune is cut.
func split(text string) []string {
	var (
		pieces []string
		start  int
		runes  int
		space  bool
	)

	for i, r := range text {
		isSpace := unicode.IsSpace(r)
		if i > start && ((space && !isSpace) || runes == maxPieceRunes) {
			pieces = append(pieces, text[start:i])
			start, runes = i, 0
		}

		space = isSpace
		runes++
	}

	if start < len(text) {
		pieces = append(pieces, text[start:])
	}

	return pieces
}

// short is text on one line, cut to n runes.
func short(text string, n int) string {
	out := make([]rune, 0, n)

	for _, r := range text {
		if len(out) == n {
			return string(out) + "…"
		}

		if unicode.IsSpace(r) || r == utf8.RuneError {
			r = ' '
		}

		out = append(out, r)
	}

	return string(out)
}
