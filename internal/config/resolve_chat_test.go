package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

const chatTop = `
llm_providers:
  one: {type: google, model: m, native_tools: {google_search: true, url_context: true}}
  two: {type: openai, model: m}
  three: {type: anthropic, model: m}
mcp_servers:
  s1: {transport: {type: stdio, command: x}}
  s2: {transport: {type: stdio, command: x}}
  s3: {transport: {type: stdio, command: x}}
`

func TestWhoAnswersQuestions(t *testing.T) {
	t.Parallel()
	const stages = "alert_types: [c], stages: [{name: a, agents: [{name: A, mcp_servers: [s1]}]}, {name: b, agents: [{name: A, mcp_servers: [s2, s1]}]}]"
	tests := []struct {
		name, defaults, agents, chain      string
		agent, provider, strategy, backend string
		iterations                         int
		servers                            []string
	}{
		{
			"built-ins, with the servers of all stages", "", "", "chat: {}",
			"ChatAgent", "google-default", "function-calling", "google-native", 20, []string{"s1", "s2"},
		},
		{
			"the chain", "max_iterations: 9", "", "llm_provider: two, max_iterations: 8, mcp_servers: [s3], chat: {}",
			"ChatAgent", "two", "function-calling", "langchain", 8, []string{"s3"},
		},
		{
			"the agent over the defaults", "max_iterations: 9, iteration_strategy: react",
			"H: {max_iterations: 7, iteration_strategy: langchain, mcp_servers: [s3]}", "chat: {agent: H}",
			"H", "google-default", "function-calling", "langchain", 7, []string{"s1", "s2"},
		},
		{
			"the chain over the agent", "max_iterations: 9", "H: {max_iterations: 7, iteration_strategy: react, mcp_servers: [s1]}",
			"llm_provider: two, max_iterations: 8, iteration_strategy: native-thinking, mcp_servers: [s3], chat: {agent: H}",
			"H", "two", "function-calling", "google-native", 8, []string{"s3"},
		},
		{
			"the chat itself", "max_iterations: 9", "H: {max_iterations: 7, iteration_strategy: native-thinking}",
			"llm_provider: two, mcp_servers: [s3], chat: {agent: H, llm_provider: three, llm_backend: langchain, max_iterations: 2, mcp_servers: [s1]}",
			"H", "three", "function-calling", "langchain", 2, []string{"s1"},
		},
		{
			"a strategy for the chat alone", "", "", "iteration_strategy: native-thinking, chat: {iteration_strategy: react}",
			"ChatAgent", "google-default", "react", "google-native", 20, []string{"s1", "s2"},
		},
		{
			"no servers at all", "", "", "chat: {mcp_servers: []}",
			"ChatAgent", "google-default", "function-calling", "google-native", 20, []string{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, chatTop+"defaults: {"+tt.defaults+"}\nagents: {A: {}, "+tt.agents+"}\nagent_chains: {c: {"+stages+", "+tt.chain+"}}\n", nil)
			got, ok := c.ResolveChat(c.Chains["c"])
			require.True(t, ok)
			require.Equal(t, tt.agent, got.Name)
			require.Equal(t, tt.provider, got.Provider)
			require.Equal(t, tt.strategy, got.Strategy)
			require.Equal(t, tt.backend, got.Backend)
			require.Equal(t, tt.iterations, got.MaxIterations)
			require.Equal(t, tt.servers, got.MCPServers)
			require.Contains(t, c.UsedLLMProviders(), tt.provider)
		})
	}
}

func TestAChainTakesQuestionsOnlyWhereItSaysSo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "chat: {}, ": true, "chat: {enabled: true}, ": true, "chat: {enabled: false}, ": false} {
		c := mustLoad(t, "agents: {A: {}}\nagent_chains: {c: {"+text+"alert_types: [c], stages: [{name: a, agents: [{name: A}]}]}}\n", nil)
		_, ok := c.ResolveChat(c.Chains["c"])
		require.Equal(t, want, ok, text)
	}
	c := mustLoad(t, "", nil)
	_, ok := c.ResolveChat(c.Chains["kubernetes"])
	require.True(t, ok, "the built-in chain takes questions")
}

func TestWhoWritesTheSynthesis(t *testing.T) {
	t.Parallel()
	const two = "alert_types: [c], stages: [{name: a, agents: [{name: A}, {name: A}]"
	tests := []struct {
		name, chain, synthesis   string
		agent, provider, backend string
	}{
		{"built-in", "", "", "SynthesisAgent", "google-default", "google-native"},
		{"the chain's model", "llm_provider: two, ", "", "SynthesisAgent", "two", "langchain"},
		{"its own", "llm_provider: two, ", ", synthesis: {agent: S, llm_provider: three, llm_backend: google-native}", "S", "three", "google-native"},
		{"an old word", "", ", synthesis: {iteration_strategy: synthesis}", "SynthesisAgent", "google-default", "langchain"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, chatTop+"agents: {A: {mcp_servers: [s1]}, S: {mcp_servers: [s1]}}\nagent_chains: {c: {"+tt.chain+two+tt.synthesis+"}]}}\n", nil)
			got := c.ResolveSynthesis(c.Chains["c"], 0)
			require.Equal(t, tt.agent, got.Name)
			require.Equal(t, tt.provider, got.Provider)
			require.Equal(t, tt.backend, got.Backend)
			require.Equal(t, config.StrategySynthesis, got.Strategy)
			require.Empty(t, got.MCPServers, "a synthesis has no tools")
			require.Contains(t, c.UsedLLMProviders(), tt.provider)
		})
	}
}

func TestNativeToolsOfTheAgentLieOverTheProviders(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, chatTop+`
agents: {A: {native_tools: {google_search: false, code_execution: true}}}
agent_chains: {c: {llm_provider: one, alert_types: [c], stages: [{name: a, agents: [{name: A}]}]}}
`, nil)
	require.Equal(t, config.NativeToolSet{CodeExecution: true, URLContext: true}, c.ResolveAgent(c.Chains["c"], 0, 0).NativeTools)
}

func TestResultsAreShortenedFrom5000TokensTo1000WhereNobodySaysOtherwise(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "mcp_servers: {s: {transport: {type: stdio, command: x}, summarization: {enabled: true}}}", nil)
	require.Equal(t, &config.Summarization{Enabled: true, SizeThresholdTokens: 5000, SummaryMaxTokenLimit: 1000}, c.MCPServers["s"].Summarization)
}

func TestWhichModelShortensResults(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, chatTop, nil)
	require.Empty(t, c.ResolveDigest(config.Summarization{}).Provider, "the agent's own")
	require.Equal(t, "two", c.ResolveDigest(config.Summarization{LLMProvider: "two"}).Provider)

	c = mustLoad(t, chatTop+"defaults: {summarization: {llm_provider: three, llm_backend: google-native}}", nil)
	require.Equal(t, config.ResolvedLLM{Provider: "three", Backend: "google-native", LLM: c.LLMProviders["three"]}, c.ResolveDigest(config.Summarization{}))
	require.Equal(t, "two", c.ResolveDigest(config.Summarization{LLMProvider: "two"}).Provider)
}

func TestAModelByTheAgentsNameLiesOverTheDefaults(t *testing.T) {
	t.Parallel()
	const text = "defaults: {llm_provider: one, agents: {A: {llm_provider: two}}}\nagents: {A: {}, B: {}}\n" +
		"agent_chains: {c: {alert_types: [c], stages: [{name: a, agents: [{name: A}, {name: B}, {name: A, llm_provider: three}]}]}}\n"
	c := mustLoad(t, chatTop+text, nil)
	for i, want := range []string{"two", "one", "three"} {
		require.Equal(t, want, c.ResolveAgent(c.Chains["c"], 0, i).Provider)
	}
}

func TestSecretsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI": "value-of-openai", "GH": "value-of-github"}
	c := mustLoad(t, `
system: {github: {token_env: GH}}
llm_providers: {x: {type: openai, model: m, api_key_env: OPENAI}}
mcp_servers:
  s:
    transport:
      type: http
      url: https://user:in-the-address@example.com
      bearer_token: bearer-token-value
      custom_headers: {X-Api-Key: header-value, X-Tenant: acme-corporation, Authorization: Bearer after-the-word}
  p: {transport: {type: stdio, command: x, env: {DB_PASSWORD: pass-in-env, LOG_LEVEL: debugging}}}
`, nil)
	got := c.Secrets(func(name string) (string, bool) { value, ok := env[name]; return value, ok }) //nolint:nlreturn // one thought
	require.ElementsMatch(t, []string{
		"value-of-openai", "value-of-github", "in-the-address", "bearer-token-value", "header-value", "after-the-word", "pass-in-env",
	}, got)
}
