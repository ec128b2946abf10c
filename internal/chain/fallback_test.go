package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/llm"
)

const fallbackTop = `
llm_providers:
  one: {type: google, model: m}
  two: {type: openai, model: m}
  three: {type: anthropic, model: m}
  four: {type: xai, model: m}
fallback_lists:
  three: [{llm_provider: three}]
  four-three: [{llm_provider: four, llm_backend: google-native}, {llm_provider: three}]
  none: []
`

func names(models []agent.Fallback) []string {
	var all []string
	for _, m := range models {
		all = append(all, m.Provider)
	}
	return all
}

func TestNearestConfiguredLevelSetsFallbacks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                        string
		defaults, chain, stage, own string
		agent, synthesis, chat      []string
		summary                     []string
	}{
		{name: "nobody says anything"},
		{
			name:     "the defaults, for everybody",
			defaults: "fallback_providers: [{provider: two}]",
			agent:    []string{"two"}, synthesis: []string{"two"}, chat: []string{"two"}, summary: []string{"two"},
		},
		{
			name:     "a named list",
			defaults: "fallback_list: four-three",
			agent:    []string{"four", "three"}, synthesis: []string{"four", "three"}, chat: []string{"four", "three"}, summary: []string{"four", "three"},
		},
		{
			name:     "a list for executive summaries alone",
			defaults: "fallback_list: three, executive_summary_fallback_list: four-three",
			agent:    []string{"three"}, synthesis: []string{"three"}, chat: []string{"three"}, summary: []string{"four", "three"},
		},
		{
			name:     "a list by the agent's name",
			defaults: "fallback_providers: [{provider: two}], agents: {A: {fallback_list: three}, ChatAgent: {fallback_list: four-three}}",
			agent:    []string{"three"}, synthesis: []string{"two"}, chat: []string{"four", "three"}, summary: []string{"two"},
		},
		{
			name:     "the chain over the defaults and the agent's name",
			defaults: "fallback_list: three, agents: {A: {fallback_list: three}}, executive_summary_fallback_list: three",
			chain:    "fallback_providers: [{provider: two}]",
			agent:    []string{"two"}, synthesis: []string{"two"}, chat: []string{"two"}, summary: []string{"two"},
		},
		{
			name:  "the stage over the chain",
			chain: "fallback_list: three", stage: "fallback_providers: [{provider: two}]",
			agent: []string{"two"}, synthesis: []string{"two"}, chat: []string{"three"}, summary: []string{"three"},
		},
		{
			name:  "the agent's entry over the stage",
			chain: "fallback_list: three", stage: "fallback_list: three", own: "fallback_list: four-three",
			agent: []string{"four", "three"}, synthesis: []string{"three"}, chat: []string{"three"}, summary: []string{"three"},
		},
		{
			name:  "an empty list means none",
			chain: "fallback_list: three", own: "fallback_providers: []", stage: "fallback_list: none",
			chat: []string{"three"}, summary: []string{"three"},
		},
		{
			name:     "the model itself and what is named twice are left out",
			defaults: "fallback_providers: [{provider: one}, {provider: two}, {provider: one, backend: langchain}, {provider: three}, {provider: two}]",
			agent:    []string{"two", "three"}, synthesis: []string{"two", "three"}, chat: []string{"two", "three"}, summary: []string{"two", "three"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			with := func(text string) string {
				if text == "" {
					return ""
				}
				return text + ", "
			}
			c := load(t, fallbackTop+"defaults: {"+with(tt.defaults)+"llm_provider: one}\nagents: {A: {}}\nagent_chains: {c: {"+with(tt.chain)+
				"alert_types: [c], chat: {}, stages: [{"+with(tt.stage)+"name: s, agents: [{"+with(tt.own)+"name: A}]}]}}\n")
			chain := get(t, c, "c")
			stage := chain.Stages[0]
			require.Equal(t, tt.agent, names(stage.Agents[0].Spec.Fallbacks), "agent")
			require.Equal(t, tt.synthesis, names(stage.Synthesis.Spec.Fallbacks), "synthesis")
			require.Equal(t, tt.chat, names(chain.Chat.Spec.Fallbacks), "chat")
			require.Equal(t, tt.summary, names(chain.Summary.Models[1:]), "summary")
			for _, name := range append(tt.agent, tt.summary...) {
				require.Contains(t, c.LLMProviders(), name)
			}
		})
	}
}

func TestFallbackHasItsModelAndBackend(t *testing.T) {
	t.Parallel()
	c := load(t, fallbackTop+`
defaults: {llm_provider: two, fallback_providers: [{provider: one}, {provider: four, backend: google-native}, {provider: three}]}
agent_chains: {c: {alert_types: [c], llm_backend: google-native, stages: [{name: s, agents: [{name: GeneralWorker}]}]}}
`)
	require.Equal(t, []agent.Fallback{
		{Provider: "one", Model: "m", Backend: config.BackendGoogleNative},
		{Provider: "four", Model: "m", Backend: config.BackendGoogleNative},
		{Provider: "three", Model: "m", Backend: config.BackendLangChain},
	}, get(t, c, "c").Stages[0].Agents[0].Spec.Fallbacks, "the backend of the first model is not theirs")
}

func TestSummaryFallbacksSkipItsOwnModel(t *testing.T) {
	t.Parallel()
	c := load(t, fallbackTop+`
defaults: {llm_provider: one, executive_summary_provider: three, fallback_providers: [{provider: three}, {provider: one}]}
agent_chains: {c: {alert_types: [c], stages: [{name: s, agents: [{name: GeneralWorker}]}]}}
`)
	require.Equal(t, []string{"one"}, names(get(t, c, "c").Summary.Models[1:]))
	require.Equal(t, []string{"three"}, names(get(t, c, "c").Stages[0].Agents[0].Spec.Fallbacks))
}

func TestExecSummaryAgentSettingsReachSummary(t *testing.T) {
	t.Parallel()
	const top = fallbackTop + `
agents: {ExecSummaryAgent: {type: exec_summary, custom_instructions: Answer in French., llm_backend: langchain}}
agent_chains:
  plain: {alert_types: [a], stages: [{name: s, agents: [{name: GeneralWorker}]}]}
  named: {alert_types: [b], executive_summary_provider: four, stages: [{name: s, agents: [{name: GeneralWorker}]}]}
`
	c := load(t, top+`defaults: {llm_provider: one, executive_summary_provider: three, agents: {ExecSummaryAgent: {llm_provider: two, fallback_list: four-three}}}`)
	summary := get(t, c, "plain").Summary
	require.Equal(t, "Answer in French.", summary.Instructions)
	require.Equal(t, []string{"two", "four", "three"}, names(summary.Models))
	require.Equal(t, config.BackendLangChain, summary.Models[0].Backend)
	require.Equal(t, "four", get(t, c, "named").Summary.Models[0].Provider, "what the chain names for its summary holds")
}

func TestBuiltInResearcherAndCodeExecutorHaveNativeTools(t *testing.T) {
	t.Parallel()
	c := load(t, `agent_chains: {c: {alert_types: [c], stages: [{name: s, agents: [{name: WebResearcher}, {name: CodeExecutor}, {name: GeneralWorker}]}]}}`)
	agents := get(t, c, "c").Stages[0].Agents
	require.Equal(t, llm.NativeTools{GoogleSearch: true, URLContext: true}, agents[0].Spec.NativeTools)
	require.Equal(t, llm.NativeTools{CodeExecution: true}, agents[1].Spec.NativeTools)
	require.Equal(t, llm.NativeTools{GoogleSearch: true, URLContext: true}, agents[2].Spec.NativeTools, "those of its model")
}
