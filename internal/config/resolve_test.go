package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func TestTheMostSpecificLevelHolds(t *testing.T) {
	t.Parallel()
	const top = `
llm_providers:
  one: {type: google, model: m}
  two: {type: openai, model: m}
  three: {type: anthropic, model: m}
mcp_servers:
  s1: {transport: {type: stdio, command: x}}
  s2: {transport: {type: stdio, command: x}}
  s3: {transport: {type: stdio, command: x}}
`
	tests := []struct {
		name                            string
		defaults, agent, chain, stage   string
		own                             string
		provider, backend, strategy     string
		iterations                      int
		servers                         []string
		agentType                       string
		summaryProvider, summaryBackend string
	}{
		{
			name:     "built-ins when nobody says anything",
			provider: "google-default", backend: "google-native", strategy: "function-calling", iterations: 20,
			summaryProvider: "google-default", summaryBackend: "google-native",
		},
		{
			name:     "defaults",
			defaults: "llm_provider: two, max_iterations: 7, iteration_strategy: react",
			provider: "two", backend: "langchain", strategy: "react", iterations: 7,
			summaryProvider: "two", summaryBackend: "langchain",
		},
		{
			name:     "agent over defaults",
			defaults: "llm_provider: two, max_iterations: 7, iteration_strategy: react",
			agent:    "max_iterations: 6, mcp_servers: [s1], iteration_strategy: native-thinking",
			provider: "two", backend: "google-native", strategy: "function-calling", iterations: 6, servers: []string{"s1"},
			summaryProvider: "two", summaryBackend: "langchain",
		},
		{
			name:     "chain over agent",
			defaults: "llm_provider: two",
			agent:    "max_iterations: 6, mcp_servers: [s1], llm_backend: google-native",
			chain:    "llm_provider: one, max_iterations: 5, mcp_servers: [s2], llm_backend: langchain, executive_summary_provider: three",
			provider: "one", backend: "langchain", strategy: "function-calling", iterations: 5, servers: []string{"s2"},
			summaryProvider: "three", summaryBackend: "langchain",
		},
		{
			name:     "stage over chain",
			chain:    "llm_provider: one, max_iterations: 5, mcp_servers: [s2]",
			stage:    "max_iterations: 4, mcp_servers: [s3]",
			provider: "one", backend: "google-native", strategy: "function-calling", iterations: 4, servers: []string{"s3"},
			summaryProvider: "one", summaryBackend: "google-native",
		},
		{
			name:     "stage's agent over everything",
			defaults: "llm_provider: two, iteration_strategy: react",
			agent:    "max_iterations: 6, mcp_servers: [s1]",
			chain:    "llm_provider: one, max_iterations: 5, mcp_servers: [s2]",
			stage:    "max_iterations: 4, mcp_servers: [s3]",
			own:      "llm_provider: three, max_iterations: 3, mcp_servers: [s1, s2], iteration_strategy: langchain",
			provider: "three", backend: "langchain", strategy: "function-calling", iterations: 3, servers: []string{"s1", "s2"},
			summaryProvider: "one", summaryBackend: "google-native",
		},
		{
			name:     "an empty list of servers means none",
			agent:    "mcp_servers: [s1]",
			own:      "mcp_servers: []",
			provider: "google-default", backend: "google-native", strategy: "function-calling", iterations: 20, servers: []string{},
			summaryProvider: "google-default", summaryBackend: "google-native",
		},
		{
			name:     "a synthesis agent makes one call whatever it inherits",
			defaults: "iteration_strategy: react",
			agent:    "type: synthesis",
			chain:    "iteration_strategy: native-thinking",
			provider: "google-default", backend: "google-native", strategy: "synthesis", iterations: 20, agentType: "synthesis",
			summaryProvider: "google-default", summaryBackend: "google-native",
		},
		{
			name:     "old word for synthesis",
			own:      "iteration_strategy: synthesis-native-thinking, llm_provider: two",
			provider: "two", backend: "google-native", strategy: "synthesis", iterations: 20,
			summaryProvider: "google-default", summaryBackend: "google-native",
		},
		{
			name:     "a word for a strategy stands for its backend whatever the model",
			chain:    "llm_provider: one, iteration_strategy: native-thinking",
			own:      "iteration_strategy: langchain",
			provider: "one", backend: "langchain", strategy: "function-calling", iterations: 20,
			summaryProvider: "one", summaryBackend: "google-native",
		},
		{
			name:     "so does the word for a synthesis",
			chain:    "llm_provider: one, iteration_strategy: synthesis",
			provider: "one", backend: "langchain", strategy: "synthesis", iterations: 20,
			summaryProvider: "one", summaryBackend: "langchain",
		},
		{
			name:     "a backend for the summary alone",
			chain:    "llm_backend: google-native, executive_summary_backend: langchain",
			provider: "google-default", backend: "google-native", strategy: "function-calling", iterations: 20,
			summaryProvider: "google-default", summaryBackend: "langchain",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			chain := ""
			if tt.chain != "" {
				chain = tt.chain + ", "
			}
			stage := ""
			if tt.stage != "" {
				stage = tt.stage + ", "
			}
			c := mustLoad(t, top+
				"defaults: {"+tt.defaults+"}\nagents: {A: {"+tt.agent+"}}\nagent_chains: {c: {"+chain+
				"alert_types: [c], stages: [{"+stage+"name: s, agents: [{name: A, "+tt.own+"}]}]}}\n", nil)
			got := c.ResolveAgent(c.Chains["c"], 0, 0)
			require.Equal(t, config.ResolvedAgent{
				Name: "A", Type: tt.agentType, Strategy: tt.strategy, Provider: tt.provider, Backend: tt.backend, MaxIterations: tt.iterations,
				IterationTimeout: 120 * time.Second, MCPServers: tt.servers, LLM: c.LLMProviders[tt.provider],
			}, got)
			summary := c.ResolveSummary(c.Chains["c"])
			require.Equal(t, config.ResolvedLLM{
				Provider: tt.summaryProvider, Backend: tt.summaryBackend, LLM: c.LLMProviders[tt.summaryProvider],
			}, summary)
		})
	}
}

func TestAStagesPolicyBeatsTheDefault(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "defaults: {success_policy: all}", nil)
	require.Equal(t, config.SuccessAll, c.SuccessPolicyOf(config.Stage{}))
	require.Equal(t, config.SuccessAny, c.SuccessPolicyOf(config.Stage{SuccessPolicy: config.SuccessAny}))
}

func TestAPlaceThatTheChainNoLongerHasResolvesToNothing(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "", nil)
	for _, at := range [][2]int{{-1, 0}, {0, -1}, {1, 0}, {0, 1}} {
		require.Empty(t, c.ResolveAgent(c.Chains["kubernetes"], at[0], at[1]))
	}
}

func TestAlertTypesAreSortedAndNameTheirChain(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
agent_chains:
  z: {alert_types: [beta, alpha], description: Last., stages: [{name: s, agents: [{name: ChatAgent}]}]}
`, nil)
	types := c.AlertTypes()
	require.Equal(t, config.AlertType{Name: "alpha", ChainID: "z", Description: "Last."}, types[0])
	require.Equal(t, "beta", types[1].Name)
	require.Equal(t, "kubernetes", types[2].Name)
	chain, ok := c.ChainFor("beta")
	require.True(t, ok)
	require.Equal(t, "z", chain.ID)
	_, ok = c.ChainFor("gamma")
	require.False(t, ok)
}
