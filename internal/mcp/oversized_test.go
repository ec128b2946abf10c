package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/mcp"
)

const (
	messageBytes = 1 << 20
	hugeBytes    = messageBytes + 1
)

// addHugeTools adds tools whose results exceed what is read of a message.
func addHugeTools(server *mcpsdk.Server) {
	addTool(server, "huge", true, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		return text(strings.Repeat("SECRET é\n", hugeBytes/10)), nil
	})
	addTool(server, "huge_image", false, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.ImageContent{Data: make([]byte, hugeBytes*3/4), MIMEType: "image/png"}}}, nil
	})
	addTool(server, "small", false, answering("done"))
}

func TestOversizedResultIsCutAndConnectionLasts(t *testing.T) {
	t.Parallel()
	server := newServer()
	addHugeTools(server)
	get := func(*http.Request) *mcpsdk.Server { return server }
	for name, transport := range map[string]func(t *testing.T) mcp.Transport{
		"stdio": func(t *testing.T) mcp.Transport {
			t.Helper()

			return subprocess(t, "huge", nil).Transport
		},
		"http with JSON": func(t *testing.T) mcp.Transport {
			t.Helper()
			handler := mcpsdk.NewStreamableHTTPHandler(get, &mcpsdk.StreamableHTTPOptions{JSONResponse: true})

			return mcp.Transport{Type: mcp.TransportHTTP, URL: serve(t, handler).URL}
		},
		"http with events": func(t *testing.T) mcp.Transport {
			t.Helper()

			return mcp.Transport{Type: mcp.TransportHTTP, URL: serve(t, mcpsdk.NewStreamableHTTPHandler(get, nil)).URL}
		},
		"sse": func(t *testing.T) mcp.Transport {
			t.Helper()

			return mcp.Transport{Type: mcp.TransportSSE, URL: serve(t, mcpsdk.NewSSEHandler(get, nil)).URL}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := fast
			limits.ResultBytes, limits.MessageBytes = 10_000, messageBytes
			tools := open(t, mcp.Config{
				Limits: limits, Servers: map[string]mcp.ServerConfig{"srv": {Transport: transport(t)}},
				Mask: func(_, text string) (string, error) { return strings.ReplaceAll(text, "SECRET", "[MASKED]"), nil },
			}, tarsy.MCPServerSelection{Name: "srv"})
			require.Empty(t, tools.Unavailable())

			result := call(t, tools, "srv__huge", "")
			require.False(t, result.IsError, "%.300s", result.Content)
			require.Equal(t, 1, result.Attempts)
			require.True(t, strings.HasPrefix(result.Content, "[MASKED] é\n[MASKED]"), "%.100s", result.Content)
			require.NotContains(t, result.Content, "SECRET")
			var shown, whole int
			_, err := fmt.Sscanf(result.Content[strings.LastIndexByte(result.Content, '\n')+1:], "[… cut: the first %d of %d bytes are shown]", &shown, &whole)
			require.NoError(t, err)
			require.LessOrEqual(t, shown, 10_000)
			require.Greater(t, whole, hugeBytes)

			result = call(t, tools, "srv__huge_image", "")
			require.Regexp(t, `^The call to srv__huge_image was made, but its result cannot be shown: the result has \d+ bytes, more than the limit of 1 MiB, and was dropped\. Ask for less\.$`,
				result.Content)
			require.Equal(t, agent.Result{Server: "srv", Tool: "huge_image", Content: result.Content, IsError: true, Attempts: 1}, result, "its outcome is known")

			require.Equal(t, agent.Result{Server: "srv", Tool: "small", Content: "done", Attempts: 1}, call(t, tools, "srv__small", ""))
		})
	}
	t.Cleanup(func() { endSessions(server) })
}

func TestOversizedToolListMakesServerUnavailable(t *testing.T) {
	t.Parallel()
	server := newServer()
	server.AddTool(&mcpsdk.Tool{Name: "a", Description: strings.Repeat("x", hugeBytes), InputSchema: map[string]any{"type": "object"}}, answering(""))
	t.Cleanup(func() { endSessions(server) })
	handler := mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return server }, nil)
	tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: serve(t, handler).URL}, mcp.Limits{BackoffMax: -1, MessageBytes: messageBytes})
	require.Contains(t, tools.Unavailable()["web"], "more than the limit of 1 MiB")
}
