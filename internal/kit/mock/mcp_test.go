package mock_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/kit/mock/mcpserver"
)

// hosting returns a server with MCP servers of these names.
func hosting(t *testing.T, names ...string) *server {
	t.Helper()

	text := "restarted"
	servers := mcpserver.Servers{}

	for _, name := range names {
		servers[name] = mcpserver.Server{Tools: []mcpserver.Tool{{Name: "restart", Results: []mcpserver.Result{{Text: &text}}}}}
	}

	return serve(t, mock.Config{Script: fresh(), MCP: func() mock.MCP {
		host, err := mcpserver.NewHost(servers, mcpserver.Options{})
		require.NoError(t, err)

		return host
	}})
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestSingleMCPServerNeedsNoNameInPath(t *testing.T) {
	t.Parallel()

	s := hosting(t, "shop")

	for _, path := range []string{"/mcp", "/mcp/", "/mcp/shop"} {
		got := s.ask(t, "POST", path, initialize, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
		require.Equal(t, 200, got.status, "%s: %s", path, got.body)
		require.Contains(t, got.body, `"serverInfo":{"name":"shop"`, path)
	}
}

func TestMCPPathWithoutNameNeedsExactlyOneServer(t *testing.T) {
	t.Parallel()

	for _, names := range [][]string{{}, {"shop", "web"}} {
		got := hosting(t, names...).ask(t, "POST", "/mcp", initialize)
		require.Equal(t, 404, got.status)
		require.Contains(t, got.body, "/mcp works only if the script has exactly one MCP server")
	}
}
