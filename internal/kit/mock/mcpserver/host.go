package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/jonboulle/clockwork"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options are the settings of a Host.
type Options struct {
	// Clock times delays and the journal; nil means the real clock.
	Clock clockwork.Clock
}

// Host runs scripted servers: it keeps track of their used results and their journals. It is safe for concurrent use.
type Host struct {
	clock   clockwork.Clock
	servers map[string]*server
}

// server is a server that is ready for calls. The SDK's server serves any number of connections.
type server struct {
	name    string
	source  Server
	order   []string
	tools   map[string]*tool
	clock   clockwork.Clock
	sdk     *mcpsdk.Server
	handler http.Handler
	journal journal
}

// NewHost returns a host for the servers, or an error with all problems of their script.
func NewHost(servers Servers, options Options) (*Host, error) {
	made, problems := compile(servers)
	if len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = p.String()
		}

		return nil, errors.New("the script of the MCP servers is invalid:\n" + strings.Join(lines, "\n"))
	}

	h := &Host{clock: options.Clock, servers: made}
	if h.clock == nil {
		h.clock = clockwork.NewRealClock()
	}

	for _, s := range made {
		s.clock = h.clock
		s.build()
	}

	return h, nil
}

// build creates the SDK's server.
func (s *server) build() {
	version := s.source.Version
	if version == "" {
		version = "0"
	}

	s.sdk = mcpsdk.NewServer(&mcpsdk.Implementation{Name: s.name, Version: version}, &mcpsdk.ServerOptions{
		Instructions: s.source.Instructions,
		Capabilities: &mcpsdk.ServerCapabilities{Tools: &mcpsdk.ToolCapabilities{}},
	})
	s.sdk.AddReceivingMiddleware(s.recordUnknownTools)

	for _, name := range s.order {
		t := s.tools[name]
		s.sdk.AddTool(&mcpsdk.Tool{
			Name: name, Description: t.source.Description, InputSchema: t.schema,
			Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: t.source.ReadOnly},
		}, s.answer(t))
	}

	// Without sessions, clients are not disturbed when the script is reloaded.
	s.handler = mcpsdk.NewStreamableHTTPHandler(
		func(*http.Request) *mcpsdk.Server { return s.sdk }, &mcpsdk.StreamableHTTPOptions{Stateless: true})
}

// Handler serves each server at /mcp/{name}, and its journal at /mcp/{name}/_calls. A script's only server is also at /mcp.
func (h *Host) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /mcp/{name}/_calls", func(w http.ResponseWriter, r *http.Request) {
		if s := h.find(w, r); s != nil {
			respond(w, http.StatusOK, map[string]any{"calls": s.journal.list()})
		}
	})

	for _, pattern := range []string{"/mcp/{name}", "/mcp", "/mcp/{$}"} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if s := h.find(w, r); s != nil {
				serveBreakable(s.handler, w, r)
			}
		})
	}

	return mux
}

// find returns the server that a path names, or the only one if it names none. It answers 404 if there is no such server.
func (h *Host) find(w http.ResponseWriter, r *http.Request) *server {
	name := r.PathValue("name")

	if name == "" && len(h.servers) == 1 {
		for _, only := range h.servers {
			return only
		}
	}

	s, ok := h.servers[name]
	if !ok {
		respond(w, http.StatusNotFound, map[string]string{"error": h.unknown(name).Error()})
	}

	return s
}

func (h *Host) unknown(name string) error {
	names := "it has none"
	if len(h.servers) > 0 {
		names = "it has " + strings.Join(slices.Sorted(maps.Keys(h.servers)), ", ")
	}

	if name == "" {
		return fmt.Errorf("/mcp works only if the script has exactly one MCP server; %s, each at /mcp/NAME", names)
	}

	return fmt.Errorf("the script has no MCP server %q; %s", name, names)
}

func respond(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)

		return
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller that has left needs no response
}

// Serve serves one client over a pair of streams, until the client disconnects or ctx ends. It closes both streams.
func (h *Host) Serve(ctx context.Context, name string, in io.ReadCloser, out io.WriteCloser) error {
	s, ok := h.servers[name]
	if !ok {
		return h.unknown(name)
	}

	line := newStreams(ctx, in, out)
	defer line.breakRun(nil)

	// Anything still waiting then, for a client that does not read or for a tool, would keep the SDK from returning.
	defer context.AfterFunc(line.run, func() { _ = line.Close() })()

	err := s.sdk.Run(line.run, &mcpsdk.IOTransport{Reader: line, Writer: line})

	switch {
	case ctx.Err() != nil:
		return nil // stopped on request
	case line.run.Err() != nil:
		err = context.Cause(line.run)
	}

	if err != nil {
		return fmt.Errorf("serve MCP server %q: %w", name, err)
	}

	return nil
}

// Calls returns the last calls of a server, in the order in which they arrived.
func (h *Host) Calls(name string) []Call {
	s, ok := h.servers[name]
	if !ok {
		return nil
	}

	return s.journal.list()
}

// Unused describes each result with a number of times that was used less often.
func (h *Host) Unused() []string {
	var unused []string

	for _, name := range slices.Sorted(maps.Keys(h.servers)) {
		s := h.servers[name]
		for _, tool := range s.order {
			unused = append(unused, s.tools[tool].unused(name)...)
		}
	}

	return unused
}

// Unexpected describes each call in the journals that the script had no result for.
func (h *Host) Unexpected() []string {
	var unexpected []string

	for _, name := range slices.Sorted(maps.Keys(h.servers)) {
		for _, call := range h.servers[name].journal.list() {
			if call.Outcome == OutcomeUnexpected {
				unexpected = append(unexpected, fmt.Sprintf("MCP server %s, call %d: %s", name, call.Number, call.Message))
			}
		}
	}

	return unexpected
}

// Handler returns the handler of a new Host. If the script is invalid, it answers every request with the problems: call
// Check before.
func (s Servers) Handler() http.Handler {
	host, err := NewHost(s, Options{})
	if err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			respond(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
		})
	}

	return host.Handler()
}

// ServeStdio serves the parent process over the standard streams, until it disconnects or ctx ends.
func (s Servers) ServeStdio(ctx context.Context, name string) error {
	host, err := NewHost(s, Options{})
	if err != nil {
		return err
	}

	return host.Serve(ctx, name, os.Stdin, os.Stdout)
}
