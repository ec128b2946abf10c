package api

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

const (
	mcpPath = "/mcp"
	// mcpLimit is the size of the largest message: an alert, and what a call has around it.
	mcpLimit = tarsy.MaxAlertBytes + 64<<10
)

// addMCP mounts the MCP server. Whoever may read may connect; its tools make requests of their own, which need what their routes need.
func (s *Server) addMCP() {
	s.addPlain(huma.Operation{
		OperationID: "mcp", Method: http.MethodPost, Path: mcpPath, Summary: "Call tools over the Model Context Protocol",
		Description: "Streamable HTTP without sessions: each message is answered by itself, so there is nothing to GET or DELETE. " +
			"The tools can do what the caller's key can do. A message that needs no answer gets 202.",
		RequestBody: &huma.RequestBody{
			Required: true, Content: map[string]*huma.MediaType{jsonType: {Schema: &huma.Schema{Description: "A message of JSON-RPC 2.0."}}},
		},
		Responses: map[string]*huma.Response{strconv.Itoa(http.StatusOK): {
			Description: "The answer, and reports of progress before it",
			Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}},
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = io.NopCloser(bytes.NewReader(callerOf(r.Context()).body))
		s.mcp.ServeHTTP(w, r)
	}))

	pattern := http.MethodPost + " " + mcpPath
	kept := s.routes[pattern]
	kept.bodyLimit = mcpLimit
	s.routes[pattern] = kept
}
