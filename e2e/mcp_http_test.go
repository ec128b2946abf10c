package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// A server over HTTP gets the token, and the execution's id in the headers that are configured for it; when the execution
// ends, the server is notified at the configured address.
func TestHTTPServerReceivesExecutionID(t *testing.T) {
	t.Parallel()

	type look struct{}

	server := mcpsdk.NewServer(&mcpsdk.Implementation{Name: "remote", Version: "1"}, nil)
	mcpsdk.AddTool(server, &mcpsdk.Tool{Name: "look", Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcpsdk.CallToolRequest, look) (*mcpsdk.CallToolResult, any, error) {
			return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: "seen"}}}, nil, nil
		})

	var (
		mu      sync.Mutex
		tokens  = map[string]bool{}
		callers = map[string]bool{}
		parents = map[string]bool{}
		cleaned []string
	)

	gone := make(chan struct{})
	mux := http.NewServeMux()
	mcp := mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return server }, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		tokens[r.Header.Get("Authorization")], callers[r.Header.Get("X-Execution")] = true, true
		parents[r.Header.Get("Traceparent")] = true
		mu.Unlock()
		mcp.ServeHTTP(w, r)
	})
	mux.HandleFunc("DELETE /cleanup/{id}", func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		cleaned = append(cleaned, r.PathValue("id")+" "+r.Header.Get("Authorization"))
		if r.PathValue("id") != "tarsy-health" {
			close(gone)
		}
		mu.Unlock()
	})

	web := httptest.NewServer(mux)
	// Cleanups run in reverse order: the calling process ends first, then its sessions.
	t.Cleanup(func() {
		for session := range server.Sessions() {
			_ = session.Close() // its other end is already gone
		}

		web.Close()
	})

	app := realWorld(t, map[string]string{"remote": fmt.Sprintf(
		`{type: http, url: "%s/mcp", bearer_token: token-of-the-test, custom_headers: {X-Execution: "{{.SESSION_ID}}"}, session_cleanup_url: "%s/cleanup/{{.SESSION_ID}}"}`,
		web.URL, web.URL)},
		script.Reply{ToolCalls: []llm.ToolCall{{Name: "remote__look", Arguments: "{}"}}}, says("Seen."), says("Seen."))

	session := app.WaitFor(app.Submit("test", "look"), tarsy.SessionCompleted)
	execution := session.Stages[0].Executions[0].ID
	await(t, gone, "the clean-up")

	mu.Lock()
	defer mu.Unlock()

	require.Equal(t, map[string]bool{"Bearer token-of-the-test": true}, tokens)
	require.Contains(t, callers, execution)
	require.Equal(t, map[string]bool{"": true}, parents, "traces are not exported")
	require.Contains(t, cleaned, execution+" Bearer token-of-the-test")
	require.Equal(t, "seen", app.MCPInteractions(session.ID)[0].ToolResult)
}
