package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/mcp"
)

// hold is a place where the first who comes is held until it is opened; whoever comes later passes.
type hold struct {
	// everybody says that whoever comes later waits too.
	everybody bool

	reached, open chan struct{}
	taken         atomic.Bool
	once          sync.Once
}

func newHold(t testing.TB) *hold {
	t.Helper()

	h := &hold{reached: make(chan struct{}), open: make(chan struct{})}
	t.Cleanup(h.Open)

	return h
}

// Open lets the held one go.
func (h *hold) Open() { h.once.Do(func() { close(h.open) }) }

// pass waits if this is the first; a nil hold holds nobody. It reports whether the way was free in the end.
func (h *hold) pass(ctx context.Context) bool {
	if h == nil {
		return true
	}

	if first := !h.taken.Swap(true); first {
		close(h.reached)
	} else if !h.everybody {
		return true
	}

	select {
	case <-h.open:
		return true
	case <-ctx.Done():
		return false
	}
}

// desk is an MCP server over HTTP with two tools that read, "look" and "inspect", and one that writes, "restart".
type desk struct {
	URL string
	// Calls counts calls, if it is there.
	Calls *trip

	// Set before the first server starts: door holds the first call of the second tool before it reaches the tool,
	// inside holds it in the tool. With hall that call is told that its session is unknown, and the begin of the next
	// session is held.
	door, inside, hall *hold

	server *mcpsdk.Server
	mu     sync.Mutex
	calls  []deskCall
	forgot bool
}

// deskCall is a call as its tool saw it.
type deskCall struct{ Tool, ID string }

// The tools of a desk.
const (
	toolLook    = "look"
	toolInspect = "inspect"
	toolRestart = "restart"
)

func newDesk(t testing.TB) *desk {
	t.Helper()

	d := &desk{server: mcpsdk.NewServer(&mcpsdk.Implementation{Name: "desk", Version: "test"}, nil)}
	for _, name := range []string{toolLook, toolInspect, toolRestart} {
		d.server.AddTool(&mcpsdk.Tool{
			Name: name, InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: name != toolRestart},
		}, d.handle)
	}

	web := httptest.NewServer(d.guard(mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return d.server }, nil)))
	d.URL = web.URL

	t.Cleanup(func() {
		// A server that was killed did not say goodbye.
		for session := range d.server.Sessions() {
			_ = session.Close()
		}

		web.Close()
	})

	return d
}

// Seen returns the calls that reached their tools.
func (d *desk) Seen() []deskCall {
	d.mu.Lock()
	defer d.mu.Unlock()

	return append([]deskCall(nil), d.calls...)
}

func (d *desk) handle(ctx context.Context, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
	id, _ := req.Params.Meta[mcp.CallIDKey].(string)

	d.mu.Lock()
	d.calls = append(d.calls, deskCall{Tool: req.Params.Name, ID: id})
	d.mu.Unlock()

	d.Calls.hit()

	if req.Params.Name != toolLook {
		d.inside.pass(ctx)
	}

	return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: req.Params.Name + " is done"}}}, nil
}

// guard stands between the network and the tools.
func (d *desk) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller is gone
		}

		r.Body = io.NopCloser(bytes.NewReader(raw))

		var message struct {
			Method string
			Params struct{ Name string }
		}

		_ = json.Unmarshal(raw, &message) // not every request carries a message

		switch {
		case message.Method == "initialize" && d.afterForgetting() && !d.hall.pass(r.Context()):
			return
		case message.Method != "tools/call" || message.Params.Name == toolLook:
		case d.hall != nil && d.forgets():
			http.NotFound(w, r)

			return
		case !d.door.pass(r.Context()):
			return
		}

		next.ServeHTTP(w, r)
	})
}

// forgets tells once that the session is unknown.
func (d *desk) forgets() bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	first := !d.forgot
	d.forgot = true

	return first
}

func (d *desk) afterForgetting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.forgot
}
