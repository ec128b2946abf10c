package chain_test

import (
	"slices"
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

const rerunnable = `
defaults: {fallback_providers: [{provider: big}, {provider: small}]}
llm_providers:
  big: {type: openai, model: gpt-x, max_tool_result_tokens: 5000}
  small: {type: google, model: gemini-x}
mcp_servers: {logs: {transport: {type: stdio, command: x}, summarization: {enabled: true, llm_provider: small}}}
agents: {Looker: {mcp_servers: [logs]}, Reader: {}}
agent_chains:
  shop:
    alert_types: [shop]
    llm_provider: small
    llm_backend: google-native
    executive_summary_provider: small
    chat: {llm_provider: small}
    stages:
      - {name: look, agents: [{name: Looker, llm_provider: small}, {name: Reader}]}
      - {name: read, agents: [{name: Reader, iteration_strategy: react}]}
  till: {alert_types: [till], stages: [{name: read, agents: [{name: Reader}]}]}
`

func TestProviderOfAlertReplacesThoseOfChain(t *testing.T) {
	t.Parallel()
	c := load(t, rerunnable)
	route, err := c.Route(tarsy.Alert{AlertType: "shop", LLMProvider: "big"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"llm:big", "mcp:logs"}, route.Recipe.Needs)

	recipe, err := c.Decode(route.Recipe.Body)
	require.NoError(t, err)
	shop := recipe.Follow(nil)
	agents := append(slices.Clone(shop.Stages[0].Agents), shop.Stages[1].Agents[0], shop.Stages[0].Synthesis, *shop.Chat)
	require.Len(t, agents, 5)
	for _, a := range agents {
		require.Equal(t, []string{"big", "gpt-x", "langchain"}, []string{a.Spec.Provider, a.Spec.Model, a.Spec.Backend}, a.Spec.Name)
		require.Equal(t, 5000, a.Spec.MaxResultTokens, a.Spec.Name)
		require.Len(t, a.Spec.Fallbacks, 1, a.Spec.Name)
		require.Equal(t, "small", a.Spec.Fallbacks[0].Provider, "what the chain falls back on, without what is called first")
	}
	require.Equal(t, "big", shop.Summary.Models[0].Provider)
	require.Equal(t, "big", shop.Verdict.Models[0].Provider)
	require.Equal(t, "small", recipe.Servers["logs"].Digest.Provider, "a server's own model stays")
	require.Equal(t, "small", get(t, c, "shop").Stages[0].Agents[0].Spec.Provider, "other sessions use those of the chain")
}

func TestChosenChainAndProviderMustBeConfigured(t *testing.T) {
	t.Parallel()
	c := load(t, rerunnable)
	route, err := c.Route(tarsy.Alert{AlertType: "shop", ChainID: "till", ChainRequired: true}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"till", "shop"}, []string{route.Chain.ID, route.AlertType})

	_, err = c.Route(tarsy.Alert{AlertType: "shop", ChainID: "tills", ChainRequired: true}, nil)
	require.Equal(t, tarsy.CodeUnknownChain, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "did you mean till")

	route, err = c.Route(tarsy.Alert{AlertType: "shop", ChainID: "tills"}, nil)
	require.NoError(t, err)
	require.Equal(t, "shop", route.Chain.ID, "what nobody chose is replaced by the chain of the type")

	_, err = c.Route(tarsy.Alert{AlertType: "shop", LLMProvider: "bigg"}, nil)
	require.Equal(t, tarsy.CodeUnknownLLMProvider, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "did you mean big")

	tools, err := c.AllowedTools("till", "", nil)
	require.NoError(t, err)
	require.Equal(t, "till", tools.ChainID)
	require.Empty(t, tools.Servers)
	_, err = c.AllowedTools("tills", "shop", nil)
	require.Equal(t, tarsy.CodeUnknownChain, tarsy.CodeOf(err))
}
