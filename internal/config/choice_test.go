package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func TestDefaultProviderFollowsTheKeyThatIsSet(t *testing.T) {
	t.Parallel()
	const own = "llm_providers: {mine: {type: openai, model: m, base_url: 'http://localhost:1', api_key_env: MY_KEY}}\n"
	for _, test := range []struct {
		name, text               string
		env                      map[string]string
		provider, origin, chosen string
	}{
		{"no key", "", nil, "google-default", "built-in", ""},
		{"Google", "", map[string]string{"GOOGLE_API_KEY": "k"}, "google-default", "env GOOGLE_API_KEY", "GOOGLE_API_KEY"},
		{"Gemini", "", map[string]string{"GEMINI_API_KEY": "k"}, "google-default", "env GEMINI_API_KEY", "GEMINI_API_KEY"},
		{"Anthropic", "", map[string]string{"ANTHROPIC_API_KEY": "k"}, "anthropic-default", "env ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"},
		{"OpenAI", "", map[string]string{"OPENAI_API_KEY": "k"}, "openai-default", "env OPENAI_API_KEY", "OPENAI_API_KEY"},
		{"xAI", "", map[string]string{"XAI_API_KEY": "k"}, "xai-default", "env XAI_API_KEY", "XAI_API_KEY"},
		{"an empty variable is no key", "", map[string]string{"GOOGLE_API_KEY": "", "OPENAI_API_KEY": "k"}, "openai-default", "env OPENAI_API_KEY", "OPENAI_API_KEY"},
		{"order", "", map[string]string{"GOOGLE_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, "google-default", "env GOOGLE_API_KEY", "GOOGLE_API_KEY"},
		{"a file decides", "defaults: {llm_provider: openai-default}\n", map[string]string{"ANTHROPIC_API_KEY": "k"}, "openai-default", "tarsy.yaml:1", ""},
		{"an own provider", own, map[string]string{"MY_KEY": "k"}, "mine", "env MY_KEY", "MY_KEY"},
		{"an own provider after the built-in ones", own, map[string]string{"MY_KEY": "k", "XAI_API_KEY": "k"}, "xai-default", "env XAI_API_KEY", "XAI_API_KEY"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, test.text, test.env)
			require.Equal(t, test.provider, c.Defaults.LLMProvider)
			require.Equal(t, test.chosen, c.ChosenBy())
			require.Equal(t, test.origin == "built-in", c.LacksKey())
			require.Contains(t, c.Origins(), config.Value{Path: "defaults.llm_provider", Value: test.provider, Origin: test.origin})
		})
	}
}

func TestGeminiKeyServesBuiltInGoogleModels(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "", map[string]string{"GEMINI_API_KEY": "k"})
	require.Equal(t, "GEMINI_API_KEY", c.LLMProviders["gemini-2.5-pro"].APIKeyEnv)

	c = mustLoad(t, "", map[string]string{"GEMINI_API_KEY": "k", "GOOGLE_API_KEY": "k"})
	require.Equal(t, "GOOGLE_API_KEY", c.LLMProviders["gemini-2.5-pro"].APIKeyEnv)
	require.Equal(t, []string{"GOOGLE_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "XAI_API_KEY"}, config.KeyVariables())
}
