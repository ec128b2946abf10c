package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI": "value-of-openai", "GH": "value-of-github"}
	c := mustLoad(t, `
system: {github: {token_env: GH}}
llm_providers: {x: {type: openai, model: m, api_key_env: OPENAI}}
mcp_servers:
  s:
    transport:
      type: http
      url: https://user:in-the-address@example.com
      bearer_token: bearer-token-value
      custom_headers: {X-Api-Key: header-value, X-Tenant: acme-corporation, Authorization: Bearer after-the-word}
  p: {transport: {type: stdio, command: x, env: {DB_PASSWORD: pass-in-env, LOG_LEVEL: debugging}}}
`, nil)
	got := c.Secrets(func(name string) (string, bool) { value, ok := env[name]; return value, ok }) //nolint:nlreturn // one thought
	require.ElementsMatch(t, []string{
		"value-of-openai", "value-of-github", "in-the-address", "bearer-token-value", "header-value", "after-the-word", "pass-in-env",
	}, got)
}
