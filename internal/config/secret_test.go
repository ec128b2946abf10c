package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVariablesAreSecretWhereverUsed(t *testing.T) {
	t.Parallel()
	vars := map[string]string{
		"ARG": "Qw8-argument-Zx71k", "QUERY": "Qw8-query-Zx71k", "TENANT": "Qw8tenantZx71kPp3", "WORDS_TOKEN": "correct horse battery",
		"DSN": "postgres://app:Qw8-dsn-Zx71k@db/orders", "HEADER": "Bearer Qw8-header-Zx71k", "HOOK": "https://hooks.example.com/services/T024BE7LD/Zx71kPp3",
		"HOST": "mcp.example.com:8443", "URL": "https://mcp.example.com/api/v1", "PORT": "18080443", "DEBUG": "true", "REGION": "eu-west-1",
		"PATHS": "/var/lib/tarsy/data", "WAIT": "1h30m0s", "IP": "10.20.30.40", "ENVIRONMENT": "production",
	}
	c := mustLoad(t, `
mcp_servers:
  s:
    instructions: "{{.DEBUG}} {{.PORT}} {{.REGION}} {{.PATHS}} {{.WAIT}} {{.IP}} {{.ENVIRONMENT}} {{.URL}} {{.HOOK}}"
    transport:
      type: http
      url: "https://{{.HOST}}/mcp?tenant={{.QUERY}}&api_key=literal-in-query"
      custom_headers: {X-Tenant: "{{.TENANT}}", X-Other: "{{.HEADER}}"}
  p:
    transport:
      type: stdio
      command: x
      args: ["--name={{.ARG}}", "{{.DSN}}", --token=literal-token-value, --api-key, literal-key-value, "Authorization: Bearer literal-header"]
      env: {ANYTHING: "{{.WORDS_TOKEN}}"}
`, vars)
	got := c.Secrets(func(string) (string, bool) { return "", false })
	require.ElementsMatch(t, []string{
		vars["ARG"], vars["QUERY"], vars["TENANT"], vars["WORDS_TOKEN"], vars["DSN"], "Qw8-dsn-Zx71k", vars["HEADER"], "Qw8-header-Zx71k", vars["HOOK"],
		"literal-in-query", "literal-token-value", "literal-key-value", "literal-header",
	}, got)
}

func TestConfigurationSecrets(t *testing.T) {
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
	got := c.Secrets(func(name string) (string, bool) { value, ok := env[name]; return value, ok })
	require.ElementsMatch(t, []string{
		"value-of-openai", "value-of-github", "in-the-address", "bearer-token-value", "header-value", "after-the-word", "pass-in-env",
	}, got)
}
