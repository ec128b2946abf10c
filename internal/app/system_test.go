package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
)

const manyModels = `
llm_providers:
  a-first: {type: openai, model: gpt-x, base_url: "https://ada:hunter2@models.example/v1?token=hunter3", api_key_env: FIRST_KEY}
  m-main: {type: google, model: gemini-x, api_key_env: MAIN_KEY}
  z-cloud: {type: vertexai, model: claude-x, credentials_env: CLOUD_FILE, project_env: PROJECT, location_env: LOCATION}
  unused: {type: openai, model: gpt-y, api_key_env: OTHER_KEY}
defaults: {llm_provider: m-main, fallback_providers: [{provider: z-cloud}]}
agents: {Looker: {}}
agent_chains:
  shop: {alert_types: [shop], stages: [{name: look, agents: [{name: Looker, llm_provider: a-first}, {name: Looker}]}]}
`

func load(t *testing.T, text string) *config.Config {
	t.Helper()

	cfg, err := config.Load(config.Source{Files: []config.File{{Name: "test.yaml", Text: []byte(text)}}})
	require.NoError(t, err)

	return cfg
}

func TestProvidersAreThoseInUseDefaultFirstWithoutSecrets(t *testing.T) {
	t.Parallel()

	env := func(name string) (string, bool) {
		value, ok := map[string]string{"MAIN_KEY": "s3cret", "FIRST_KEY": ""}[name]

		return value, ok
	}

	cfg := load(t, manyModels)

	require.Equal(t, []api.Provider{
		{Name: "m-main", Type: "google", Model: "gemini-x", Default: true, KeyVariable: "MAIN_KEY", KeySet: true, InUse: true},
		{
			Name: "a-first", Type: "openai", Model: "gpt-x", BaseURL: "https://hidden@models.example/v1?hidden", KeyVariable: "FIRST_KEY",
			InUse: true,
		},
		{Name: "z-cloud", Type: "vertexai", Model: "claude-x", KeyVariable: "CLOUD_FILE", InUse: true},
	}, providers(cfg, chain.NewCatalog(cfg).LLMProviders(), nil, env))
}

func TestProvidersThatOnlyRerunsCanChooseAreListedIfTheirKeyIsSet(t *testing.T) {
	t.Parallel()

	env := func(name string) (string, bool) {
		value, ok := map[string]string{"OTHER_KEY": "s3cret", "ANTHROPIC_API_KEY": "s3cret", "XAI_API_KEY": ""}[name]

		return value, ok
	}
	cfg := load(t, manyModels)
	used := chain.NewCatalog(cfg).LLMProviders()
	listed := map[string]bool{}

	for _, p := range providers(cfg, used, ready(cfg, used, env), env) {
		listed[p.Name] = p.InUse
	}

	require.Equal(t, map[string]bool{"m-main": true, "a-first": true, "z-cloud": true, "unused": false, "anthropic-default": false}, listed)
}

func TestSettingsShowTheirSourceAndHideSecrets(t *testing.T) {
	t.Parallel()

	values := map[string]api.Setting{}
	for _, s := range shownSettings(load(t, manyModels)) {
		require.NotContains(t, s.Value, "hunter")
		values[s.Path] = s
	}

	require.Equal(t, api.Setting{Path: "defaults.llm_provider", Value: "m-main", Origin: "test.yaml:7"}, values["defaults.llm_provider"])
	require.Equal(t, "built-in", values["defaults.max_iterations"].Origin)
}
