package tarsytest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

// holder is a model that ends an agent's call only when its session has a reader and every reader has a chunk of each text
// of the call. Chunks are lossy: without it, a reader of a short text may get its end and no chunk.
type holder struct {
	model    llm.Client
	patience time.Duration

	mu      sync.Mutex
	readers map[string][]*log // by session
	// shown are the timeline events whose calls have succeeded. A failed call can be repeated for the same event.
	shown   map[string]bool
	changed chan struct{} // closed by the next event of any reader
}

func newHolder(model llm.Client, patience time.Duration) *holder {
	return &holder{model: model, patience: patience, readers: map[string][]*log{}, shown: map[string]bool{}, changed: make(chan struct{})}
}

// follow adds a reader of a session.
func (h *holder) follow(sessionID string, reader *log) {
	if h == nil {
		return
	}

	h.mu.Lock()
	h.readers[sessionID] = append(h.readers[sessionID], reader)
	h.mu.Unlock()

	reader.change(func() { reader.onChange = h.wake })
	h.wake()
}

func (h *holder) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()

	close(h.changed)
	h.changed = make(chan struct{})
}

// Generate implements llm.Client.
func (h *holder) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	if req.ExecutionID == "" { // its text is not streamed to readers
		return h.model.Generate(ctx, req)
	}

	return func(yield func(llm.Chunk, error) bool) {
		wrote := map[tarsy.EventType]bool{}

		for chunk, err := range h.model.Generate(ctx, req) {
			if err != nil {
				_, _ = h.wait(ctx, req, wrote) // the call fails anyway
				yield(nil, err)

				return
			}

			if kind, ok := kindOf(req, chunk); ok {
				wrote[kind] = true
			}

			if !yield(chunk, nil) {
				return
			}
		}

		shown, err := h.wait(ctx, req, wrote)
		if err != nil {
			yield(nil, err)

			return
		}

		h.mu.Lock()
		defer h.mu.Unlock()

		for _, id := range shown {
			h.shown[id] = true
		}
	}
}

// kindOf returns the type of the timeline event that shows a chunk, and whether there is one.
func kindOf(req *llm.Request, chunk llm.Chunk) (tarsy.EventType, bool) {
	switch c := chunk.(type) {
	case llm.ThinkingChunk:
		return tarsy.EventThinking, c.Text != "" && req.Purpose != string(tarsy.InteractionSummarization)
	case llm.TextChunk:
		if req.Purpose == string(tarsy.InteractionSummarization) {
			return tarsy.EventToolSummary, c.Text != ""
		}

		return tarsy.EventResponse, c.Text != ""
	default:
		return "", false
	}
}

// wait waits until all readers have a chunk of each text of the call, and returns the timeline events of the texts.
func (h *holder) wait(ctx context.Context, req *llm.Request, wrote map[tarsy.EventType]bool) ([]string, error) {
	timeout := time.NewTimer(h.patience)
	defer timeout.Stop()

	for {
		h.mu.Lock()
		changed, readers := h.changed, slices.Clone(h.readers[req.SessionID])
		h.mu.Unlock()

		shown, ok := h.events(readers, req.ExecutionID, wrote)
		if ok {
			return shown, nil
		}

		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timeout.C:
			return nil, fmt.Errorf("no reader of session %s has a chunk of each text of %s: Options.HoldStreams needs one", req.SessionID, req.Agent)
		}
	}
}

// events returns the timeline events of which all connected readers have a chunk; false if a reader lacks one of some type,
// or if nobody reads.
func (h *holder) events(readers []*log, executionID string, wrote map[tarsy.EventType]bool) ([]string, bool) {
	var ids []string

	for _, reader := range readers {
		missing := len(wrote)
		seen := map[string]bool{}

		for _, e := range reader.OfType(tarsy.TypeStreamChunk) {
			id, _ := e.Fields["event_id"].(string)
			kind, _ := e.Fields["event_type"].(string)

			h.mu.Lock()
			before := h.shown[id]
			h.mu.Unlock()

			if e.Fields["execution_id"] != executionID || !wrote[tarsy.EventType(kind)] || before || seen[kind] {
				continue
			}

			seen[kind] = true
			missing--

			ids = append(ids, id)
		}

		if missing > 0 && !reader.hasEnded() {
			return nil, false
		}
	}

	return ids, len(readers) > 0 || len(wrote) == 0
}
