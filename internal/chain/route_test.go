package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
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

func TestAlertIsRoutedByType(t *testing.T) {
	t.Parallel()
	c := load(t, shop)
	route, err := c.Route(tarsy.Alert{AlertType: "till"}, nil)
	require.NoError(t, err)
	require.Equal(t, get(t, c, "shop"), route.Chain)
	require.Equal(t, "till", route.AlertType)
	require.Equal(t, "Look first.", route.Runbook)

	route, err = c.Route(tarsy.Alert{}, nil)
	require.NoError(t, err)
	require.Equal(t, "kubernetes", route.AlertType, "the default type")
}

func TestUnknownAlertTypeIsRejectedWithKnownTypes(t *testing.T) {
	t.Parallel()
	_, err := load(t, shop).Route(tarsy.Alert{AlertType: "shp"}, nil)
	require.Equal(t, tarsy.CodeUnknownAlertType, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "did you mean shop")

	_, err = load(t, "agent_chains: {kubernetes: {alert_types: [b, a], stages: [{name: s, agents: [{name: GeneralWorker}]}]}}").Route(tarsy.Alert{}, nil)
	require.Equal(t, tarsy.CodeMissingField, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "use one of a, b")
}
