package chain_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
)

var update = flag.Bool("update", false, "write testdata/recipe.json")

const everything = `
defaults: {llm_provider: big, iteration_timeout: 90s, fallback_providers: [{provider: small}]}
llm_providers:
  big: {type: openai, model: gpt-x, api_key_env: KEY, headers: {X-Key: secret-header}, max_tool_result_tokens: 5000, native_tools: {google_search: true}}
  small: {type: google, model: gemini-x, base_url: 'https://user:secret-password@models.example'}
mcp_servers:
  logs:
    transport: {type: http, url: 'https://logs.example', bearer_token: secret-token}
    instructions: Ask for an hour at most.
    summarization: {enabled: true, llm_provider: small}
  metrics: {transport: {type: stdio, command: x, env: {PASSWORD: secret-env}}}
agents: {Looker: {mcp_servers: [logs], custom_instructions: Look closely.}, Reader: {mcp_servers: [metrics]}}
agent_chains:
  shop:
    alert_types: [shop]
    chat: {}
    stages:
      - {name: look, success_policy: all, agents: [{name: Looker}, {name: Reader, iteration_strategy: react, max_iterations: 3}]}
      - {name: decide, replicas: 2, agents: [{name: Looker, mcp_servers: []}]}
`

// The file is what servers of this release store. The previous release must be able to read a changed file, and this release
// the old file: only ever add fields.
func TestStoredRecipeIsCompatibleBetweenReleases(t *testing.T) {
	t.Parallel()
	c := load(t, everything)
	route, err := c.Route(tarsy.Alert{AlertType: "shop"}, nil)
	require.NoError(t, err)

	path := filepath.Join("testdata", "recipe.json")
	var pretty any
	require.NoError(t, json.Unmarshal(route.Recipe.Body, &pretty))
	got, err := json.MarshalIndent(pretty, "", "  ")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got)+"\n", "run go test ./internal/chain -update, and think of the previous release")

	// Fields of a newer release are ignored.
	newer := strings.NewReplacer(`"chain": {`, `"added": [1], "chain": {"added": {"x": 1},`, `"spec": {`, `"spec": {"added": true,`).Replace(string(want))
	require.NotEqual(t, string(want), newer)
	recipe, err := c.Decode(json.RawMessage(newer))
	require.NoError(t, err)
	require.Equal(t, get(t, c, "shop"), recipe.Chain)
	logs, _ := c.Server("logs")
	metrics, _ := c.Server("metrics")
	require.Equal(t, map[string]chain.Server{"logs": logs, "metrics": metrics}, recipe.Servers)
}

func TestStoredRecipeHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	route, err := load(t, everything).Route(tarsy.Alert{AlertType: "shop"}, nil)
	require.NoError(t, err)
	require.NotContains(t, string(route.Recipe.Body), "secret")
	require.NotContains(t, string(route.Recipe.Body), "example", "how a server is reached is no part of it")
}

func TestSessionNeedsModelsAndServersOfItsStages(t *testing.T) {
	t.Parallel()
	c := load(t, everything)
	route, err := c.Route(tarsy.Alert{AlertType: "shop"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"llm:big", "mcp:logs", "mcp:metrics"}, route.Recipe.Needs, "what is fallen back on is not needed")
	require.Subset(t, c.Has(), route.Recipe.Needs)
	require.Contains(t, c.Has(), "chain:shop")

	again, err := load(t, everything).Route(tarsy.Alert{AlertType: "shop"}, nil)
	require.NoError(t, err)
	require.Equal(t, route.Recipe, again.Recipe, "two servers with one configuration store one recipe")

	selected, err := c.Route(tarsy.Alert{AlertType: "shop", MCPSelection: &tarsy.MCPSelection{Servers: servers("metrics")}}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"llm:big", "mcp:metrics"}, selected.Recipe.Needs)
	require.NotEqual(t, route.Recipe.Hash, selected.Recipe.Hash)
	recipe, err := c.Decode(selected.Recipe.Body)
	require.NoError(t, err)
	require.Len(t, recipe.Servers, 1)
}

func TestRecipeIsReadWithCurrentConfiguration(t *testing.T) {
	t.Parallel()
	route, err := load(t, everything).Route(tarsy.Alert{AlertType: "shop"}, nil)
	require.NoError(t, err)

	without := strings.NewReplacer(
		"\n  small: {type: google, model: gemini-x, base_url: 'https://user:secret-password@models.example'}", "",
		", fallback_providers: [{provider: small}]", "", ", llm_provider: small", "",
	).Replace(everything)
	recipe, err := load(t, without).Decode(route.Recipe.Body)
	require.NoError(t, err)
	require.Empty(t, recipe.Chain.Stages[0].Agents[0].Spec.Fallbacks, "a model to fall back on that is gone is left out")
	require.Len(t, recipe.Chain.Summary.Models, 1)

	renamed := strings.ReplaceAll(everything, "big", "large")
	recipe, err = load(t, renamed).Decode(route.Recipe.Body)
	require.NoError(t, err)
	require.Equal(t, "big", recipe.Chain.Stages[0].Agents[0].Spec.Provider, "stages keep their model")
	require.Equal(t, "large", recipe.Chain.Chat.Spec.Provider, "questions are answered by a model that is there")

	recipe, err = load(t, strings.Replace(everything, "    chat: {}\n", "", 1)).Decode(route.Recipe.Body)
	require.NoError(t, err)
	require.Equal(t, "ChatAgent", recipe.Chain.Chat.Spec.Name)

	_, err = load(t, "").Decode(json.RawMessage(`{"chain": 1}`))
	require.ErrorContains(t, err, "decode recipe")
}

func TestNeedsHaveReadableNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, `chain "a" and MCP server "b" and LLM provider "c" and "other"`,
		chain.DescribeNeeds([]string{"chain:a", "mcp:b", "llm:c", "other"}))
}
