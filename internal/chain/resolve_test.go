package chain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/llm"
)

func TestMostSpecificLevelWins(t *testing.T) {
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
		provider, backend               string
		strategy                        agent.Strategy
		iterations                      int
		servers                         []string
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
			provider: "google-default", backend: "google-native", strategy: "synthesis", iterations: 20,
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
			chainText := ""
			if tt.chain != "" {
				chainText = tt.chain + ", "
			}
			stage := ""
			if tt.stage != "" {
				stage = tt.stage + ", "
			}
			c := load(t, top+
				"defaults: {"+tt.defaults+"}\nagents: {A: {"+tt.agent+"}}\nagent_chains: {c: {"+chainText+
				"alert_types: [c], stages: [{name: first, agents: [{name: GeneralWorker}]}, {"+stage+"name: s, agents: [{name: A, "+tt.own+"}]}]}}\n")
			resolved := get(t, c, "c")
			got := resolved.Stages[1].Agents[0]
			require.Equal(t, chain.Agent{
				Spec: agent.Spec{
					Name: "A", Strategy: tt.strategy, Provider: tt.provider, Model: model(tt.provider), Backend: tt.backend,
					MaxIterations: tt.iterations, IterationTimeout: 120 * time.Second, RepeatedCalls: agent.RepeatedCalls{Warn: 5, Conclude: 10},
					NativeTools: nativeTools(tt.provider),
				},
				Servers: servers(tt.servers...),
			}, got)
			require.Equal(t, chain.Summary{
				Models: []agent.Fallback{{Provider: tt.summaryProvider, Model: model(tt.summaryProvider), Backend: tt.summaryBackend, NativeTools: nativeTools(tt.summaryProvider)}},
				Limit:  120 * time.Second, Instructions: resolved.Summary.Instructions,
			}, resolved.Summary)
		})
	}
}

// model returns the model of a provider in the test's files or the built-ins.
func model(provider string) string {
	if provider == "google-default" {
		return "gemini-3.5-flash"
	}
	return "m"
}

// nativeTools returns those of a provider: Google's built-in models can search and read pages, those of the test's files have
// none.
func nativeTools(provider string) llm.NativeTools {
	builtin := provider == "google-default"
	return llm.NativeTools{GoogleSearch: builtin, URLContext: builtin}
}

func TestStagePolicyOverridesDefault(t *testing.T) {
	t.Parallel()
	c := load(t, `
defaults: {success_policy: all}
agent_chains: {c: {alert_types: [c], stages: [{name: a, agents: [{name: GeneralWorker}]}, {name: b, success_policy: any, agents: [{name: GeneralWorker}]}]}}
`)
	stages := get(t, c, "c").Stages
	require.Equal(t, tarsy.PolicyAll, stages[0].Policy)
	require.Equal(t, tarsy.PolicyAny, stages[1].Policy)
}

func TestReplicasAreSeparateAgents(t *testing.T) {
	t.Parallel()
	c := load(t, "agent_chains: {c: {alert_types: [c], stages: [{name: a, replicas: 3, agents: [{name: GeneralWorker}]}]}}")
	stage := get(t, c, "c").Stages[0]
	require.Equal(t, tarsy.ParallelReplica, stage.Parallel)
	require.Len(t, stage.Agents, 3)
	require.Equal(t, "GeneralWorker-3", stage.Agents[2].Spec.Name)
}
