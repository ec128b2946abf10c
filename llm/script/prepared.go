package script

import (
	"encoding/json"
	"errors"
	"strconv"

	"tarsy.dev/tarsy/llm"
)

var errBothWays = errors.New("a scripted reply has Chunks, or Text, Thinking and ToolCalls, but not both")

// prepared is a reply with the chunks that are the same for every request. It is immutable: many calls can play it concurrently.
type prepared struct {
	Reply

	// head contains the chunks before the tool calls that need an id; tail is the chunk after all others, nil if there is none.
	head  []llm.Chunk
	named bool
	tail  llm.Chunk
	// signature is the signature of the answer: the reply's own, or that of an end among its Chunks.
	signature string
	// usage is the scripted usage: the reply's own, or the last one among its Chunks.
	usage *llm.UsageChunk
	// fixed contains all chunks if they are the same for every request, else nil.
	fixed []llm.Chunk
	err   error
}

func prepareAll(replies []Reply) []*prepared {
	ready := make([]*prepared, len(replies))
	for i, reply := range replies {
		ready[i] = prepare(reply)
	}

	return ready
}

func prepare(reply Reply) *prepared {
	r := &prepared{Reply: reply, named: true, signature: reply.Signature, usage: reply.Usage}

	if reply.Chunks != nil {
		if reply.Text != "" || reply.Thinking != "" || len(reply.ToolCalls) > 0 {
			r.err = errBothWays

			return r
		}

		r.addGiven()
	} else {
		r.addMade()
	}

	if reply.Stop != "" || reply.Signature != "" {
		r.tail = end(reply.Stop, reply.Signature)
	}

	if r.named && (r.Usage != nil || r.Chunks != nil) {
		r.fixed = r.chunks(nil)
	}

	return r
}

func (r *prepared) addGiven() {
	r.head = make([]llm.Chunk, 0, len(r.Chunks))

	for _, chunk := range r.Chunks {
		text, isText := chunk.(llm.TextChunk)
		thinking, isThinking := chunk.(llm.ThinkingChunk)

		if ended, ok := chunk.(llm.EndChunk); ok && ended.Signature != nil && r.signature == "" {
			r.signature = signatureText(ended.Signature)
		}

		if used, ok := chunk.(llm.UsageChunk); ok && r.Usage == nil {
			r.usage = &used
		}

		switch {
		case r.Trickle && isText:
			r.addText(text.Text)
		case r.Trickle && isThinking:
			r.addThinking(thinking.Text)
		default:
			r.head = append(r.head, chunk)
		}
	}
}

func (r *prepared) addMade() {
	r.addThinking(r.Thinking)
	r.addText(r.Text)

	for _, call := range r.ToolCalls {
		r.named = r.named && call.ID != ""
	}

	if r.named {
		for _, call := range r.ToolCalls {
			r.head = append(r.head, llm.ToolCallChunk{Call: call})
		}
	}
}

func (r *prepared) addText(text string) {
	for _, piece := range r.pieces(text) {
		r.head = append(r.head, llm.TextChunk{Text: piece})
	}
}

func (r *prepared) addThinking(text string) {
	for _, piece := range r.pieces(text) {
		r.head = append(r.head, llm.ThinkingChunk{Text: piece})
	}
}

func (r *prepared) pieces(text string) []string {
	if r.Trickle {
		return trickle(text)
	}

	return split(text)
}

// end returns the chunk that reports how an answer ended.
func end(stop llm.StopReason, signature string) llm.EndChunk {
	chunk := llm.EndChunk{Reason: stop}
	if signature == "" {
		return chunk
	}

	// Text always marshals.
	data, _ := json.Marshal(signature) //nolint:errchkjson // See above.
	chunk.Signature = &llm.Signature{By: "script", Data: data}

	return chunk
}

// signatureText returns a signature in the form of a script file. One that is not text remains JSON.
func signatureText(signature *llm.Signature) string {
	var text string
	if json.Unmarshal(signature.Data, &text) == nil {
		return text
	}

	return string(signature.Data)
}

// chunks returns everything that the reply streams in answer to req; the result must not be modified.
func (r *prepared) chunks(req *llm.Request) []llm.Chunk {
	const usageAndEnd = 2

	if r.fixed != nil {
		return r.fixed
	}

	chunks := make([]llm.Chunk, 0, len(r.head)+len(r.ToolCalls)+usageAndEnd)
	chunks = append(chunks, r.head...)

	if !r.named {
		chunks = appendNamed(chunks, r.ToolCalls, req)
	}

	switch {
	case r.Usage != nil:
		chunks = append(chunks, *r.Usage)
	case r.Chunks == nil:
		chunks = append(chunks, r.estimate(req))
	}

	if r.tail != nil {
		chunks = append(chunks, r.tail)
	}

	return chunks
}

// appendNamed appends calls, and assigns ids to those that have none.
func appendNamed(chunks []llm.Chunk, calls []llm.ToolCall, req *llm.Request) []llm.Chunk {
	made := 0
	for i := range req.Messages {
		made += len(req.Messages[i].ToolCalls)
	}

	for i, call := range calls {
		if call.ID == "" {
			call.ID = "call_" + strconv.Itoa(made+i+1)
		}

		chunks = append(chunks, llm.ToolCallChunk{Call: call})
	}

	return chunks
}

// InputTokens estimates the tokens of a request at four bytes each. Replies without scripted usage, and the token counting
// endpoints of virtual servers, report this number.
func InputTokens(req *llm.Request) int {
	bytes := 0

	for i := range req.Messages {
		bytes += len(req.Messages[i].Content)
		for _, call := range req.Messages[i].ToolCalls {
			bytes += len(call.Name) + len(call.Arguments)
		}
	}

	for i := range req.Tools {
		bytes += len(req.Tools[i].Name) + len(req.Tools[i].Description) + len(req.Tools[i].Schema)
	}

	return tokens(bytes)
}

// estimate returns the usage of a reply without scripted usage.
func (r *Reply) estimate(req *llm.Request) llm.UsageChunk {
	out := len(r.Text)
	for _, call := range r.ToolCalls {
		out += len(call.Name) + len(call.Arguments)
	}

	return llm.UsageChunk{InputTokens: InputTokens(req), OutputTokens: tokens(out), ThinkingTokens: tokens(len(r.Thinking))}
}
