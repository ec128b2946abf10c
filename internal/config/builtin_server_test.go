package config_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func TestPrometheusToolsAreBuiltInWhereAnAddressIsSet(t *testing.T) {
	t.Parallel()
	const address = "http://user:prometheus-password@prometheus.example:9090"

	without := mustLoad(t, "", nil)
	require.Equal(t, []string{"kubernetes-server"}, without.Agents["KubernetesAgent"].MCPServers)
	require.Empty(t, without.MCPServers["prometheus-server"].Transport.Env, "the server exists for chains that use it")

	vars := map[string]string{"PROMETHEUS_URL": address}
	c := mustLoad(t, "", vars)
	require.Equal(t, []string{"kubernetes-server", "prometheus-server"}, c.Agents["KubernetesAgent"].MCPServers)
	require.Contains(t, c.Origins(), config.Value{
		Path: "agents.KubernetesAgent.mcp_servers", Value: "[kubernetes-server, prometheus-server]", Origin: "env PROMETHEUS_URL",
	})

	server := c.MCPServers["prometheus-server"]
	require.Equal(t, map[string]string{"PROMETHEUS_URL": address}, server.Transport.Environment())
	require.Equal(t, []string{"-y", "prometheus-mcp@1.1.3", "stdio"}, server.Transport.Args)
	require.True(t, server.ReadOnly)
	require.Contains(t, c.Secrets(env(vars)), "prometheus-password")
	require.False(t, slices.ContainsFunc(c.Origins(), func(v config.Value) bool { return v.Value == address }))

	own := mustLoad(t, "agents: {KubernetesAgent: {mcp_servers: []}}\n", vars)
	require.Empty(t, own.Agents["KubernetesAgent"].MCPServers, "an entry of the files replaces the built-in")
}
