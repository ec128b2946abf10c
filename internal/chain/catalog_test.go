package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
)

// load resolves text as tarsy.yaml.
func load(t *testing.T, text string) *chain.Catalog {
	t.Helper()
	cfg, err := config.Load(config.Source{Files: []config.File{{Name: "tarsy.yaml", Text: []byte(text)}}})
	require.NoError(t, err)
	return chain.NewCatalog(cfg)
}

func get(t *testing.T, c *chain.Catalog, id string) chain.Chain {
	t.Helper()
	resolved, ok := c.Chain(id)
	require.True(t, ok)
	require.Equal(t, id, resolved.ID)
	return resolved
}

func servers(ids ...string) []tarsy.MCPServerSelection {
	var all []tarsy.MCPServerSelection
	for _, id := range ids {
		all = append(all, tarsy.MCPServerSelection{Name: id})
	}
	return all
}

func nothingSet(string) (string, bool) { return "", false }

func TestBuiltInChainIsUsedWithoutFiles(t *testing.T) {
	t.Parallel()
	c := load(t, "")
	require.Equal(t, []string{"kubernetes-server"}, c.MCPServers())
	require.Equal(t, []string{"google-default"}, c.LLMProviders())
}

func TestBuiltInUnusedByUserChainsIsNotInUse(t *testing.T) {
	t.Parallel()
	c := load(t, `
defaults: {llm_provider: told}
llm_providers: {told: {type: scripted}}
agent_chains:
  mine: {alert_types: [mine], stages: [{name: one, agents: [{name: GeneralWorker}]}]}
`)
	require.Empty(t, c.MCPServers())
	require.Equal(t, []string{"told"}, c.LLMProviders())
	_, err := c.Route(tarsy.Alert{AlertType: "kubernetes"}, nil)
	require.NoError(t, err, "the built-in chain is still there for who submits to it")
}

func TestUnusedModelMayLackItsKey(t *testing.T) {
	t.Parallel()
	c := load(t, "defaults: {llm_provider: told}\nllm_providers: {told: {type: scripted}, other: {type: openai, model: m, api_key_env: KEY}}\n")
	require.Empty(t, c.UnsetVariables(nothingSet))
	c = load(t, "defaults: {llm_provider: told, fallback_providers: [{provider: other}]}\n"+
		"llm_providers: {told: {type: scripted}, other: {type: openai, model: m, api_key_env: KEY}}\n")
	require.Len(t, c.UnsetVariables(nothingSet), 1, "a fallback is in use")
}

func TestUnenforceableCostCapIsWarning(t *testing.T) {
	t.Parallel()
	const budgets = "system:\n  budgets: {daily: {max_cost_usd: 10}, session: {max_tokens: 5}}\n"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"prices are known", budgets, nil},
		{"costs are not estimated", budgets + "  cost_estimation: {enabled: false}\n",
			[]string{"tarsy.yaml:2: system.budgets.daily.max_cost_usd: has no effect: system.cost_estimation is off"}},
		{"a model in use has no price", budgets + "defaults: {llm_provider: p}\nllm_providers: {p: {type: openai, model: home-grown}, q: {type: openai, model: unused}}\n",
			[]string{"tarsy.yaml:2: system.budgets.daily.max_cost_usd: does not cover p: the price of its model home-grown is unknown; " +
				"add it to system.cost_estimation.model_rates"}},
		{"no cap on cost", "system:\n  budgets: {daily: {max_tokens: 10}}\n  cost_estimation: {enabled: false}\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range load(t, tt.text).Warnings() {
				got = append(got, w.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestUnusableModelInUseIsWarning(t *testing.T) {
	t.Parallel()
	require.Empty(t, load(t, "defaults: {llm_provider: told}\nllm_providers: {told: {type: scripted}}\n").Warnings(), "nobody uses vertexai-default")
	got := load(t, "defaults: {llm_provider: vertexai-default}\n").Warnings()
	require.Len(t, got, 1)
	require.Contains(t, got[0].String(), "llm_providers.vertexai-default: Claude models on Vertex AI are not supported yet")
}

func TestModelOfNotes(t *testing.T) {
	t.Parallel()

	const providers = "llm_providers: {one: {type: openai, model: big, api_key_env: A}, two: {type: google, model: small, api_key_env: B}}\n"

	m := load(t, "defaults: {llm_provider: one}\n"+providers).NoteModel()
	require.Equal(t, []string{"one", "big", config.BackendLangChain}, []string{m.Provider, m.Model, m.Backend})

	c := load(t, "defaults: {llm_provider: one}\nnotes: {llm_provider: two}\n"+providers)
	m = c.NoteModel()
	require.Equal(t, []string{"two", "small", config.BackendGoogleNative}, []string{m.Provider, m.Model, m.Backend})
	require.Contains(t, c.LLMProviders(), "two")
}
