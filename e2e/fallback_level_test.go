package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// levelChain has a fallback at every possible level; the provider that is tried first is dead everywhere.
const levelChain = `
defaults:
  llm_provider: dead
  fallback_list: everybody
  executive_summary_fallback_list: summary
  agents: {ByName: {fallback_list: name}, ChatAgent: {fallback_list: chat}}
llm_providers:
  dead: {type: openai, model: dead, api: chat, base_url: VIRTUAL, api_key_env: KEY}
  everybody: {type: openai, model: everybody, api: chat, base_url: VIRTUAL, api_key_env: KEY}
  entry: {type: openai, model: entry, api: chat, base_url: VIRTUAL, api_key_env: KEY}
  stage: {type: openai, model: stage, api: chat, base_url: VIRTUAL, api_key_env: KEY}
  name: {type: openai, model: name, api: chat, base_url: VIRTUAL, api_key_env: KEY}
  summary: {type: openai, model: summary, api: chat, base_url: VIRTUAL, api_key_env: KEY}
  chat: {type: openai, model: chat, api: chat, base_url: VIRTUAL, api_key_env: KEY}
fallback_lists:
  everybody: [{llm_provider: everybody}]
  entry: [{llm_provider: entry}]
  name: [{llm_provider: name}]
  summary: [{llm_provider: dead}, {llm_provider: summary}]
  chat: [{llm_provider: chat}]
agents: {ByEntry: {}, ByName: {}, ByStage: {}, Last: {}}
agent_chains:
  test:
    alert_types: [test]
    stages:
      - {name: look, agents: [{name: ByEntry, fallback_list: entry}, {name: ByName}]}
      - {name: judge, fallback_providers: [{provider: stage}], agents: [{name: ByStage}]}
      - {name: conclude, agents: [{name: Last}]}
    chat: {enabled: true}
`

// A call falls back on what the nearest level names: the agent's entry in its stage, the stage, the agent's name, the
// defaults. So do the synthesis, the executive summary, the verdict and the answer to a question.
func TestFallbackListIsUsedAtEveryLevel(t *testing.T) {
	t.Parallel()

	answers := script.New(script.Options{})
	on := func(model string, replies ...script.Reply) {
		require.NoError(t, answers.On(script.Match{Model: script.Text{Equals: model}}, replies...))
	}

	// Two agents, their synthesis, two more agents, the summary, the verdict and the question each call it once.
	on("dead", script.Reply{Err: &llm.Error{Status: 401, Message: "the key was revoked"}, Times: 8})
	require.NoError(t, answers.On(script.Match{Model: script.Text{Equals: "summary"}, System: script.Text{Contains: "Write the verdict"}},
		concludes(t, tarsy.OutcomeProbableCause, "the cache")))
	on("entry", says("Found by entry."))
	on("name", says("Found by name."))
	on("everybody", says("Both agree."), says("It is the cache."))
	on("stage", says("It is plausible."))
	on("summary", says("In short."))
	on("chat", says("Yes."))

	app := tarsytest.New(t, tarsytest.Options{
		Config:    strings.ReplaceAll(levelChain, "VIRTUAL", "'"+tarsytest.NewLLMServer(t, answers).OpenAI()+"'"),
		Providers: true, Env: map[string]string{"KEY": "key-of-the-test"},
	})
	sessionID := app.Submit("test", "app-1 was OOM-killed")
	socket := app.Watch(sessionID)
	socket.WaitStatus("completed")
	socket.WaitStage(app.Ask(sessionID, "Sure?").StageID)

	session, trace := app.Session(sessionID), app.Trace(sessionID)
	require.Equal(t, "In short.", session.ExecutiveSummary)

	went := map[string]string{}

	for _, stage := range session.Stages {
		for _, execution := range stage.Executions {
			require.Equal(t, tarsy.StatusCompleted, execution.Status, execution.AgentName)

			went[execution.AgentName] = execution.LLMProvider
		}
	}

	for _, c := range trace.SessionInteractions {
		if c.ErrorCode == "" {
			went[string(c.InteractionType)] = c.Provider
		}
	}

	require.Equal(t, map[string]string{
		"ByEntry": "entry", "ByName": "name", "SynthesisAgent": "everybody", "ByStage": "stage", "Last": "everybody",
		"executive_summary": "summary", "verdict": "summary", "ChatAgent": "chat",
	}, went)
}
