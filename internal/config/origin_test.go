package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func originsOf(c *config.Config) map[string]config.Value {
	values := make(map[string]config.Value)
	for _, v := range c.Origins() {
		values[v.Path] = v
	}
	return values
}

func TestOriginsShowWhereEachValueCameFrom(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `queue:
  session_timeout: 90m
  worker_count: 3
agents:
  My.Agent:
    mcp_servers: [kubernetes-server]
`, nil)
	require.NoError(t, c.Override("queue.worker_count", "8", "flag --workers"))
	require.NoError(t, c.Override("system.trusted_proxies", "10.0.0.0/8, ::1", "env TARSY_TRUSTED_PROXIES"))
	require.NoError(t, c.Override("llm_providers.google-default.model", "gemini-3", "env TARSY_MODEL"))
	require.NoError(t, c.Validate())

	got := originsOf(c)
	for _, want := range []config.Value{
		{Path: "queue.session_timeout", Value: "1h30m", Origin: "tarsy.yaml:2"},
		{Path: "queue.worker_count", Value: "8", Origin: "flag --workers"},
		{Path: "queue.poll_interval", Value: "1s", Origin: "built-in"},
		{Path: "system.mcp_startup", Value: "lenient", Origin: "built-in"},
		{Path: "system.trusted_proxies", Value: "[10.0.0.0/8, ::1]", Origin: "env TARSY_TRUSTED_PROXIES"},
		{Path: "llm_providers.google-default.model", Value: "gemini-3", Origin: "env TARSY_MODEL"},
		{Path: "llm_providers.google-default.api_key_env", Value: "GOOGLE_API_KEY", Origin: "built-in"},
		{Path: `agents["My.Agent"].mcp_servers`, Value: "[kubernetes-server]", Origin: "tarsy.yaml:6"},
		{Path: "agent_chains.kubernetes.stages[0].agents[0].name", Value: "KubernetesAgent", Origin: "built-in"},
	} {
		require.Equal(t, want, got[want.Path])
	}
	require.NotContains(t, got, "system.dashboard_url", "nobody set it and it has no built-in value")
	require.Equal(t, "gemini-3", c.LLMProviders["google-default"].Model)
	require.Equal(t, 8, c.Queue.WorkerCount)
}

func TestOverridesAreValidated(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "", nil)
	for _, tt := range []struct{ path, value, want string }{
		{"queue.worker_cuont", "8", "queue.worker_cuont: unknown key in flag --x (did you mean queue.worker_count?)"},
		{"queue.worker_count", "many", "queue.worker_count: expected a whole number in flag --x"},
		{"queue.worker_count", "-1", "queue.worker_count: must be at least 0"},
		{"queue", "8", "queue: unknown key in flag --x"},
		{"agents.Nobody.description", "8", "agents.Nobody.description: unknown key in flag --x"},
		{"agents", "8", "agents: unknown key in flag --x"},
		{"system.mcp_startup", "sometimes", `system.mcp_startup: unknown value "sometimes"`},
		{"defaults.llm_provider", "sk-abcdefghijklmnop", `defaults.llm_provider: unknown LLM provider (value hidden)`},
	} {
		err := c.Override(tt.path, tt.value, "flag --x")
		require.ErrorContains(t, err, tt.want)
	}
	c = mustLoad(t, "", nil)
	require.NoError(t, c.Override("queue.orphan_threshold", "2s", "env A"), "two overrides may need each other")
	require.Error(t, c.Validate())
	require.NoError(t, c.Override("queue.heartbeat_interval", "500ms", "env B"))
	require.NoError(t, c.Validate())
}

func TestSecretsAreShownNowhere(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	c := mustLoad(t, `
system: {runbooks: {repo_url: "https://me:hunter2-hunter2@example.org/x?token=hunter2-hunter2"}}
mcp_servers:
  a:
    transport:
      type: http
      url: https://example.org/mcp?key=hunter2-hunter2
      bearer_token: hunter2-hunter2
      env: {TOKEN: hunter2-hunter2}
      custom_headers: {Authorization: hunter2-hunter2}
      args: [--token, hunter2-hunter2, --api-key=hunter2-hunter2, "{{.S}}", --verbose, plain,
        -H, "Authorization: Bearer hunter2-hunter2", "https://u:hunter2-hunter2@h/x?api_key=hunter2-hunter2", "--db-url=postgres://u:hunter2-hunter2@h/db"]
    instructions: "{{.S}}"
agents: {A: {description: "about {{.S}}", skills: ["{{.S}}", open]}}
llm_providers: {p: {type: openai, model: m, base_url: "https://{{.S}}.example.org"}}
defaults: {runbook: sk-hunter2-hunter2}
`, map[string]string{"S": secret})

	listing := fmt.Sprint(c.Origins())
	require.NotContains(t, listing, "hunter2")
	got := originsOf(c)
	require.Equal(t, config.Hidden, got["mcp_servers.a.transport.bearer_token"].Value)
	require.Equal(t, "[--token, ********, --api-key=********, ********, --verbose, plain, "+
		"-H, Authorization: ********, https://hidden@h/x?api_key=********, --db-url=postgres://hidden@h/db]", got["mcp_servers.a.transport.args"].Value)
	require.Equal(t, "https://example.org/mcp?hidden", got["mcp_servers.a.transport.url"].Value)
	require.Equal(t, "[********, open]", got["agents.A.skills"].Value)
	require.Equal(t, config.Hidden, got["llm_providers.p.base_url"].Value)

	transport := c.MCPServers["a"].Transport
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("transport", "token", transport.BearerToken, "env", transport.Env)
	asJSON, err := json.Marshal(map[string]any{"token": transport.BearerToken, "env": transport.Env, "headers": transport.CustomHeaders})
	require.NoError(t, err)
	for _, text := range []string{
		fmt.Sprintf("%v %+v %#v %s %q", transport.BearerToken, transport.Env, transport.Env, transport.CustomHeaders, transport.BearerToken),
		log.String(), string(asJSON),
	} {
		require.NotContains(t, text, "hunter2")
	}
	require.Equal(t, secret, transport.BearerToken.Reveal())
}

func TestSecretInPlaceOfVariableNameIsRefusedWithoutShowingIt(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"sk-proj-abcdefgh12345678", "AIzaSyabcdefghijklmnop", "abc-def"} {
		got := problems(t, "llm_providers: {p: {type: openai, model: m, api_key_env: "+key+"}}", nil)
		require.Equal(t, []string{"tarsy.yaml:1: llm_providers.p.api_key_env: not the name of an environment variable " +
			"(the name goes here, the key itself into the environment)"}, got)
	}
	c := mustLoad(t, "llm_providers: {p: {type: openai, model: m, api_key_env: abcdef0123456789}}", nil)
	require.Equal(t, config.Hidden, originsOf(c)["llm_providers.p.api_key_env"].Value)
}

func TestOriginsOfFullFixture(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Source{Path: filepath.Join("testdata", "full"), Env: fullEnv()})
	require.NoError(t, err)
	var out strings.Builder
	for _, v := range c.Origins() {
		if v.Origin != "built-in" {
			fmt.Fprintf(&out, "%s = %q (%s)\n", v.Path, v.Value, v.Origin)
		}
	}
	golden(t, filepath.Join("testdata", "full.origins"), out.String())
}
