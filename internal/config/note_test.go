package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/schema"
)

func notes(c *config.Config) []string {
	all := make([]string, 0, 8)
	for _, n := range c.Notes() {
		all = append(all, n.String())
	}
	return all
}

func TestKeysWithoutEffectAreReportedAtTheirPlace(t *testing.T) {
	t.Parallel()
	chain := func(stage string) string {
		return "agent_chains:\n  c:\n    alert_types: [c]\n    stages:\n      - " + stage + "\n"
	}
	const gateway = "llm_providers: {g: {type: grpc, model: m, base_url: 'grpc://x:1'}}\n"
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"backend without a gateway", "defaults: {llm_backend: langchain}\n",
			[]string{"tarsy.yaml:1: defaults.llm_backend: has no effect: no LLM provider is of type grpc"}},
		{"backend with a gateway", gateway + "defaults: {llm_backend: langchain}\n", nil},
		{"backend of a model that is no gateway", gateway + "fallback_lists: {l: [{llm_provider: google-default, llm_backend: langchain}]}\n",
			[]string{"tarsy.yaml:2: fallback_lists.l[0].llm_backend: has no effect: LLM provider google-default is of type google; only type grpc uses it"}},
		{"backend of a gateway", gateway + "fallback_lists: {l: [{llm_provider: g, llm_backend: langchain}]}\n", nil},
		{"address of a program", "mcp_servers: {a: {transport: {type: stdio, command: x, url: 'http://x', verify_ssl: true}}}\n", []string{
			"tarsy.yaml:1: mcp_servers.a.transport.url: has no effect: transport type stdio calls no address",
			"tarsy.yaml:1: mcp_servers.a.transport.verify_ssl: has no effect: transport type stdio calls no address",
		}},
		{"program of an address", "mcp_servers: {a: {transport: {type: sse, url: 'http://x', args: [a], timeout: 5s}}}\n",
			[]string{"tarsy.yaml:1: mcp_servers.a.transport.args: has no effect: transport type sse starts no program"}},
		{"synthesis of one agent", chain("{name: s, agents: [{name: ChatAgent}], success_policy: any, synthesis: {agent: SynthesisAgent}}"), []string{
			"tarsy.yaml:5: agent_chains.c.stages[0].success_policy: has no effect: the stage runs one agent",
			"tarsy.yaml:5: agent_chains.c.stages[0].synthesis: has no effect: the stage runs one agent",
		}},
		{"synthesis of replicas", chain("{name: s, replicas: 2, agents: [{name: ChatAgent}], success_policy: any, synthesis: {agent: SynthesisAgent}}"), nil},
		{"tools of a synthesis", "agents: {A: {type: synthesis, mcp_servers: [kubernetes-server]}, B: {mcp_servers: [kubernetes-server]}}\n",
			[]string{"tarsy.yaml:1: agents.A.mcp_servers: has no effect: an agent of type synthesis answers in one call without MCP tools"}},
		{"description of an agent", "agents: {A: {description: about A}}\n",
			[]string{"tarsy.yaml:1: agents.A.description: is accepted but has no effect yet"}},
		{"cloud project elsewhere", "llm_providers: {p: {type: openai, model: m, project_env: P}}\n",
			[]string{"tarsy.yaml:1: llm_providers.p.project_env: has no effect: only type vertexai uses it"}},
		{"API key on Vertex AI", "llm_providers: {p: {type: vertexai, model: m, api_key_env: K}}\n",
			[]string{"tarsy.yaml:1: llm_providers.p.api_key_env: has no effect: type vertexai uses no API key"}},
		{"address of a script", "llm_providers: {p: {type: scripted, base_url: 'http://x'}}\n",
			[]string{"tarsy.yaml:1: llm_providers.p.base_url: has no effect: type scripted calls no model"}},
		{"type of an agent", "agents: {A: {type: action}}\n",
			[]string{`tarsy.yaml:1: agents.A.type: "action" is accepted but has no effect yet`}},
		{"feature that is on", "defaults: {memory: {enabled: true, max_inject: 3}, scoring: {agent: ScoringAgent}}\n", []string{
			"tarsy.yaml:1: defaults.memory: is accepted but has no effect yet",
			"tarsy.yaml:1: defaults.scoring: is accepted but has no effect yet",
		}},
		{"feature that is off", "defaults: {memory: {enabled: false, max_inject: 3}, scoring: {enabled: false}}\nsystem: {slack: {enabled: false, channel: C1}}\n", nil},
		{"nothing in a list", "system: {holidays: []}\nagents: {A: {skills: []}}\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, tt.text, nil)
			require.ElementsMatch(t, tt.want, notes(c))
			require.Empty(t, c.Warnings, "a note is no warning")
		})
	}
}

func TestHarmlessMisplacedKeyIsIgnoredWithWarning(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "agent_chains:\n  c:\n    alert_types: [c]\n    stages:\n      - name: s\n        llm_provider: gemini-3-flash\n        agents: [{name: ChatAgent}]\n", nil)
	require.Len(t, c.Warnings, 1)
	require.Contains(t, c.Warnings[0].String(), "tarsy.yaml:6: agent_chains.c.stages[0].llm_provider: is not a key of this section and is ignored")
}

func TestMisplacedRestrictionIsError(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"enabled: true", "mcp_servers: [kubernetes-server]", "data_masking: {}", "verify_ssl: true", "worker_count: 1"} {
		require.Len(t, problems(t, "system: {"+key+"}\n", nil), 1, key)
	}
	loose := schema.LooseKeys(reflect.TypeFor[config.Config]())
	for _, key := range []string{
		"enabled", "mcp_servers", "data_masking", "alert_masking", "verify_ssl", "read_only", "allowed_tools", "denied_tools", "inherit_env", "user",
		"max_tokens", "max_cost_usd", "max_tool_calls", "allowed_domains", "trusted_proxies", "native_tools", "type",
	} {
		require.False(t, slices.Contains(loose, key), "ignoring %s would open what it closes", key)
	}
}

// The fixture mirrors the example of the published TARSy: its keys, its names, and one key in a section where it has no meaning.
func TestPublishedExampleConfigurationLoads(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Source{Path: filepath.Join("testdata", "published"), Env: func(string) (string, bool) { return "http://set.example", true }})
	require.NoError(t, err)
	require.Len(t, c.Warnings, 1)
	require.Contains(t, c.Warnings[0].String(), "is not a key of this section and is ignored")
	require.Equal(t, "gemini-3-pro", c.Chains["volumes"].Stages[0].Synthesis.LLMProvider)
	for _, note := range notes(c) {
		require.NotContains(t, note, "memory", "it is off")
	}
	text, err := os.ReadFile(filepath.Join("testdata", "published", "tarsy.yaml"))
	require.NoError(t, err)
	for _, section := range []string{"system", "queue", "defaults", "mcp_servers", "agents", "agent_chains", "fallback_lists", "label_maps"} {
		require.Contains(t, string(text), "\n"+section+":\n")
	}
}
