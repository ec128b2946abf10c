package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/llm"
)

const limited = `
mcp_servers:
  logs: {transport: {type: stdio, command: x}, denied_tools: [purge]}
  metrics: {transport: {type: stdio, command: x}}
  github: {transport: {type: stdio, command: x}}
llm_providers: {search: {type: google, model: m, native_tools: {google_search: true}}}
agents:
  Looker: {mcp_servers: [logs], read_only: true}
  Reader: {mcp_servers: [metrics, logs], allowed_tools: ['get_*', query], denied_tools: [get_secret]}
agent_chains:
  shop:
    alert_types: [shop]
    stages: [{name: look, agents: [{name: Looker}]}, {name: read, agents: [{name: Reader, llm_provider: search, denied_tools: [get_all]}]}]
  code: {alert_types: [code], stages: [{name: look, agents: [{name: GeneralWorker, mcp_servers: [github]}]}]}
`

func offered() chain.Offered {
	tool := func(server, name string, reads bool) agent.Tool {
		return agent.Tool{Server: server, Name: name, ReadOnly: reads}
	}

	return chain.Offered{
		"logs":    {tool("logs", "get_lines", false), tool("logs", "rotate", false), tool("logs", "tail", true)},
		"metrics": {tool("metrics", "get_all", true), tool("metrics", "get_one", false), tool("metrics", "get_secret", true), tool("metrics", "query", true)},
		"github":  {tool("github", "merge", false)},
	}
}

func TestSelectionOutsideChainIsRefusedWithAllowedNames(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	all := offered()
	tests := map[string]struct {
		selection tarsy.MCPSelection
		offered   chain.Offered
		code      tarsy.Code // empty: accepted
		field     string
		message   string
	}{
		"servers of the chain": {selection: tarsy.MCPSelection{Servers: servers("logs", "metrics")}, offered: all},
		"a server of another chain": {
			tarsy.MCPSelection{Servers: servers("logs", "github")}, all, tarsy.CodeMCPServerNotAllowed, "mcp_selection.servers",
			`the chain "shop" does not allow the MCP server "github"; known MCP servers of the chain: logs, metrics`,
		},
		"a misspelt server": {
			tarsy.MCPSelection{Servers: servers("metrisc")}, all, tarsy.CodeUnknownMCPServer, "mcp_selection.servers",
			`there is no MCP server "metrisc"; did you mean metrics`,
		},
		"tools that some agent may use": {selection: tools("logs", "tail", "get_lines"), offered: all},
		"a misspelt tool": {
			tools("metrics", "query", "qurey"), all, tarsy.CodeUnknownTool, "mcp_selection.servers[0].tools[1]",
			`the MCP server "metrics" offers no tool "qurey"; did you mean query`,
		},
		"a tool that the rules of every agent exclude": {
			tools("logs", "rotate"), all, tarsy.CodeToolNotAllowed, "mcp_selection.servers[0].tools[0]",
			`the chain "shop" does not allow the tool "rotate" of the MCP server "logs"; known tools of the chain: tail, get_lines`,
		},
		"a tool that the stage's entry denies": {
			tools("metrics", "get_all"), all, tarsy.CodeToolNotAllowed, "mcp_selection.servers[0].tools[0]", "get_one, query",
		},
		"a tool that the server's configuration denies": {
			tools("logs", "purge"), all, tarsy.CodeToolNotAllowed, "mcp_selection.servers[0].tools[0]", `does not allow the tool "purge"`,
		},
		"any tool of a server that has not answered": {selection: tools("logs", "tial")},
		"a denied tool of a server that has not answered": {
			tools("logs", "purge"), nil, tarsy.CodeToolNotAllowed, "mcp_selection.servers[0].tools[0]", `does not allow the tool "purge"`,
		},
		"a tool outside the agent's list, of a server that has not answered": {
			tools("metrics", "write"), nil, tarsy.CodeToolNotAllowed, "mcp_selection.servers[0].tools[0]", `does not allow the tool "write"`,
		},
		"a native tool switched off": {
			selection: tarsy.MCPSelection{NativeTools: &tarsy.NativeToolsSelection{GoogleSearch: &no, URLContext: &no}}, offered: all,
		},
		"a native tool that is on": {selection: tarsy.MCPSelection{NativeTools: &tarsy.NativeToolsSelection{GoogleSearch: &yes}}, offered: all},
		"a native tool switched on": {
			tarsy.MCPSelection{NativeTools: &tarsy.NativeToolsSelection{CodeExecution: &yes}}, all, tarsy.CodeToolNotAllowed,
			"mcp_selection.native_tools.code_execution", `the chain "shop" has code_execution off: an alert can only switch native tools off`,
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, limited).Route(tarsy.Alert{AlertType: "shop", MCPSelection: &test.selection}, test.offered)
			if test.code == "" {
				require.NoError(t, err)

				return
			}
			var refused *tarsy.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, test.code, refused.Code)
			require.Equal(t, test.field, refused.Field)
			require.Contains(t, refused.Message, test.message)
		})
	}
}

func tools(server string, names ...string) tarsy.MCPSelection {
	return tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: server, Tools: names}}}
}

func TestAllowedToolsAreThoseAnyAgentMayUse(t *testing.T) {
	t.Parallel()
	c := load(t, limited)
	known := offered()
	delete(known, "github")
	got, err := c.AllowedTools("", "shop", known)
	require.NoError(t, err)
	require.Equal(t, chain.Tools{AlertType: "shop", ChainID: "shop", NativeTools: llm.NativeTools{GoogleSearch: true, URLContext: true}, Servers: []chain.ServerTools{
		{Name: "logs", Tools: []string{"get_lines", "tail"}, Known: true},
		{Name: "metrics", Tools: []string{"get_one", "query"}, Known: true},
	}}, got)

	got, err = c.AllowedTools("", "code", known)
	require.NoError(t, err)
	require.Equal(t, []chain.ServerTools{{Name: "github"}}, got.Servers)

	_, err = c.AllowedTools("", "shp", known)
	require.Equal(t, tarsy.CodeUnknownAlertType, tarsy.CodeOf(err))
}

func TestRecipeWithToolRulesNeedsServerThatSupportsThem(t *testing.T) {
	t.Parallel()
	c := load(t, limited)
	route, err := c.Route(tarsy.Alert{AlertType: "shop"}, nil)
	require.NoError(t, err)
	require.Contains(t, route.Recipe.Needs, "feature:tool-rules")
	require.Subset(t, c.Has(), route.Recipe.Needs)

	recipe, err := c.Decode(route.Recipe.Body)
	require.NoError(t, err)
	require.Equal(t, []agent.ToolRule{{ReadOnly: true}}, recipe.Chain.Stages[0].Agents[0].ToolRules)
	require.Equal(t, []agent.ToolRule{
		{Allowed: []string{"get_*", "query"}, Denied: []string{"get_secret"}}, {Denied: []string{"get_all"}},
	}, recipe.Chain.Stages[1].Agents[0].ToolRules, "the entry of the stage adds to the rule of the agent")

	route, err = c.Route(tarsy.Alert{AlertType: "code"}, nil)
	require.NoError(t, err)
	require.NotContains(t, route.Recipe.Needs, "feature:tool-rules", "earlier releases may run it")
}
