package flowtest

import (
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// LLM is a virtual model. It answers each call with the next response that the test enqueued; a call without one is an
// error for the program, and fails the test when it ends.
type LLM struct {
	*script.Script

	host *Host
}

func newLLM(h *Host) *LLM { return &LLM{Script: script.New(script.Options{}), host: h} }

// Enqueue adds a response that arrives whole.
func (l *LLM) Enqueue(text string) { l.EnqueueStream(text) }

// EnqueueStream adds a response that arrives in exactly these chunks.
func (l *LLM) EnqueueStream(chunks ...string) { l.EnqueueThoughts(nil, chunks) }

// EnqueueThoughts adds a response whose chunks follow chunks of thinking.
func (l *LLM) EnqueueThoughts(thoughts, chunks []string) {
	all := make([]llm.Chunk, 0, len(thoughts)+len(chunks))
	for _, thought := range thoughts {
		all = append(all, llm.ThinkingChunk{Text: thought})
	}

	for _, chunk := range chunks {
		all = append(all, llm.TextChunk{Text: chunk})
	}

	l.Add(script.Reply{Chunks: all})
}

// EnqueueFailure adds a call that fails after these chunks.
func (l *LLM) EnqueueFailure(failure error, chunks ...string) {
	reply := script.Reply{Err: failure, AfterChunks: len(chunks)}
	for _, chunk := range chunks {
		reply.Chunks = append(reply.Chunks, llm.TextChunk{Text: chunk})
	}

	l.Add(reply)
}

// Requests are the calls that were made.
func (l *LLM) Requests() []llm.Request {
	var requests []llm.Request
	for _, call := range l.Calls() {
		requests = append(requests, call.Request)
	}

	return requests
}

// Prompts are the last messages of the calls that were made: what was asked each time.
func (l *LLM) Prompts() []string {
	var prompts []string

	for _, request := range l.Requests() {
		if n := len(request.Messages); n > 0 {
			prompts = append(prompts, request.Messages[n-1].Content)
		}
	}

	return prompts
}
