package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/mcp"
)

// toolbox is an MCP server over HTTP with one tool that reads, "look". It is told who asks, so each caller can be held.
type toolbox struct {
	URL string
	// Calls counts calls, if it is there.
	Calls *trip
	// answer is what the tool says to a caller.
	answer func(by string) string

	server *mcpsdk.Server
	mu     sync.Mutex
	held   map[string]*hold
	door   *hold
	calls  []boxCall
}

// boxCall is a call as the tool saw it.
type boxCall struct{ By, ID string }

func newToolbox(t testing.TB) *toolbox {
	t.Helper()

	b := &toolbox{
		server: mcpsdk.NewServer(&mcpsdk.Implementation{Name: "toolbox", Version: "test"}, nil), held: map[string]*hold{},
		answer: func(by string) string { return "what " + by + " asked for" },
	}
	b.server.AddTool(&mcpsdk.Tool{
		Name: toolLook, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: true},
	}, b.handle)

	web := httptest.NewServer(b.guard(mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return b.server }, nil)))
	b.URL = web.URL

	t.Cleanup(func() {
		// A server that was killed did not say goodbye.
		for session := range b.server.Sessions() {
			_ = session.Close()
		}

		web.Close()
	})

	return b
}

// Hold holds the first call of somebody inside the tool.
func (b *toolbox) Hold(t testing.TB, by string) *hold {
	t.Helper()

	b.mu.Lock()
	defer b.mu.Unlock()

	b.held[by] = newHold(t)

	return b.held[by]
}

// Shut holds everybody from now on who begins to use the toolbox.
func (b *toolbox) Shut(t testing.TB) *hold {
	t.Helper()

	b.mu.Lock()
	defer b.mu.Unlock()

	b.door = newHold(t)
	b.door.everybody = true

	return b.door
}

// Open lets everybody in again.
func (b *toolbox) Open() {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.door != nil {
		b.door.Open()
	}
}

// Seen returns the calls that reached the tool.
func (b *toolbox) Seen() []boxCall {
	b.mu.Lock()
	defer b.mu.Unlock()

	return append([]boxCall(nil), b.calls...)
}

func (b *toolbox) handle(ctx context.Context, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
	var arguments struct{ By string }
	if err := json.Unmarshal(req.Params.Arguments, &arguments); err != nil {
		return nil, fmt.Errorf("decode arguments: %w", err)
	}

	id, _ := req.Params.Meta[mcp.CallIDKey].(string)

	b.mu.Lock()
	b.calls = append(b.calls, boxCall{By: arguments.By, ID: id})
	held := b.held[arguments.By]
	b.mu.Unlock()

	b.Calls.hit()
	held.pass(ctx)

	return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: b.answer(arguments.By)}}}, nil
}

// guard stands at the door.
func (b *toolbox) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller is gone
		}

		r.Body = io.NopCloser(bytes.NewReader(raw))

		var message struct{ Method string }

		_ = json.Unmarshal(raw, &message) // not every request carries a message

		b.mu.Lock()
		door := b.door
		b.mu.Unlock()

		if message.Method != "initialize" || door.pass(r.Context()) {
			next.ServeHTTP(w, r)
		}
	})
}
