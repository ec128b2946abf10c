package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/llm"
)

func TestSelectionNarrowsWhatEachAgentMayUse(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	spec := agent.Spec{
		Strategy: agent.FunctionCalling, NativeTools: llm.NativeTools{GoogleSearch: true, URLContext: true},
		Fallbacks: []agent.Fallback{{Provider: "other", NativeTools: llm.NativeTools{GoogleSearch: true, URLContext: true}}},
	}
	rules := []agent.ToolRule{{ReadOnly: true}}
	synthesis := chain.Agent{Spec: agent.Spec{Strategy: agent.Synthesis}, Servers: servers("logs")}
	recipe := chain.Recipe{Narrows: true, Chain: chain.Chain{
		Stages: []chain.Stage{{Agents: []chain.Agent{
			{Spec: spec, Servers: servers("logs", "metrics"), ToolRules: rules},
			{Spec: spec, Servers: servers("traces")},
			{Spec: spec, Servers: []tarsy.MCPServerSelection{{Name: "logs", Tools: []string{"read", "tail"}}, {Name: "metrics", Tools: []string{"write"}}}},
			synthesis,
		}}},
		Chat: &chain.Agent{Spec: spec, Servers: servers("metrics", "traces")},
	}}
	require.Equal(t, recipe.Chain, recipe.Follow(nil))

	followed := recipe.Follow(&tarsy.MCPSelection{
		Servers:     []tarsy.MCPServerSelection{{Name: "metrics", Tools: []string{"query"}}, {Name: "logs"}, {Name: "elsewhere"}},
		NativeTools: &tarsy.NativeToolsSelection{GoogleSearch: &no, CodeExecution: &yes},
	})
	agents := followed.Stages[0].Agents
	query := tarsy.MCPServerSelection{Name: "metrics", Tools: []string{"query"}}
	require.Equal(t, []tarsy.MCPServerSelection{{Name: "logs"}, query}, agents[0].Servers)
	require.Equal(t, rules, agents[0].ToolRules)
	require.Empty(t, agents[1].Servers, "an agent gets no server that it does not have itself")
	require.Equal(t, []tarsy.MCPServerSelection{{Name: "logs", Tools: []string{"read", "tail"}}}, agents[2].Servers,
		"no tool in common must not become all tools")
	require.Equal(t, synthesis, agents[3], "it has no tools, whatever the alert selects")
	require.Equal(t, []tarsy.MCPServerSelection{query}, followed.Chat.Servers)

	for _, a := range []chain.Agent{agents[0], *followed.Chat} {
		require.Equal(t, llm.NativeTools{URLContext: true}, a.Spec.NativeTools, "switched off, never on")
		require.Equal(t, llm.NativeTools{URLContext: true}, a.Spec.Fallbacks[0].NativeTools)
	}

	require.True(t, recipe.Chain.Chat.Spec.Fallbacks[0].NativeTools.GoogleSearch, "the recipe itself stays as it is")
	require.Equal(t, servers("logs", "metrics"), recipe.Chain.Stages[0].Agents[0].Servers)
}

// Earlier releases allowed an alert to select any configured server. Their recipes lack the field narrows.
func TestSessionStoredByEarlierReleaseKeepsItsWiderSelection(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	c := load(t, shop)
	recipe, err := c.Decode([]byte(`{"chain": {"id": "shop", "stages": [{"agents": [{"spec": {"strategy": "function-calling",
		"native_tools": {"google_search": true, "url_context": true}}, "servers": [{"name": "logs"}]}]}]}, "servers": {"metrics": {}}}`))
	require.NoError(t, err)

	selection := &tarsy.MCPSelection{Servers: servers("metrics"), NativeTools: &tarsy.NativeToolsSelection{GoogleSearch: &no, CodeExecution: &yes}}
	a := recipe.Follow(selection).Stages[0].Agents[0]
	require.Equal(t, servers("metrics"), a.Servers)
	require.Equal(t, llm.NativeTools{CodeExecution: true, URLContext: true}, a.Spec.NativeTools)
	require.Equal(t, []string{"mcp:metrics"}, recipe.Needs(selection))
}
