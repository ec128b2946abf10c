package mcp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/mcp"
)

func TestServerPrintingHelpIsReportedWithItsError(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	cfg := mcp.Config{
		Limits:  fast,
		Servers: map[string]mcp.ServerConfig{"proc": subprocess(t, "help", map[string]string{"SECRET": secret})},
		Mask:    func(_, text string) (string, error) { return strings.ReplaceAll(text, secret, "[MASKED]"), nil },
	}
	const want = "the process ended: exit status 1; stderr: Error: no current-context is set, token [MASKED]\n"

	unavailable := open(t, cfg, tarsy.MCPServerSelection{Name: "proc"}).Unavailable()["proc"]
	require.True(t, strings.HasPrefix(unavailable, want), unavailable)
	require.Contains(t, unavailable, "npm warn exec", "the beginning of the rest")
	require.Contains(t, unavailable, "see --help", "and its end")
	require.NotContains(t, unavailable, "\x1b")
	require.NotContains(t, unavailable, "hunter", "masked before it is cut")
	require.Less(t, len(unavailable), 1500)

	found := make(chan mcp.Status, 1)
	monitor := mcp.NewMonitor(mcp.MonitorConfig{
		Factory: mcp.New(cfg), Servers: []string{"proc"}, Changed: func(_ string, status mcp.Status) { found <- status },
	})
	monitor.Start()
	defer monitor.Stop()
	status := <-found
	require.False(t, status.Healthy)
	require.Equal(t, unavailable, status.Error, "the health monitor reports the same")
}
