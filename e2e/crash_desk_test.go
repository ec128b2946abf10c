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

// desk is an MCP server over HTTP with two tools that read, "look" and "inspect", and one that writes, "restart". Calls can
// be held at several places.
type desk struct {
	URL string
	// Calls counts calls, if it is set.
	Calls *trip
	// answer returns a tool's answer to a call.
	answer func(deskCall) string

	server *mcpsdk.Server
	mu     sync.Mutex
	calls  []deskCall
	holds  []*deskHold
	door   *hold
}

// deskCall is a call as its tool received it. By is the caller, if the arguments name it.
type deskCall struct{ Tool, By, ID string }

// The tools of a desk.
const (
	toolLook    = "look"
	toolInspect = "inspect"
	toolRestart = "restart"
)

// place is where a call is held.
type place int

const (
	// beforeTool is on the network: the tool has not received the call.
	beforeTool place = iota
	// reconnecting is also before the call: the response is that its MCP session is unknown, and the start of the next MCP session is held.
	reconnecting
	// insideTool is after the tool has received the call, before it answers.
	insideTool
)

// deskHold holds the first call that matches.
type deskHold struct {
	*hold

	place   place
	matches func(deskCall) bool
	refused bool
}

func newDesk(t testing.TB) *desk {
	t.Helper()

	d := &desk{server: mcpsdk.NewServer(&mcpsdk.Implementation{Name: "desk", Version: "test"}, nil), answer: deskAnswer}
	for _, name := range []string{toolLook, toolInspect, toolRestart} {
		d.server.AddTool(&mcpsdk.Tool{
			Name: name, InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: name != toolRestart},
		}, d.handle)
	}

	web := httptest.NewServer(d.guard(mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return d.server }, nil)))
	d.URL = web.URL

	t.Cleanup(func() {
		// A server that was killed has not closed its session.
		for session := range d.server.Sessions() {
			_ = session.Close()
		}

		web.Close()
	})

	return d
}

func deskAnswer(c deskCall) string {
	if c.By == "" {
		return c.Tool + " is done"
	}

	return fmt.Sprintf("%s is done for %s", c.Tool, c.By)
}

// HoldTool holds the first call of a tool.
func (d *desk) HoldTool(t testing.TB, tool string, at place) *hold {
	t.Helper()

	return d.hold(t, at, func(c deskCall) bool { return c.Tool == tool })
}

// HoldCaller holds the first call of a caller inside the tool.
func (d *desk) HoldCaller(t testing.TB, by string) *hold {
	t.Helper()

	return d.hold(t, insideTool, func(c deskCall) bool { return c.By == by })
}

func (d *desk) hold(t testing.TB, at place, matches func(deskCall) bool) *hold {
	t.Helper()

	d.mu.Lock()
	defer d.mu.Unlock()

	h := &deskHold{hold: newHold(t), place: at, matches: matches}
	d.holds = append(d.holds, h)

	return h.hold
}

// HoldConnections holds all new connections from now on.
func (d *desk) HoldConnections(t testing.TB) *hold {
	t.Helper()

	d.mu.Lock()
	defer d.mu.Unlock()

	d.door = newHold(t)
	d.door.everybody = true

	return d.door
}

// Open releases the held connections and stops holding new ones.
func (d *desk) Open() {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.door != nil {
		d.door.Open()
	}
}

// Seen returns the calls that reached their tools.
func (d *desk) Seen() []deskCall {
	d.mu.Lock()
	defer d.mu.Unlock()

	return append([]deskCall(nil), d.calls...)
}

func (d *desk) handle(ctx context.Context, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
	var arguments struct{ By string }
	if err := json.Unmarshal(req.Params.Arguments, &arguments); err != nil {
		return nil, fmt.Errorf("decode arguments: %w", err)
	}

	id, _ := req.Params.Meta[mcp.CallIDKey].(string)
	call := deskCall{Tool: req.Params.Name, By: arguments.By, ID: id}

	d.mu.Lock()
	d.calls = append(d.calls, call)
	d.mu.Unlock()

	d.Calls.hit()
	d.find(insideTool, call).pass(ctx)

	return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: d.answer(call)}}}, nil
}

// guard holds or refuses requests before they reach the tools.
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

		_ = json.Unmarshal(raw, &message) // not every request has a message
		call := deskCall{Tool: message.Params.Name}

		switch {
		case message.Method == "initialize" && !d.connect(r.Context()):
			return
		case message.Method == "tools/call" && d.refuse(call):
			http.NotFound(w, r)

			return
		case message.Method == "tools/call" && !d.find(beforeTool, call).pass(r.Context()):
			return
		}

		next.ServeHTTP(w, r)
	})
}

// find returns the hold for a call at a place, or nil.
func (d *desk) find(at place, call deskCall) *hold {
	d.mu.Lock()
	defer d.mu.Unlock()

	for _, h := range d.holds {
		if h.place == at && h.matches(call) {
			return h.hold
		}
	}

	return nil
}

// refuse reports, once for each hold at reconnecting, that a call's session is unknown.
func (d *desk) refuse(call deskCall) bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	for _, h := range d.holds {
		if h.place == reconnecting && !h.refused && h.matches(call) {
			h.refused = true

			return true
		}
	}

	return false
}

// connect holds a new connection if a hold applies, and reports whether it was released.
func (d *desk) connect(ctx context.Context) bool {
	d.mu.Lock()
	way := []*hold{d.door}

	for _, h := range d.holds {
		if h.refused {
			way = append(way, h.hold)
		}
	}
	d.mu.Unlock()

	for _, h := range way {
		if !h.pass(ctx) {
			return false
		}
	}

	return true
}
