package config_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func TestModelsInUseReportMissingVariables(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, provider string
		env            map[string]string
		want           []string
	}{
		{"a key that is set", "type: openai, model: m, api_key_env: KEY", map[string]string{"KEY": "k"}, nil},
		{"a key that is not", "type: openai, model: m, api_key_env: KEY", nil,
			[]string{"tarsy.yaml:3: llm_providers.p.api_key_env: environment variable KEY is not set"}},
		{"a key that is empty", "type: google, model: m, api_key_env: KEY", map[string]string{"KEY": ""},
			[]string{"tarsy.yaml:3: llm_providers.p.api_key_env: environment variable KEY is not set"}},
		{"no key named", "type: anthropic, model: m", nil,
			[]string{"tarsy.yaml:3: llm_providers.p.api_key_env: is required (type anthropic does not work without)"}},
		{"no key needed for a server of one's own", "type: openai, model: m, base_url: 'http://localhost:11434/v1'", nil, nil},
		{"nor for a gateway", "type: grpc, model: m, base_url: 'grpc://localhost:50051'", nil, nil},
		{"nor for scripts", "type: scripted", nil, nil},
		{"Vertex AI", "type: vertexai, model: m, project_env: PROJECT, location_env: PLACE, credentials_env: FILE", map[string]string{"PROJECT": "p"},
			[]string{
				"tarsy.yaml:3: llm_providers.p.credentials_env: environment variable FILE is not set",
				"tarsy.yaml:3: llm_providers.p.location_env: environment variable PLACE is not set",
			}},
		{"Vertex AI by the machine's own credentials", "type: vertexai, model: m, project_env: PROJECT, location_env: PLACE",
			map[string]string{"PROJECT": "p", "PLACE": "eu"}, nil},
		{"Vertex AI without a project", "type: vertexai, model: m, location_env: PLACE", map[string]string{"PLACE": "eu"},
			[]string{"tarsy.yaml:3: llm_providers.p.project_env: is required (type vertexai does not work without)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, "defaults: {llm_provider: p}\nllm_providers:\n  p: {"+tt.provider+"}\n", nil)
			var got []string
			for _, p := range c.UnsetVariablesOf("p", env(tt.env)) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestProviderHeadersAreSecret(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "llm_providers: {p: {type: openai, model: m, headers: {X-Api-Key: a-header-value, X-Team: \"{{.TEAM}}\"}}}\n",
		map[string]string{"TEAM": "a-team-name"})
	for _, v := range c.Origins() {
		require.NotContains(t, v.Value, "a-header-value")
		require.NotContains(t, v.Value, "a-team-name")
	}
	require.NotContains(t, fmt.Sprintf("%+v %#v", c.LLMProviders["p"], c.LLMProviders["p"]), "a-header-value")
	require.Equal(t, "a-header-value", c.LLMProviders["p"].HeaderValues()["X-Api-Key"])
	require.Contains(t, c.Secrets(env(nil)), "a-header-value")
	require.Equal(t, config.ProviderOpenAI, c.LLMProviders["p"].Type)
}

func TestPublishedTARSyBuiltInModelsExist(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "", nil)
	got := map[string]string{}
	for name, p := range c.LLMProviders {
		got[name] = p.Type + " " + p.Model
		require.True(t, p.Type != config.ProviderGoogle || *p.NativeTools.GoogleSearch && !*p.NativeTools.CodeExecution, name)
		if name != "google-image-flash" {
			require.True(t, c.Prices().Knows(p.Model), "no price is known for %s", p.Model)
		}
	}
	require.False(t, *c.LLMProviders["google-image-flash"].NativeTools.URLContext)
	require.Equal(t, map[string]string{
		"google-default":     "google gemini-3.5-flash",
		"google-image-flash": "google gemini-3.1-flash-image-preview",
		"gemini-3-flash":     "google gemini-3-flash-preview",
		"gemini-3-pro":       "google gemini-3-pro-preview",
		"gemini-3.1-pro":     "google gemini-3.1-pro-preview",
		"gemini-3.1-flash":   "google gemini-3.1-flash-lite",
		"gemini-3.5-flash":   "google gemini-3.5-flash",
		"gemini-2.5-flash":   "google gemini-2.5-flash",
		"gemini-2.5-pro":     "google gemini-2.5-pro",
		"openai-default":     "openai gpt-5.2",
		"anthropic-default":  "anthropic claude-sonnet-4-6-20260217",
		"xai-default":        "xai grok-4-1-fast-reasoning",
		"vertexai-default":   "vertexai claude-sonnet-4-6",
	}, got)
}
