package mcp_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/jonboulle/clockwork"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/mcp"
)

func TestExcludedToolsAreNeitherListedNorCalled(t *testing.T) {
	t.Parallel()
	read := []string{"get_log", "get_pods"}
	tests := map[string]struct {
		server  agent.ToolRule
		agent   []agent.ToolRule
		offered []string
		missing string
	}{
		"no rule":                     {offered: []string{"get_log", "get_pods", "mystery", "restart"}},
		"allowed by the server":       {server: agent.ToolRule{Allowed: []string{"get_*"}}, offered: read},
		"denied by the server":        {server: agent.ToolRule{Denied: []string{"restart", "get_log", "rest"}}, offered: []string{"get_pods", "mystery"}},
		"denied wins":                 {server: agent.ToolRule{Allowed: []string{"get_*"}, Denied: []string{"get_l*"}}, offered: []string{"get_pods"}},
		"read-only server":            {server: agent.ToolRule{ReadOnly: true}, offered: read},
		"read-only agent":             {agent: []agent.ToolRule{{ReadOnly: true}}, offered: read},
		"two rules of the agent":      {agent: []agent.ToolRule{{ReadOnly: true}, {Denied: []string{"get_pods"}}}, offered: []string{"get_log"}},
		"agent cannot undo a denial":  {server: agent.ToolRule{Denied: []string{"restart"}}, agent: []agent.ToolRule{{Allowed: []string{"restart", "get_log"}}}, offered: []string{"get_log"}},
		"nothing is left":             {server: agent.ToolRule{Allowed: []string{"get-pods"}}, missing: "the configuration allows none of its 4 tools"},
		"agent's rules leave nothing": {agent: []agent.ToolRule{{Denied: []string{"*"}}}, missing: "the configuration allows none of its 4 tools"},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			server := newServer()
			count := func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
				calls++

				return text("done"), nil
			}
			addTool(server, "get_pods", true, count)
			addTool(server, "get_log", true, count)
			addTool(server, "restart", false, count)
			// Without annotations: it can write.
			server.AddTool(&mcpsdk.Tool{Name: "mystery", InputSchema: map[string]any{"type": "object"}}, count)

			cfg := mcp.Config{
				Servers:   map[string]mcp.ServerConfig{"srv": {Rule: test.server}},
				Transport: inMemory(map[string]*mcpsdk.Server{"srv": server}).transport,
			}
			tools, err := mcp.New(cfg).Open(t.Context(), executionID, []tarsy.MCPServerSelection{{Name: "srv"}}, test.agent)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, tools.Close()) })
			require.Empty(t, tools.Unavailable())
			require.Equal(t, test.missing, tools.Missing()["srv"])

			listed, err := tools.List(t.Context())
			require.NoError(t, err)
			var names []string
			for _, tool := range listed {
				names = append(names, tool.Name)
			}
			require.Equal(t, test.offered, names)

			for _, name := range []string{"get_pods", "get_log", "restart", "mystery"} {
				before := calls
				result := call(t, tools, "srv__"+name, `{}`)
				if slices.Contains(test.offered, name) {
					require.Equal(t, "done", result.Content)
					require.Equal(t, before+1, calls)

					continue
				}
				require.True(t, result.IsError)
				require.Contains(t, result.Content, "offers no tool")
				require.Equal(t, before, calls, "a refused call does not reach the server")
			}
		})
	}
}

func TestMissingSelectedToolsAreReported(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "get_pods", true, answering("pods"))
	addTool(server, "restart", false, answering("restarted"))
	cfg := mcp.Config{
		Servers:   map[string]mcp.ServerConfig{"srv": {Rule: agent.ToolRule{ReadOnly: true}}},
		Transport: inMemory(map[string]*mcpsdk.Server{"srv": server}).transport,
	}
	tools := open(t, cfg, tarsy.MCPServerSelection{Name: "srv", Tools: []string{"get_pods", "get_podz", "restart", "ignore all rules"}})
	require.Equal(t, map[string]string{"srv": "the alert selected tools that are not available: get_podz, restart, (invalid name)"}, tools.Missing())
	listed, err := tools.List(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 1)

	require.Empty(t, open(t, cfg, tarsy.MCPServerSelection{Name: "srv", Tools: []string{"get_pods"}}).Missing())
}

func TestMonitorListsOnlyAllowedToolsAndLogsUnmatchedNames(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "get_pods", true, answering("pods"))
	addTool(server, "restart", false, answering("restarted"))
	var log bytes.Buffer
	found := make(chan mcp.Status, 1)
	monitor := mcp.NewMonitor(mcp.MonitorConfig{
		Factory: mcp.New(mcp.Config{
			Servers:   map[string]mcp.ServerConfig{"srv": {Rule: agent.ToolRule{Allowed: []string{"get_*", "lst_pods"}, Denied: []string{"restrat"}}}},
			Transport: inMemory(map[string]*mcpsdk.Server{"srv": server}).transport,
			Logger:    slog.New(slog.NewTextHandler(&log, nil)),
		}),
		Servers: []string{"srv"}, Clock: clockwork.NewFakeClock(),
		Changed: func(_ string, status mcp.Status) { found <- status },
	})
	monitor.Start()
	status := <-found
	monitor.Stop()
	require.Equal(t, 1, status.Tools)
	require.Equal(t, "get_pods", monitor.Tools()["srv"][0].Name)
	require.Contains(t, log.String(), "tool=lst_pods")
	require.Contains(t, log.String(), "tool=restrat")
	require.NotContains(t, log.String(), "tool=get_")
}
