package mcp_test

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/mcp"
)

func namesOf(t *testing.T, tools agent.Tools) []string {
	t.Helper()
	list, err := tools.List(t.Context())
	require.NoError(t, err)
	names := make([]string, 0, len(list))
	for _, tool := range list {
		names = append(names, tool.Name)
	}

	return names
}

// growing is a server with a tool that changes the tool list.
func growing(t *testing.T) *mcpsdk.Server {
	t.Helper()
	server := newServer()
	addTool(server, "old", true, answering("old"))
	addTool(server, "grow", true, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		addTool(server, "added", true, answering("added"))
		addTool(server, "writes", false, answering("written"))
		addTool(server, "forbidden", true, answering("forbidden"))
		server.RemoveTools("old")

		return text("grown"), nil
	})
	t.Cleanup(func() { endSessions(server) })

	return server
}

func TestToolAddedByCallIsListedAfterIt(t *testing.T) {
	t.Parallel()
	for name, transport := range map[string]func(*testing.T, *mcpsdk.Server) mcp.Config{
		"stream": func(_ *testing.T, server *mcpsdk.Server) mcp.Config {
			return mcp.Config{Transport: inMemory(map[string]*mcpsdk.Server{"srv": server}).transport}
		},
		"http": func(t *testing.T, server *mcpsdk.Server) mcp.Config {
			t.Helper()
			handler := mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return server }, nil)

			return mcp.Config{Servers: map[string]mcp.ServerConfig{"srv": {Transport: mcp.Transport{Type: mcp.TransportHTTP, URL: serve(t, handler).URL}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := transport(t, growing(t))
			cfg.Limits = fast
			rules := []agent.ToolRule{{Denied: []string{"forbidden"}}, {ReadOnly: true}}
			tools, err := mcp.New(cfg).Open(t.Context(), executionID, []tarsy.MCPServerSelection{{Name: "srv"}}, rules)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, tools.Close()) })
			require.Equal(t, []string{"grow", "old"}, namesOf(t, tools))

			grow, err := tools.Call(t.Context(), agent.Call{ID: "call-1", Server: "srv", Tool: "grow", Name: "srv__grow"})
			require.NoError(t, err)
			require.Equal(t, "grown", grow.Content)
			added := agent.Call{ID: "call-2", Server: "srv", Tool: "added", Name: "srv__added"}
			early, err := tools.Call(t.Context(), added)
			require.NoError(t, err)
			require.Contains(t, early.Content, `offers no tool "added"`, "a name means what it meant in the last list")

			require.Equal(t, []string{"added", "grow"}, namesOf(t, tools), "the rules hold")
			late, err := tools.Call(t.Context(), added)
			require.NoError(t, err)
			require.Equal(t, "added", late.Content)
			for _, refused := range []string{"old", "writes", "forbidden"} {
				result, err := tools.Call(t.Context(), agent.Call{ID: "call-3", Server: "srv", Tool: refused, Name: "srv__" + refused})
				require.NoError(t, err)
				require.True(t, result.IsError)
				require.Zero(t, result.Attempts)
			}
		})
	}
}

func TestAnnouncedToolIsListedWithoutCall(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "old", true, answering("old"))
	tools := openOne(t, server, mcp.Config{Limits: fast})
	require.Equal(t, []string{"old"}, namesOf(t, tools))
	addTool(server, "added", true, answering("added"))
	wait.Until(t, "the announced tool", func() bool { return slices.Contains(namesOf(t, tools), "added") })
	require.Equal(t, "added", call(t, tools, "srv__added", "").Content)
}

func TestSelectionOfAlertHoldsForChangedToolList(t *testing.T) {
	t.Parallel()
	cfg := mcp.Config{Limits: fast, Transport: inMemory(map[string]*mcpsdk.Server{"srv": growing(t)}).transport}
	tools := open(t, cfg, tarsy.MCPServerSelection{Name: "srv", Tools: []string{"grow", "writes"}})
	require.Equal(t, map[string]string{"srv": "the alert selected tools that are not available: writes"}, tools.Missing())
	call(t, tools, "srv__grow", "")
	require.Equal(t, []string{"grow", "writes"}, namesOf(t, tools))
	require.Empty(t, tools.Missing())
}

func TestUnchangedToolListIsNotReadAgain(t *testing.T) {
	t.Parallel()
	var reads atomic.Int32
	raw := &rawServer{
		onList: func() bool { reads.Add(1); return true },
		onCall: func(id string) []string { return []string{answerDone(id)} },
	}
	tools := open(t, mcp.Config{Transport: raw.transport, Limits: fast}, tarsy.MCPServerSelection{Name: "raw"})
	for range 3 {
		call(t, tools, "raw__write", "")
	}
	require.Equal(t, []string{"write"}, namesOf(t, tools))
	require.Equal(t, int32(1), reads.Load(), "the server does not announce changes")
}

func answerDone(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"done"}]}}`
}

func TestToolsStayIfChangedListCannotBeRead(t *testing.T) {
	t.Parallel()
	var reads atomic.Int32
	raw := &rawServer{
		onList: func() bool { return reads.Add(1) == 1 },
		onCall: func(id string) []string {
			return []string{`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, answerDone(id)}
		},
	}
	limits := fast
	limits.Reinit = 50 * time.Millisecond
	tools := open(t, mcp.Config{Transport: raw.transport, Limits: limits}, tarsy.MCPServerSelection{Name: "raw"})
	require.Equal(t, "done", call(t, tools, "raw__write", "").Content)
	wait.Until(t, "an attempt to read the list", func() bool {
		require.Equal(t, []string{"write"}, namesOf(t, tools))

		return reads.Load() == 2
	})
	require.Equal(t, "done", call(t, tools, "raw__write", "").Content)
}
