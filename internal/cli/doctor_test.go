package cli_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// liveConfig uses two providers, one of them as a fallback; two more are only configured, one of them without its key.
const liveConfig = `
llm_providers:
  good: {type: openai, model: gpt-5, base_url: 'VIRTUAL/v1', api_key_env: GOOD_KEY}
  spare: {type: anthropic, model: claude-opus-4-5, base_url: 'VIRTUAL', api_key_env: SPARE_KEY}
  unused: {type: google, model: gemini-2.5-pro, base_url: 'VIRTUAL', api_key_env: GOOD_KEY}
  unset: {type: google, model: gemini, api_key_env: UNSET_KEY}
defaults: {llm_provider: good, fallback_providers: [{provider: spare}]}
agents: {A: {}}
agent_chains: {c: {alert_types: [a], stages: [{name: s, agents: [{name: A}]}]}}
`

func TestDoctorCallsEachConfiguredProvider(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	require.NoError(t, s.On(script.Match{Model: script.Text{Equals: "gpt-5"}}, script.Reply{Text: "ready", Usage: &llm.UsageChunk{InputTokens: 9, OutputTokens: 1}}))
	require.NoError(t, s.On(script.Match{Model: script.Text{Equals: "gemini-2.5-pro"}}, script.Reply{Text: "ready"}))
	require.NoError(t, s.On(script.Match{Model: script.Text{Equals: "claude-opus-4-5"}}, script.Reply{Err: &llm.Error{Status: 401, Message: "invalid x-api-key"}}))

	server := httptest.NewServer(mock.New(mock.Config{Script: func(string) *script.Script { return s }}))
	t.Cleanup(server.Close)

	dir := writeConfig(t, strings.ReplaceAll(liveConfig, "VIRTUAL", server.URL))
	doctor := func(env []string, more ...string) result {
		return tarsyWith(t, env, "", doctorArgs(t, append([]string{"--config-dir", dir}, more...)...)...)
	}
	env := []string{"GOOD_KEY=good-secret", "SPARE_KEY=spare-secret"}

	got := doctor(nil, "--live")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stdout, "environment variable GOOD_KEY is not set")
	require.Contains(t, got.stdout, "environment variable SPARE_KEY is not set")
	require.Zero(t, s.CallCount())

	got = doctor(env)
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, "ok    LLM provider good: openai, gpt-5; not called")
	require.NotContains(t, got.stdout, "unused", "what no chain uses need not work")
	require.Zero(t, s.CallCount())

	got = doctor(env, "--live")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Regexp(t, `ok    LLM provider good: gpt-5 answered in \S+ \(first chunk \S+, 10 tokens\)`, got.stdout)
	require.Regexp(t, `fail  LLM provider spare: .*invalid x-api-key.*check the key in SPARE_KEY`, got.stdout)
	require.NotContains(t, got.stdout+got.stderr, "secret")
	require.Contains(t, got.stderr, "asking good (gpt-5)…")
	require.Regexp(t, `ok    LLM provider unused: gemini-2.5-pro answered`, got.stdout)
	require.NotContains(t, got.stdout, "UNSET_KEY", "nobody needs the key of a provider that no chain uses")
	require.Equal(t, 3, s.CallCount())
}
