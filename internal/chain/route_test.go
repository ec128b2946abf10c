package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/llm"
)

const shop = `
defaults: {runbook: Look first.}
mcp_servers:
  logs: {transport: {type: stdio, command: x}}
  metrics: {transport: {type: stdio, command: x}}
llm_providers: {search: {type: google, model: m, native_tools: {google_search: true}}}
agents: {Looker: {mcp_servers: [logs]}, Reader: {mcp_servers: [metrics, logs]}}
agent_chains:
  shop: {alert_types: [shop, till], stages: [{name: look, agents: [{name: Looker}]}, {name: read, agents: [{name: Reader, llm_provider: search}]}]}
`

func TestAnAlertGoesToTheChainOfItsType(t *testing.T) {
	t.Parallel()
	c := load(t, shop)
	route, err := c.Route(tarsy.Alert{AlertType: "till"})
	require.NoError(t, err)
	require.Equal(t, get(t, c, "shop"), route.Chain)
	require.Equal(t, "till", route.AlertType)
	require.Equal(t, "Look first.", route.Runbook)

	route, err = c.Route(tarsy.Alert{})
	require.NoError(t, err)
	require.Equal(t, "kubernetes", route.AlertType, "the default type")
}

func TestAnAlertTypeWithoutAChainIsRejectedWithWhatThereIs(t *testing.T) {
	t.Parallel()
	_, err := load(t, shop).Route(tarsy.Alert{AlertType: "shp"})
	require.Equal(t, tarsy.CodeUnknownAlertType, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "did you mean shop")

	_, err = load(t, "agent_chains: {kubernetes: {alert_types: [b, a], stages: [{name: s, agents: [{name: GeneralWorker}]}]}}").Route(tarsy.Alert{})
	require.Equal(t, tarsy.CodeMissingField, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "use one of a, b")
}

func TestASelectionOfAnUnknownServerIsRejected(t *testing.T) {
	t.Parallel()
	c := load(t, shop)
	selection := func(name string) tarsy.Alert {
		return tarsy.Alert{AlertType: "shop", MCPSelection: &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: "logs"}, {Name: name}}}}
	}
	_, err := c.Route(selection("metrics"))
	require.NoError(t, err)

	_, err = c.Route(selection("metrisc"))
	require.Equal(t, tarsy.CodeUnknownMCPServer, tarsy.CodeOf(err))
	require.ErrorContains(t, err, `there is no MCP server "metrisc"; did you mean metrics`)
}

func TestDefaultToolsAreThoseOfAllStagesInOrder(t *testing.T) {
	t.Parallel()
	tools, err := load(t, shop).DefaultTools("shop")
	require.NoError(t, err)
	require.Equal(t, chain.Tools{
		AlertType: "shop", ChainID: "shop", Servers: []string{"logs", "metrics"}, NativeTools: llm.NativeTools{GoogleSearch: true, URLContext: true},
	}, tools)

	_, err = load(t, shop).DefaultTools("shp")
	require.Equal(t, tarsy.CodeUnknownAlertType, tarsy.CodeOf(err))
}
