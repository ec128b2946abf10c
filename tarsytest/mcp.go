package tarsytest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MCPServer is an in-memory MCP server behind the real client, routing and recovery.
type MCPServer struct {
	// ID is the server's name in the configuration.
	ID string

	server *mcpsdk.Server
	mu     sync.Mutex
	calls  []ToolCall
	broken error
	open   int
	// changed is closed when open changes.
	changed chan struct{}
}

// Tool is one tool of a virtual MCP server.
type Tool struct {
	Name        string
	Description string
	// ReadOnly declares that the tool only reads; without it, an interrupted call is not repeated.
	ReadOnly bool
	// Text is the tool's result, unless Handle is set. An error from Handle is a tool error.
	Text   string
	Handle func(ctx context.Context, arguments map[string]any) (string, error)
}

// ToolCall is a call as the server received it. ID is the call's id from `_meta`, Traceparent its trace context, which is
// empty unless traces are exported.
type ToolCall struct {
	ID          string
	Traceparent string
	Tool        string
	Arguments   map[string]any
}

// NewMCPServer returns a server with these tools.
func NewMCPServer(id string, tools ...Tool) *MCPServer {
	s := &MCPServer{ID: id, changed: make(chan struct{}), server: mcpsdk.NewServer(&mcpsdk.Implementation{Name: id, Version: "test"}, nil)}

	for _, tool := range tools {
		s.server.AddTool(&mcpsdk.Tool{
			Name: tool.Name, Description: tool.Description, InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: tool.ReadOnly},
		}, s.handler(tool))
	}

	return s
}

// Break makes further connections fail with err; nil repairs the server.
func (s *MCPServer) Break(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.broken = err
}

// Calls returns every call so far, in the order of arrival.
func (s *MCPServer) Calls() []ToolCall {
	s.mu.Lock()
	defer s.mu.Unlock()

	return append([]ToolCall(nil), s.calls...)
}

// Connected returns a channel that is closed when exactly this many sessions are open.
func (s *MCPServer) Connected(sessions int) <-chan struct{} {
	reached := make(chan struct{})

	go func() {
		for {
			s.mu.Lock()
			open, changed := s.open, s.changed
			s.mu.Unlock()

			if open == sessions {
				close(reached)

				return
			}

			<-changed
		}
	}()

	return reached
}

func (s *MCPServer) count(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.open += change
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *MCPServer) connect(ctx context.Context) (mcpsdk.Transport, error) {
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()

	if broken != nil {
		return nil, broken
	}

	client, server := mcpsdk.NewInMemoryTransports()
	session, err := s.server.Connect(context.WithoutCancel(ctx), server, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to the virtual MCP server: %w", err)
	}

	s.count(1)

	go func() {
		_ = session.Wait() // how it ended does not matter
		s.count(-1)
	}()

	return client, nil
}

func (s *MCPServer) handler(tool Tool) mcpsdk.ToolHandler {
	return func(ctx context.Context, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		var arguments map[string]any
		if err := json.Unmarshal(req.Params.Arguments, &arguments); err != nil {
			return nil, fmt.Errorf("decode arguments: %w", err)
		}

		id, _ := req.Params.Meta["tarsy.dev/call-id"].(string)

		parent, _ := req.Params.Meta["traceparent"].(string)

		s.mu.Lock()
		s.calls = append(s.calls, ToolCall{ID: id, Traceparent: parent, Tool: tool.Name, Arguments: arguments})
		s.mu.Unlock()

		text, isError := tool.Text, false

		if tool.Handle != nil {
			var err error
			if text, err = tool.Handle(ctx, arguments); err != nil {
				text, isError = err.Error(), true
			}
		}

		return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: text}}, IsError: isError}, nil
	}
}
