package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func TestProviderURLIsConfiguredOrThatOfProvider(t *testing.T) {
	t.Parallel()

	s := &settings{effective: &config.Config{LLMProviders: map[string]config.LLMProvider{
		"plain": {Type: config.ProviderAnthropic}, "gateway": {Type: config.ProviderOpenAI, BaseURL: "http://llm:8080/v1"}, "vertex": {Type: config.ProviderVertexAI},
	}}}
	for name, want := range map[string]string{"plain": "https://api.anthropic.com", "gateway": "http://llm:8080/v1", "vertex": "", "unknown": ""} {
		require.Equal(t, want, s.providerURL(name), name)
	}
}
