package chain_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
)

const chatLimits = `
mcp_servers:
  logs: {transport: {type: stdio, command: x}}
  metrics: {transport: {type: stdio, command: x}}
  github: {transport: {type: stdio, command: x}}
agents:
  Looker: {mcp_servers: [logs], read_only: true}
  Reader: {mcp_servers: [metrics, logs], allowed_tools: ['get_*']}
  Free: {mcp_servers: [logs]}
  Silent: {mcp_servers: [github], iteration_strategy: synthesis}
`

func TestChatMayUseOnlyWhatSomeAgentMayUse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		chain   string
		allowed []string
		rules   int
	}{
		"one agent": {"stages: [{name: a, agents: [{name: Looker}]}], chat: {}", []string{"logs.tail"}, 1},
		"replicas":  {"stages: [{name: a, replicas: 3, agents: [{name: Looker}]}], chat: {}", []string{"logs.tail"}, 1},
		"an entry of a stage": {
			"stages: [{name: a, agents: [{name: Free, denied_tools: [rotate]}]}], chat: {}", []string{"logs.get_lines", "logs.tail"}, 1,
		},
		"each agent has its own servers": {
			"stages: [{name: a, agents: [{name: Looker}]}, {name: b, agents: [{name: Reader}]}], chat: {}",
			[]string{"logs.get_lines", "logs.tail", "metrics.get_all", "metrics.get_one", "metrics.get_secret"}, 1,
		},
		"one agent of a server is not limited": {
			"stages: [{name: a, agents: [{name: Looker}, {name: Free}]}], chat: {}", []string{"logs.get_lines", "logs.rotate", "logs.tail"}, 0,
		},
		"an agent without tools grants none": {
			"stages: [{name: a, agents: [{name: Looker}, {name: Silent}]}], chat: {}", []string{"logs.tail"}, 1,
		},
		"the chat's own rule limits further": {
			"stages: [{name: a, agents: [{name: Reader}]}], chat: {read_only: true}", []string{"metrics.get_all", "metrics.get_secret"}, 2,
		},
		"the chat lists its servers itself": {
			"stages: [{name: a, agents: [{name: Looker}]}], chat: {mcp_servers: [logs, github]}",
			[]string{"github.merge", "logs.get_lines", "logs.rotate", "logs.tail"}, 0,
		},
		"the chain lists a server that no agent has": {
			"mcp_servers: [github, logs], stages: [{name: a, agents: [{name: Looker, mcp_servers: [logs]}]}], chat: {}",
			[]string{"github.merge", "logs.tail"}, 1,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := load(t, chatLimits+"agent_chains: {c: {alert_types: [c], "+tt.chain+"}}\n")
			route, err := c.Route(tarsy.Alert{AlertType: "c"}, nil)
			require.NoError(t, err)
			recipe, err := c.Decode(route.Recipe.Body)
			require.NoError(t, err)
			require.Equal(t, tt.allowed, callable(*recipe.Chain.Chat))
			require.Len(t, recipe.Chain.Chat.ToolRules, tt.rules)
		})
	}
}

// callable returns the offered tools that the agent may call, sorted.
func callable(a chain.Agent) []string {
	var names []string
	for _, s := range a.Servers {
		for _, tool := range offered()[s.Name] {
			if !slices.ContainsFunc(a.ToolRules, func(r agent.ToolRule) bool { return !r.Allows(tool) }) {
				names = append(names, tool.Server+"."+tool.Name)
			}
		}
	}
	slices.Sort(names)

	return names
}
