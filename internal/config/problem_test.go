package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func TestUnknownKeyErrorNamesFileLineAndNearestKey(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"tarsy.yaml:2: queue.worker_cuont: unknown key (did you mean worker_count?)",
		"tarsy.yaml:3: queue.xyz: unknown key (known keys: team_limits, worker_count, poll_interval, severity_ageing, session_timeout, " +
			"orphan_threshold, heartbeat_interval, unrunnable_timeout, max_waiting_sessions, max_sessions_per_team, poll_interval_jitter, " +
			"max_concurrent_sessions and 3 more)",
		"tarsy.yaml:4: agent_chain: unknown key (did you mean agent_chains?)",
		"tarsy.yaml:7: mcp_servers.a.transport.comand: unknown key (did you mean command?)",
		`tarsy.yaml:9: agents["Dotted.Name"].instructions: unknown key (did you mean custom_instructions?)`,
	}, problems(t, `queue:
  worker_cuont: 3
  xyz: 1
agent_chain: {}
mcp_servers:
  a:
    transport: {type: stdio, command: x, comand: y}
agents:
  Dotted.Name: {instructions: hello}
`, nil))
}

func TestDuplicateKeysAreRefused(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"tarsy.yaml:3: queue.worker_count: duplicate key (first set at tarsy.yaml:2)",
		"tarsy.yaml:4: queue: duplicate key (first set at tarsy.yaml:1)",
		"tarsy.yaml:7: agents.A: duplicate key (first set at tarsy.yaml:6)",
	}, problems(t, "queue:\n  worker_count: 1\n  worker_count: 2\nqueue: {}\nagents:\n  A: {}\n  A: {}\n", nil))
}

func TestWrongTypeErrorSaysWhatWasExpected(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"queue: {worker_count: many}", `queue.worker_count: expected a whole number, got text (write it without quotes)`},
		{"queue: {worker_count: \"5\"}", `queue.worker_count: expected a whole number, got text (write it without quotes)`},
		{"queue: {worker_count: 1.5}", `queue.worker_count: expected a whole number, got a number`},
		{"queue: {worker_count: [1]}", `queue.worker_count: expected a whole number, got a list`},
		{"queue: {worker_count: -1}", `queue.worker_count: must be at least 0`},
		{"queue: {max_concurrent_sessions: 0}", `queue.max_concurrent_sessions: must be at least 1`},
		{"queue: {session_timeout: 40}",
			`queue.session_timeout: expected a duration such as "90s", "40m" or "1h30m", got a number (a number needs a unit)`},
		{"queue: {session_timeout: soon}", `queue.session_timeout: expected a duration such as "90s", "40m" or "1h30m"`},
		{"queue: {session_timeout: -1m}", `queue.session_timeout: must be at least 1s`},
		{"queue: 5", `queue: expected keys with values, got a number`},
		{"- a", `expected keys with values, got a list`},
		{"defaults: {alert_masking: {enabled: yes}}",
			`defaults.alert_masking.enabled: expected true or false, got text (write it without quotes)`},
		{"defaults: {runbook: {a: b}}", `defaults.runbook: expected text, got a map ` +
			`(put text that starts with { in quotes; an environment variable is written {{.NAME}})`},
		{"system: {allowed_ws_origins: a}",
			`system.allowed_ws_origins: expected a list, got text (write each item on a line that starts with "- ", or all in [ ])`},
		{"system: {cost_estimation: {model_rates: {m: {input_per_million: dear, output_per_million: 1}}}}",
			`system.cost_estimation.model_rates.m.input_per_million: expected a number, got text (write it without quotes)`},
		{"agents: {\"\": {}}", `agents: an entry needs a name`},
		{`agents: {"A\0b": {}}`, `agents: a key must not hold NUL`},
		{`defaults: {runbook: "a\x00b"}`, `defaults.runbook: text must not hold NUL`},
		{"agents: {null: b}", `agents: a key must be plain text (put it in quotes; an environment variable cannot be part of a key)`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, []string{"tarsy.yaml:1: " + tt.want}, problems(t, tt.text, nil))
		})
	}
}

func TestYAMLSyntaxErrorNamesPlaceWithoutContent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"queue:\n  a: 'hunter2\n", "tarsy.yaml:2: not valid YAML"},
		{"queue:\n\tworker_count: hunter2\n", "tarsy.yaml:2: not valid YAML"},
		{"queue: hunter2: x\n", "tarsy.yaml:1: not valid YAML"},
		{"a: \xffhunter2\n", "tarsy.yaml:1: not valid text"},
		{"a: b\nc: \x00hunter2\n", "tarsy.yaml:2: not valid text"},
		{"queue: {}\n---\nagents: {}\n", "tarsy.yaml:3: a second document in one file"},
		{strings.Repeat("[", 100_000), "tarsy.yaml:1: nested too deeply"},
		{strings.Repeat("- ", 100_000), "tarsy.yaml:1: nested too deeply"},
		{strings.Repeat("a", 2<<20), "tarsy.yaml: file is too large"},
	} {
		got := problems(t, tt.text, nil)
		require.Len(t, got, 1)
		require.True(t, strings.HasPrefix(got[0], tt.want), got[0])
		require.NotContains(t, got[0], "hunter2")
	}
}

func promotion(days string) string {
	return "system:\n  cost_estimation: {promotions: [{model: m, input_per_million: 1, output_per_million: 1, " + days + "}]}\n"
}

func TestEveryBrokenReferenceIsReportedAtItsPlace(t *testing.T) {
	t.Parallel()
	chain := func(extra, agent string) string {
		return "agent_chains:\n  c:\n    alert_types: [c]\n" + extra +
			"    stages:\n      - name: s\n        agents:\n          - " + agent + "\n"
	}
	tests := []struct{ name, text, want string }{
		{"agent", chain("", "{name: KubernetsAgent}"),
			`tarsy.yaml:7: agent_chains.c.stages[0].agents[0].name: unknown agent "KubernetsAgent" (did you mean KubernetesAgent? known agents: `},
		{"agent without a near one", chain("", "{name: Zzz}"),
			`tarsy.yaml:7: agent_chains.c.stages[0].agents[0].name: unknown agent "Zzz" (known agents: `},
		{"provider of a chain", chain("    llm_provider: gogle-default\n", "{name: ChatAgent}"),
			`tarsy.yaml:4: agent_chains.c.llm_provider: unknown LLM provider "gogle-default" (did you mean google-default?`},
		{"summary provider", chain("    executive_summary_provider: x\n", "{name: ChatAgent}"),
			`tarsy.yaml:4: agent_chains.c.executive_summary_provider: unknown LLM provider "x" (known LLM providers: `},
		{"provider of a stage's agent", chain("", "{name: ChatAgent, llm_provider: x}"),
			`tarsy.yaml:7: agent_chains.c.stages[0].agents[0].llm_provider: unknown LLM provider "x"`},
		{"MCP server of a chain", chain("    mcp_servers: [kubernetes-serve]\n", "{name: ChatAgent}"),
			`tarsy.yaml:4: agent_chains.c.mcp_servers[0]: unknown MCP server "kubernetes-serve" (did you mean kubernetes-server?`},
		{"MCP server of an agent", "agents:\n  A:\n    mcp_servers:\n      - kubernetes-server\n      - x\n",
			`tarsy.yaml:5: agents.A.mcp_servers[1]: unknown MCP server "x" (known MCP servers: kubernetes-server, prometheus-server)`},
		{"default provider", "defaults:\n  llm_provider: x\n", `tarsy.yaml:2: defaults.llm_provider: unknown LLM provider "x"`},
		{"default alert type", "defaults:\n  alert_type: kubernete\n",
			`tarsy.yaml:2: defaults.alert_type: unknown alert type "kubernete" (did you mean kubernetes?`},
		{"fallback list", "defaults:\n  fallback_list: x\n",
			`tarsy.yaml:2: defaults.fallback_list: unknown fallback list "x" (there are no fallback lists)`},
		{"label map", chain("    label_map: x\n", "{name: ChatAgent}"), `tarsy.yaml:4: agent_chains.c.label_map: unknown label map "x"`},
		{"named agent of the defaults", "defaults:\n  agents:\n    Nobody: {}\n",
			`tarsy.yaml:3: defaults.agents.Nobody: unknown agent (known agents: `},
		{"sub-agent, short form", chain("    sub_agents: [Nobody]\n", "{name: ChatAgent}"),
			`tarsy.yaml:4: agent_chains.c.sub_agents[0].name: unknown agent "Nobody"`},
		{"chat agent", chain("    chat: {agent: ChatAgen}\n", "{name: ChatAgent}"),
			`tarsy.yaml:4: agent_chains.c.chat.agent: unknown agent "ChatAgen" (did you mean ChatAgent?`},
		{"strategy", chain("    iteration_strategy: native-thinkin\n", "{name: ChatAgent}"),
			`tarsy.yaml:4: agent_chains.c.iteration_strategy: unknown value "native-thinkin" (did you mean native-thinking?`},
		{"policy", "defaults:\n  success_policy: most\n", `tarsy.yaml:2: defaults.success_policy: unknown value "most" (known values: all, any)`},
		{"agent type", "agents:\n  A: {type: synthesi}\n",
			`tarsy.yaml:2: agents.A.type: unknown value "synthesi" (did you mean synthesis?`},
		{"pattern group", "defaults:\n  alert_masking: {pattern_group: secret}\n",
			`tarsy.yaml:2: defaults.alert_masking.pattern_group: unknown value "secret" (did you mean secrets?`},
		{"stage without agents", "agent_chains:\n  c:\n    alert_types: [c]\n    stages:\n      - name: s\n        agents: []\n",
			`tarsy.yaml:6: agent_chains.c.stages[0].agents: is required (Agents that run concurrently)`},
		{"stage without a name", "agent_chains:\n  c:\n    alert_types: [c]\n    stages:\n      - agents: [{name: ChatAgent}]\n",
			`tarsy.yaml:5: agent_chains.c.stages[0].name: is required`},
		{"chain without stages", "agent_chains:\n  c: {alert_types: [c]}\n", `tarsy.yaml:2: agent_chains.c.stages: is required`},
		{"chain without alert types", "agent_chains:\n  c: {stages: [{name: s, agents: [{name: ChatAgent}]}]}\n",
			`tarsy.yaml:2: agent_chains.c.alert_types: is required`},
		{"transport without a type", "mcp_servers:\n  a: {}\n", `tarsy.yaml:2: mcp_servers.a.transport.type: is required`},
		{"stdio without a command", "mcp_servers:\n  a: {transport: {type: stdio}}\n",
			`tarsy.yaml:2: mcp_servers.a.transport.command: is required`},
		{"http without an address", "mcp_servers:\n  a: {transport: {type: http}}\n", `tarsy.yaml:2: mcp_servers.a.transport.url: is required`},
		{"address of a wrong kind", "mcp_servers:\n  a: {transport: {type: http, url: 'ftp://x'}}\n",
			`tarsy.yaml:2: mcp_servers.a.transport.url: not an address (it starts with http:// or https://)`},
		{"provider without a model", "llm_providers:\n  a: {type: openai}\n", `tarsy.yaml:2: llm_providers.a.model: is required`},
		{"provider without a type", "llm_providers:\n  a: {model: m}\n", `tarsy.yaml:2: llm_providers.a.type: is required`},
		{"Discord without a channel", "system:\n  discord: {enabled: true}\n", `tarsy.yaml:2: system.discord.channel: is required (the ID of the channel in which sessions are announced)`},
		{"anybody decides in Discord", "system:\n  discord: {approve: ['*']}\n", `tarsy.yaml:2: system.discord.approve: must not contain '*' (list the IDs of the users and roles that can decide)`},
		{"Discord channel by name", "system:\n  discord: {channel: alerts}\n", `tarsy.yaml:2: system.discord.channel: not a Discord ID`},
		{"any Discord channel", "system:\n  discord: {channel: '*'}\n", `tarsy.yaml:2: system.discord.channel: not a Discord ID`},
		{"Discord role by name", "system:\n  discord: {allow: {roles: ['*', oncall]}}\n", `tarsy.yaml:2: system.discord.allow.roles[1]: not a Discord ID`},
		{"Discord gateway", "system:\n  discord: {gateway_url: 'https://gateway.example'}\n", `tarsy.yaml:2: system.discord.gateway_url: not an address (it starts with ws:// or wss://)`},
		{"Slack without a channel", "system:\n  slack: {enabled: true}\n", `tarsy.yaml:2: system.slack.channel: is required (the ID of the channel to post in, such as C0123456789)`},
		{"Slack channel by name", "system:\n  slack: {channel: '#alerts'}\n", `tarsy.yaml:2: system.slack.channel: not the ID of a Slack channel`},
		{"Slack channel of a team by name", "system:\n  slack: {teams: {storage: alerts}}\n", `tarsy.yaml:2: system.slack.teams.storage: not the ID of a Slack channel`},
		{"anybody decides in Slack", "system:\n  slack: {approve: ['*']}\n", `tarsy.yaml:2: system.slack.approve[0]: not the ID of a Slack user`},
		{"Slack user by name", "system:\n  slack: {allow: {users: ['*', ann]}}\n", `tarsy.yaml:2: system.slack.allow.users[1]: not the ID of a Slack user`},
		{"event of Slack", "system:\n  slack: {on: [ended]}\n", `tarsy.yaml:2: system.slack.on[0]:`},
		{"template of an unknown event", "system:\n  slack: {templates: {ended: x}}\n", `tarsy.yaml:2: system.slack.templates.ended: unknown event (`},
		{"template of Slack that fails", "system:\n  slack: {templates: {finished: '{{.Nothing}}'}}\n", `tarsy.yaml:2: system.slack.templates.finished:`},
		{"alert type of Discord", "system:\n  discord: {submit: {alert_type: nothing}}\n", `tarsy.yaml:2: system.discord.submit.alert_type: unknown alert type "nothing"`},
		{"users of no proxy", "system:\n  auth: {proxy: true, default_role: viewer}\n", `tarsy.yaml:1: system.trusted_proxies: is required`},
		{"users without roles", "system:\n  trusted_proxies: [10.0.0.0/8]\n  auth: {proxy: true}\n", `tarsy.yaml:3: system.auth.roles: no user would have a role`},
		{"issuer without client", "system:\n  auth:\n    oidc: {issuer: https://id.example.com}\n    default_role: viewer\n", `tarsy.yaml:3: system.auth.oidc.client_id: is required`},
		{"issuer without TLS", "system:\n  auth:\n    oidc: {issuer: http://id.example.com, client_id: tarsy}\n    default_role: viewer\n", `tarsy.yaml:3: system.auth.oidc.issuer: must be an https URL`},
		{"issuer without roles", "system:\n  auth:\n    oidc: {issuer: https://id.example.com, client_id: tarsy}\n", `tarsy.yaml:2: system.auth.roles: no user would have a role`},
		{"client without issuer", "system:\n  auth:\n    oidc: {client_id: tarsy}\n", `tarsy.yaml:3: system.auth.oidc.issuer: is required`},
		{"short login", "system:\n  auth:\n    oidc: {issuer: https://id.example.com, client_id: tarsy, session_lifetime: 1m}\n    default_role: viewer\n", `tarsy.yaml:3: system.auth.oidc.session_lifetime: `},
		{"foreign callback", "system:\n  auth:\n    oidc: {issuer: https://id.example.com, client_id: tarsy, redirect_url: https://x.example.com/}\n    default_role: viewer\n", `tarsy.yaml:3: system.auth.oidc.redirect_url: must be an https URL that ends with`},
		{"roles without users", "system:\n  auth: {roles: {admin: [leads]}}\n", `tarsy.yaml:2: system.auth.proxy: must be true, or system.auth.oidc.issuer set, for roles to have an effect`},
		{"network", "system:\n  trusted_proxies: [10.0.0.0/8, here]\n", `tarsy.yaml:2: system.trusted_proxies[1]: not a network`},
		{"origin pattern", "system:\n  allowed_ws_origins: ['[bad']\n", `tarsy.yaml:2: system.allowed_ws_origins[0]: not an origin pattern`},
		{"origin with a path", "system:\n  allowed_ws_origins: ['https://a.example/x']\n", `tarsy.yaml:2: system.allowed_ws_origins[0]: not an origin pattern`},
		{"runbook domain", "system:\n  runbooks: {allowed_domains: ['https://docs.example.com']}\n",
			`tarsy.yaml:2: system.runbooks.allowed_domains[0]: not a host name`},
		{"retention that overflows", "system:\n  retention: {session_retention_days: 200000}\n",
			`tarsy.yaml:2: system.retention.session_retention_days: must be at most 36500`},
		{"masking pattern that is too large", "mcp_servers:\n  a:\n    transport: {type: stdio, command: x}\n" +
			"    data_masking:\n      custom_patterns: [{pattern: '" + strings.Repeat("(", 998) + "a" + strings.Repeat(")", 998) + "', replacement: x}]\n",
			`tarsy.yaml:5: mcp_servers.a.data_masking.custom_patterns[0].pattern: not a regular expression`},
		{"masking pattern", "mcp_servers:\n  a:\n    transport: {type: stdio, command: x}\n" +
			"    data_masking:\n      custom_patterns: [{pattern: '(', replacement: x}]\n",
			`tarsy.yaml:5: mcp_servers.a.data_masking.custom_patterns[0].pattern: not a regular expression`},
		{"masking group that is on and off", "mcp_servers:\n  a:\n    transport: {type: stdio, command: x}\n" +
			"    data_masking: {pattern_groups: [gitleaks], disabled_groups: [gitleaks]}\n",
			`tarsy.yaml:4: mcp_servers.a.data_masking.disabled_groups[0]: pattern_groups names gitleaks too`},
		{"tool both allowed and denied", "mcp_servers:\n  a:\n    transport: {type: stdio, command: x}\n    allowed_tools: [get, put]\n    denied_tools: ['p*']\n",
			`tarsy.yaml:4: mcp_servers.a.allowed_tools[1]: "put" is also denied, by "p*" (denied_tools wins: remove it from one of the lists)`},
		{"no allowed tools", "agents:\n  A:\n    allowed_tools: []\n",
			`tarsy.yaml:3: agents.A.allowed_tools: is empty (leave it out to allow all tools, or deny all with denied_tools: ['*'])`},
		{"pattern in the middle", chain("", "{name: ChatAgent, denied_tools: [ok, 'a*b']}"),
			`tarsy.yaml:7: agent_chains.c.stages[0].agents[0].denied_tools[1]: not the name of a tool (write the name as the server lists it, or its beginning and a *: get_*)`},
		{"empty tool", chain("    chat: {allowed_tools: ['']}\n", "{name: ChatAgent}"),
			`tarsy.yaml:4: agent_chains.c.chat.allowed_tools[0]: not the name of a tool`},
		{"masking group that is not on by default", "mcp_servers:\n  a:\n    transport: {type: stdio, command: x}\n" +
			"    data_masking: {disabled_groups: [cloud]}\n",
			`tarsy.yaml:4: mcp_servers.a.data_masking.disabled_groups[0]: unknown value "cloud"`},
		{"lease", "queue:\n  orphan_threshold: 10s\n",
			`tarsy.yaml:2: queue.orphan_threshold: heartbeat_interval (5s) must be less than half of orphan_threshold (10s)`},
		{"certificate without key", "system:\n  tls: {cert_file: tls.crt}\n", `tarsy.yaml:2: system.tls.key_file: is required (the private key of system.tls.cert_file`},
		{"key without certificate", "system:\n  tls: {key_file: tls.key}\n", `tarsy.yaml:2: system.tls.cert_file: is required (the certificate of system.tls.key_file`},
		{"heartbeat", "queue:\n  heartbeat_interval: 10s\n",
			`tarsy.yaml:2: queue.heartbeat_interval: heartbeat_interval (10s) must be less than half`},
		{"two words for two backends", "defaults:\n  iteration_strategy: native-thinking\n  llm_backend: langchain\n",
			`tarsy.yaml:3: defaults.llm_backend: contradicts iteration_strategy native-thinking, which implies google-native`},
		{"API of a provider that has only one", "llm_providers:\n  a: {type: google, model: m, api: responses}\n",
			`tarsy.yaml:2: llm_providers.a.api: is only for the types openai and xai`},
		{"an API that there is not", "llm_providers:\n  a: {type: openai, model: m, api: completions}\n",
			`tarsy.yaml:2: llm_providers.a.api: unknown value "completions"`},
		{"gateway without an address", "llm_providers:\n  a: {type: grpc, model: m}\n", `tarsy.yaml:2: llm_providers.a.base_url: is required`},
		{"gateway on HTTP", "llm_providers:\n  a: {type: grpc, model: m, base_url: 'https://x'}\n",
			`tarsy.yaml:2: llm_providers.a.base_url: not the address of a gRPC server (it starts with grpc://`},
		{"HTTP API on gRPC", "llm_providers:\n  a: {type: openai, model: m, base_url: 'grpc://x'}\n",
			`tarsy.yaml:2: llm_providers.a.base_url: not the address of an HTTP API`},
		{"address of nothing", "llm_providers:\n  a: {type: openai, model: m, base_url: 'x:1'}\n", `tarsy.yaml:2: llm_providers.a.base_url: not an address`},
		{"rate that is half written", "system:\n  cost_estimation: {model_rates: {m: {input_per_million: 1}}}\n",
			`tarsy.yaml:2: system.cost_estimation.model_rates.m.output_per_million: is required (USD for a million tokens, 0 if they cost nothing)`},
		{"promotion without a day", promotion("start: soon, end: 2026-01-31"), `tarsy.yaml:2: system.cost_estimation.promotions[0].start: not a day or a moment`},
		{"promotion with an end of the wrong form", promotion("start: 2026-01-31, end: 31.1.2026"),
			`tarsy.yaml:2: system.cost_estimation.promotions[0].end: not a day or a moment`},
		{"promotion that ends before it starts", promotion("start: 2026-01-31, end: 2026-01-30"),
			`tarsy.yaml:2: system.cost_estimation.promotions[0].end: is before start`},
		{"promotion without an end", promotion("start: 2026-01-31"), `tarsy.yaml:2: system.cost_estimation.promotions[0].end: is required`},
		{"summary agent in a stage", "agent_chains:\n  c: {alert_types: [c], stages: [{name: s, agents: [{name: ExecSummaryAgent}]}]}\n",
			`tarsy.yaml:2: agent_chains.c.stages[0].agents[0]: an agent of type exec_summary cannot run in a stage (every session ends`},
		{"scoring agent in a stage", "agents:\n  A: {}\nagent_chains:\n  c: {alert_types: [c], stages: [{name: s, agents: [{name: A, type: scoring}]}]}\n",
			`tarsy.yaml:4: agent_chains.c.stages[0].agents[0]: an agent of type scoring cannot run in a stage`},
		{"synthesis agent in the first stage", "agent_chains:\n  c: {alert_types: [c], stages: [{name: s, agents: [{name: SynthesisAgent}]}]}\n",
			`tarsy.yaml:2: agent_chains.c.stages[0].agents[0]: an agent of type synthesis cannot run in the first stage (it works on the results of earlier stages`},
		{"fallbacks said twice", "defaults:\n  fallback_providers: [{provider: google-default}]\n  fallback_list: l\n" +
			"fallback_lists: {l: [{llm_provider: google-default}]}\n",
			`tarsy.yaml:3: defaults.fallback_list: conflicts with fallback_providers`},
		{"fallback that there is not", "fallback_lists:\n  l: [{llm_provider: x}]\n",
			`tarsy.yaml:2: fallback_lists.l[0].llm_provider: unknown LLM provider "x"`},
		{"MCP server with the name of the own tools", "mcp_servers:\n  tarsy: {transport: {type: stdio, command: x}}\n",
			`tarsy.yaml:2: mcp_servers.tarsy: the name is reserved for TARSy's own tools (choose another name)`},
		{"MCP server with two underscores in its name", "mcp_servers:\n  k__prod: {transport: {type: stdio, command: x}}\n",
			`tarsy.yaml:2: mcp_servers.k__prod: the name contains "__" or ".", or ends in "_"`},
		{"MCP server with a dot in its name", "mcp_servers:\n  k.prod: {transport: {type: stdio, command: x}}\n",
			`tarsy.yaml:2: mcp_servers["k.prod"]: the name contains`},
		{"MCP server with an underscore at the end of its name", "mcp_servers:\n  k_: {transport: {type: stdio, command: x}}\n",
			`tarsy.yaml:2: mcp_servers.k_: the name contains`},
		{"negative cap", "system:\n  budgets: {daily: {max_cost_usd: -1}}\n", `tarsy.yaml:2: system.budgets.daily.max_cost_usd: must be at least 0`},
		{"no attempt", "defaults:\n  llm_retry: {max_attempts: 0}\n", `tarsy.yaml:2: defaults.llm_retry.max_attempts: must be at least 1`},
		{"alias without an anchor", "agents:\n  A: *a\n", `tarsy.yaml:2: agents.A: alias *a has no anchor before it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := problems(t, tt.text, nil)
			require.Len(t, got, 1, strings.Join(got, "\n"))
			require.True(t, strings.HasPrefix(got[0], tt.want), "got  %s\nwant %s", got[0], tt.want)
		})
	}
}

func TestAlertTypeBelongsToOneChain(t *testing.T) {
	t.Parallel()
	text := "agent_chains:\n"
	for _, id := range []string{"a", "b"} {
		text += fmt.Sprintf("  %s:\n    alert_types: [own-%s, shared]\n    stages: [{name: s, agents: [{name: ChatAgent}]}]\n", id, id)
	}
	require.Equal(t, []string{
		`tarsy.yaml:6: agent_chains.b.alert_types[1]: alert type "shared" already belongs to another chain ` +
			`(first claimed by agent_chains.a.alert_types[1], tarsy.yaml:3)`,
	}, problems(t, text, nil))
}

func TestProblemsOfAllFilesAreReportedTogetherInOrder(t *testing.T) {
	t.Parallel()
	_, err := config.Load(config.Source{Files: []config.File{
		{Name: "b.yaml", Text: []byte("queue:\n  wrong: 1\n  worker_count: x\n")},
		{Name: "a.yaml", Text: []byte("agents:\n  A: {mcp_servers: [nope]}\n")},
	}})
	require.ErrorContains(t, err, "configuration: 3 problems\n  a.yaml:2: agents.A.mcp_servers[0]: unknown MCP server")
	require.Len(t, lines(t, err), 3)
}

func TestBrokenFileDoesNotHideNamesOfOthers(t *testing.T) {
	t.Parallel()
	_, err := config.Load(config.Source{Files: []config.File{
		{Name: "a.yaml", Text: []byte("agents: {")},
		{Name: "b.yaml", Text: []byte("agent_chains: {c: {alert_types: [c], stages: [{name: s, agents: [{name: InA}]}]}}")},
	}})
	got := lines(t, err)
	require.Len(t, got, 1)
	require.Contains(t, got[0], "a.yaml:1: not valid YAML")
}

func TestUnreadableValueIsNotAlsoReportedMissing(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"tarsy.yaml:2: llm_providers.a: expected keys with values, got a number",
		"tarsy.yaml:3: llm_providers.b.model: expected text, got a list",
		"tarsy.yaml:4: llm_providers.c.type: is required (Provider of the model; openai includes compatible servers, " +
			"grpc is your own gateway, scripted plays the demo's scripts)",
		"tarsy.yaml:4: llm_providers.c.colour: unknown key (known keys: model, api, base_url, headers, type, location_env, project_env, " +
			"api_key_env, native_tools, credentials_env, reasoning_effort, max_output_tokens and 1 more)",
	}, problems(t, "llm_providers:\n  a: 5\n  b: {type: openai, model: [m]}\n  c: {model: m, colour: red}\n", nil))
}

func TestAnchorsAndMergeKeysWork(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
agents:
  A: &base {description: base, max_iterations: 3}
  B: {<<: *base, description: own}
  C: *base
`, nil)
	require.Equal(t, 3, c.Agents["B"].MaxIterations)
	require.Equal(t, "own", c.Agents["B"].Description)
	require.Equal(t, "base", c.Agents["C"].Description)
}

func TestAliasExpansionIsBounded(t *testing.T) {
	t.Parallel()
	text := "agents:\n  A:\n    skills: &l0 [x, x, x]\n"
	for i := 1; i <= 9; i++ {
		text += fmt.Sprintf("  A%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 10), ", "))
	}
	_, err := load(text, nil)
	require.Error(t, err)
	_, err = load("agents: &a\n  A: *a\n", nil)
	require.Error(t, err)
	_, err = load("agents: &a\n  <<: *a\n", nil)
	require.Error(t, err)
}

func TestDashboardURLMustBeUsableForLinks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://tarsy.example": "https://tarsy.example", "HTTPS://Tarsy.Example:443/ops/": "https://tarsy.example/ops/",
		"http://tarsy.example:80": "http://tarsy.example", "http://[::1]:8080": "http://[::1]:8080", "https://tarsy.example:80": "https://tarsy.example:80",
	} {
		c := mustLoad(t, "system: {dashboard_url: '"+address+"'}", nil)
		require.Equal(t, want, c.System.Dashboard().String())
	}
	require.Nil(t, mustLoad(t, "", nil).System.Dashboard())
	for _, address := range []string{
		"tarsy.example", "/dashboard", "ftp://tarsy.example", "javascript:alert(1)", "https://", "https://:8080", "https:///x",
		"https://tarsy.example?a=b", "https://tarsy.example/?", "https://tarsy.example/#x", "https://tarsy.example/#",
		"https://me:hunter2@tarsy.example", "https://täst.example", "https://tarsy example",
	} {
		got := problems(t, "system: {dashboard_url: '"+address+"'}", nil)
		require.Len(t, got, 1, address)
		require.Contains(t, got[0], "system.dashboard_url: not an address (")
		require.NotContains(t, got[0], "hunter2")
	}
}
