package flowtest

import (
	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// LLM is a virtual model. It answers each call with the next response that the test enqueued; a call without one is an error
// for the program, and fails the test at its end.
type LLM struct {
	*script.Script

	host *Host
	// model is the model reported for enqueued responses; empty is the requested one.
	model string
}

func newLLM(h *Host) *LLM { return &LLM{Script: script.New(script.Options{}), host: h} }

// WithModel returns the same virtual model, except that responses enqueued with it come from the model of this name. Otherwise
// they come from the model that the program requests. The entries of a response carry the name.
func (l *LLM) WithModel(name string) *LLM {
	named := *l
	named.model = name

	return &named
}

// Enqueue adds a response that arrives whole.
func (l *LLM) Enqueue(text string) { l.EnqueueStream(text) }

// EnqueueStream adds a response that arrives in exactly these chunks.
func (l *LLM) EnqueueStream(chunks ...string) { l.EnqueueThoughts(nil, chunks) }

// EnqueueThoughts adds a response whose chunks follow chunks of thinking.
func (l *LLM) EnqueueThoughts(thoughts, chunks []string) {
	l.Add(script.Reply{Chunks: l.chunks(thoughts, chunks)})
}

// EnqueueFailure adds a call that fails after these chunks.
func (l *LLM) EnqueueFailure(failure error, chunks ...string) {
	all := l.chunks(nil, chunks)
	l.Add(script.Reply{Chunks: all, Err: failure, AfterChunks: len(all)})
}

// chunks returns a response as the model sends it.
func (l *LLM) chunks(thoughts, texts []string) []llm.Chunk {
	all := make([]llm.Chunk, 0, 1+len(thoughts)+len(texts))

	if l.model != "" {
		all = append(all, agent.ModelChunk{Model: l.model})
	}

	for _, thought := range thoughts {
		all = append(all, llm.ThinkingChunk{Text: thought})
	}

	for _, text := range texts {
		all = append(all, llm.TextChunk{Text: text})
	}

	return all
}

// Requests returns the requests of all calls so far.
func (l *LLM) Requests() []llm.Request {
	var requests []llm.Request
	for _, call := range l.Calls() {
		requests = append(requests, call.Request)
	}

	return requests
}

// Prompts returns the last message of each call so far: the question asked.
func (l *LLM) Prompts() []string {
	var prompts []string

	for _, request := range l.Requests() {
		if n := len(request.Messages); n > 0 {
			prompts = append(prompts, request.Messages[n-1].Content)
		}
	}

	return prompts
}
