package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/tarsytest"
)

// modelLine is one line of a model's answer, sent from the test's process to a server's.
type modelLine struct {
	Thinking *llm.ThinkingChunk `json:",omitempty"`
	Text     *llm.TextChunk     `json:",omitempty"`
	ToolCall *llm.ToolCallChunk `json:",omitempty"`
	Usage    *llm.UsageChunk    `json:",omitempty"`
	Err      string             `json:",omitempty"`
	// End marks a complete answer: one that was cut off lacks it.
	End bool `json:",omitempty"`
}

func lineOf(chunk llm.Chunk, err error) modelLine {
	if err != nil {
		return modelLine{Err: err.Error()}
	}

	switch c := chunk.(type) {
	case llm.ThinkingChunk:
		return modelLine{Thinking: &c}
	case llm.TextChunk:
		return modelLine{Text: &c}
	case llm.ToolCallChunk:
		return modelLine{ToolCall: &c}
	case llm.UsageChunk:
		return modelLine{Usage: &c}
	default:
		return modelLine{Err: fmt.Sprintf("the test's model does not carry %T", chunk)}
	}
}

func (l modelLine) chunk() (llm.Chunk, error) {
	switch {
	case l.Thinking != nil:
		return *l.Thinking, nil
	case l.Text != nil:
		return *l.Text, nil
	case l.ToolCall != nil:
		return *l.ToolCall, nil
	case l.Usage != nil:
		return *l.Usage, nil
	default:
		return nil, errors.New(l.Err)
	}
}

// serveModel serves a model of the test to servers in other processes, and returns its address. A call ends with the
// process that made it. The kit writes verdicts, as for servers in the test's own process.
func serveModel(t testing.TB, model llm.Client) string {
	t.Helper()

	model = tarsytest.WithVerdicts(model)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The end of the connection is noticed only once the request has been read.
		raw, err := io.ReadAll(r.Body)

		var req llm.Request
		if err := errors.Join(err, json.Unmarshal(raw, &req)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)

			return
		}

		lines, flush := json.NewEncoder(w), http.NewResponseController(w)

		for chunk, err := range model.Generate(r.Context(), &req) {
			if lines.Encode(lineOf(chunk, err)) != nil || flush.Flush() != nil || err != nil {
				return
			}
		}

		_ = lines.Encode(modelLine{End: true}) // the reader may be gone
	}))
	t.Cleanup(server.Close)

	return server.URL
}

// remoteModel is the llm.Client of a server process: it calls the model that the test serves.
type remoteModel struct{ URL string }

// Generate implements llm.Client.
func (m *remoteModel) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if err := m.stream(ctx, req, func(c llm.Chunk) bool { return yield(c, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// stream passes chunks on until the answer ends or pass returns false.
func (m *remoteModel) stream(ctx context.Context, req *llm.Request, pass func(llm.Chunk) bool) error {
	raw, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}

	call, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}

	resp, err := http.DefaultClient.Do(call)
	if err != nil {
		return fmt.Errorf("ask the model: %w", err)
	}
	defer resp.Body.Close()

	for lines := json.NewDecoder(resp.Body); ; {
		var line modelLine
		if err := lines.Decode(&line); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}

		if line.End {
			return nil
		}

		chunk, err := line.chunk()
		if err != nil || !pass(chunk) {
			return err
		}
	}
}
