package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/llm"
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

func TestChatAgentResolution(t *testing.T) {
	t.Parallel()
	const stages = "alert_types: [c], stages: [{name: a, agents: [{name: A, mcp_servers: [s1]}]}, {name: b, agents: [{name: A, mcp_servers: [s2, s1]}]}]"
	tests := []struct {
		name, defaults, agents, chain string
		agent, provider               string
		strategy                      agent.Strategy
		backend                       string
		iterations                    int
		servers                       []string
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
			c := load(t, chatTop+"defaults: {"+tt.defaults+"}\nagents: {A: {}, "+tt.agents+"}\nagent_chains: {c: {"+stages+", "+tt.chain+"}}\n")
			got := get(t, c, "c").Chat
			require.NotNil(t, got)
			require.Equal(t, tt.agent, got.Spec.Name)
			require.Equal(t, tt.provider, got.Spec.Provider)
			require.Equal(t, tt.strategy, got.Spec.Strategy)
			require.Equal(t, tt.backend, got.Spec.Backend)
			require.Equal(t, tt.iterations, got.Spec.MaxIterations)
			require.Equal(t, servers(tt.servers...), got.Servers)
			require.Contains(t, c.LLMProviders(), tt.provider)
		})
	}
}

func TestChainAcceptsQuestionsOnlyWhenEnabled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "chat: {}, ": true, "chat: {enabled: true}, ": true, "chat: {enabled: false}, ": false} {
		c := load(t, "agents: {A: {}}\nagent_chains: {c: {"+text+"alert_types: [c], stages: [{name: a, agents: [{name: A}]}]}}\n")
		takes, known := c.TakesQuestions("c")
		require.True(t, known)
		require.Equal(t, want, takes, text)
		require.Equal(t, want, get(t, c, "c").Chat != nil, text)
	}
	c := load(t, "")
	takes, _ := c.TakesQuestions("kubernetes")
	require.True(t, takes, "the built-in chain takes questions")
}

func TestSynthesisAgentResolution(t *testing.T) {
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
			c := load(t, chatTop+"agents: {A: {mcp_servers: [s1]}, S: {mcp_servers: [s1]}}\nagent_chains: {c: {"+tt.chain+two+tt.synthesis+"}]}}\n")
			got := get(t, c, "c").Stages[0].Synthesis
			require.Equal(t, tt.agent, got.Spec.Name)
			require.Equal(t, tt.provider, got.Spec.Provider)
			require.Equal(t, tt.backend, got.Spec.Backend)
			require.Equal(t, agent.Synthesis, got.Spec.Strategy)
			require.Empty(t, got.Servers, "a synthesis has no tools")
			require.Contains(t, c.LLMProviders(), tt.provider)
		})
	}
}

func TestAgentNativeToolsOverrideProvider(t *testing.T) {
	t.Parallel()
	c := load(t, chatTop+`
agents: {A: {native_tools: {google_search: false, code_execution: true}}}
agent_chains: {c: {llm_provider: one, alert_types: [c], stages: [{name: a, agents: [{name: A}]}]}}
`)
	require.Equal(t, llm.NativeTools{CodeExecution: true, URLContext: true}, get(t, c, "c").Stages[0].Agents[0].Spec.NativeTools)
}

func TestResultSummaryModelResolution(t *testing.T) {
	t.Parallel()
	const digests = `
  long: {transport: {type: stdio, command: x}, summarization: {enabled: true}}
  own: {transport: {type: stdio, command: x}, summarization: {enabled: true, llm_provider: two}}
`
	digest := func(c *chain.Catalog, id string) agent.Digest {
		server, ok := c.Server(id)
		require.True(t, ok)
		require.NotNil(t, server.Digest)
		return *server.Digest
	}
	c := load(t, chatTop+digests)
	require.Equal(t, agent.Digest{Threshold: 5000, MaxTokens: 1000}, digest(c, "long"), "the agent's own")
	require.Equal(t, agent.Digest{Threshold: 5000, MaxTokens: 1000, Provider: "two", Model: "m", Backend: "langchain"}, digest(c, "own"))

	c = load(t, chatTop+digests+"defaults: {summarization: {llm_provider: three, llm_backend: google-native}}")
	require.Equal(t, agent.Digest{Threshold: 5000, MaxTokens: 1000, Provider: "three", Model: "m", Backend: "google-native"}, digest(c, "long"))
	require.Equal(t, "two", digest(c, "own").Provider)

	plain, ok := c.Server("s1")
	require.True(t, ok)
	require.Nil(t, plain.Digest)
}

func TestAgentModelOverridesDefaults(t *testing.T) {
	t.Parallel()
	const text = "defaults: {llm_provider: one, agents: {A: {llm_provider: two}}}\nagents: {A: {}, B: {}}\n" +
		"agent_chains: {c: {alert_types: [c], stages: [{name: a, agents: [{name: A}, {name: B}, {name: A, llm_provider: three}]}]}}\n"
	c := load(t, chatTop+text)
	for i, want := range []string{"two", "one", "three"} {
		require.Equal(t, want, get(t, c, "c").Stages[0].Agents[i].Spec.Provider)
	}
}
