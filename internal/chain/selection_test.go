package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/llm"
)

func TestSelectionReplacesServersAndOverridesNativeTools(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	configured := chain.Agent{
		Servers: servers("logs"),
		Spec: agent.Spec{
			Strategy: agent.FunctionCalling, NativeTools: llm.NativeTools{GoogleSearch: true, URLContext: true},
			Fallbacks: []agent.Fallback{{Provider: "other", NativeTools: llm.NativeTools{GoogleSearch: true}}},
		},
	}
	require.Equal(t, configured, configured.Select(nil))

	selection := &tarsy.MCPSelection{
		Servers:     servers("metrics"),
		NativeTools: &tarsy.NativeToolsSelection{GoogleSearch: &no, CodeExecution: &yes},
	}
	selected := configured.Select(selection)
	require.Equal(t, servers("metrics"), selected.Servers)
	require.Equal(t, llm.NativeTools{CodeExecution: true, URLContext: true}, selected.Spec.NativeTools)
	require.Equal(t, llm.NativeTools{CodeExecution: true}, selected.Spec.Fallbacks[0].NativeTools)
	require.True(t, configured.Spec.Fallbacks[0].NativeTools.GoogleSearch, "the chain itself stays as it is")

	require.Equal(t, configured.Spec.NativeTools, configured.Select(&tarsy.MCPSelection{}).Spec.NativeTools)

	synthesis := chain.Agent{Spec: agent.Spec{Strategy: agent.Synthesis}}
	require.Equal(t, synthesis, synthesis.Select(selection), "a synthesis has no tools, whatever the alert selects")
}
