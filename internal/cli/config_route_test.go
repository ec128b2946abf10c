package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
)

const routesConfig = `
system: {runbooks: {allowed_domains: [runbooks.example]}}
defaults: {llm_provider: scripted, alert_type: test}
llm_providers: {scripted: {type: scripted}}
mcp_servers:
  cluster: {transport: {type: http, url: "http://127.0.0.1:1"}}
  metrics: {transport: {type: http, url: "http://127.0.0.1:1"}}
agents:
  Tester: {mcp_servers: [cluster, metrics], custom_instructions: Test.}
agent_chains:
  test: {alert_types: [test], stages: [{name: look, agents: [{name: Tester}]}]}
  payments: {alert_types: [pay], stages: [{name: look, agents: [{name: Tester}]}]}
alerts:
  receivers:
    status: {source: generic, mapping: {title: name, namespace: "{{.where.ns}}"}}
  routes:
    - {name: info, match: ['severity="info"'], alert_type: pay}
    - name: payments
      match: ['namespace=~"pay.*"', severity!="info"]
      chain: payments
      severity: critical
      team: payments
      mcp_servers: [metrics]
      runbook: Look at the ledger.
    - {match: [alertname="Disk"], alert_type: test}
`

const routedBody = `{"version": "4", "groupKey": "{}", "status": "firing", "alerts": [
  {"status": "firing", "labels": {"alertname": "Slow", "namespace": "payments", "severity": "warning"}, "annotations": {"summary": "Payments are slow"},
   "startsAt": "2026-11-15T09:00:00Z", "fingerprint": "f1"},
  {"status": "resolved", "labels": {"alertname": "Down", "namespace": "shop"},
   "annotations": {"runbook_url": "https://runbooks.example/down"}, "startsAt": "2026-11-15T09:00:00Z", "fingerprint": "f2"}
]}`

func TestConfigRouteExplainsWhereAlertsGo(t *testing.T) {
	t.Parallel()

	dir := writeConfig(t, routesConfig)

	got := tarsyWith(t, nil, routedBody, "config", "route", "--config-dir", dir)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	first, second, ok := strings.Cut(got.stdout, "\n\n")
	require.True(t, ok, got.stdout)
	require.Equal(t, `title        Payments are slow
severity     critical
service      -
namespace    payments
cluster      -
team         payments
fingerprint  alertmanager/default:f1
             alerts.routes[0] (info) does not match: severity="info", but the value is "warning"
route        alerts.routes[1] (payments), because all of its matchers hold: namespace=~"pay.*", severity!="info"
alert type   test
chain        payments
MCP servers  metrics
runbook      Look at the ledger.`, first)
	require.Contains(t, second, "route        none matches; the alert type decides\n")
	require.Contains(t, second, `alerts.routes[2] does not match: alertname="Disk", but the value is "Down"`)
	require.Contains(t, second, "runbook      https://runbooks.example/down\n")
	require.Contains(t, second, "The alert is resolved: it is not investigated.\n")

	type routed struct {
		tarsy.AlertFacts

		Resolved  bool
		AlertType string `json:"alert_type"`
		ChainID   string `json:"chain_id"`
		Route     *struct {
			Index        int
			Name, Reason string
		}
		Skipped    []struct{ Matcher, Value string }
		MCPServers []string `json:"mcp_servers"`
		RunbookURL string   `json:"runbook_url"`
	}

	route := func(stdin string, args ...string) []routed {
		got := tarsyWith(t, nil, stdin, append([]string{"config", "route", "--config-dir", dir, "-o", "json"}, args...)...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)

		var all []routed
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &all))

		return all
	}

	all := route(routedBody)
	require.Len(t, all, 2)
	require.Equal(t, 1, all[0].Route.Index)
	require.Equal(t, tarsy.SeverityCritical, all[0].Severity)
	require.Nil(t, all[1].Route)
	require.Len(t, all[1].Skipped, 3)
	require.Equal(t, "test", all[1].ChainID)
	require.Equal(t, []string{"cluster", "metrics"}, all[1].MCPServers)
	require.True(t, all[1].Resolved)

	all = route(`{"name": "Ledger is stuck", "where": {"ns": "payroll"}}`, "--receiver", "generic/status")
	require.Equal(t, "Ledger is stuck", all[0].Title)
	require.Equal(t, "payments", all[0].ChainID)

	all = route("the disk is full\nvery full")
	require.Len(t, all, 1)
	require.Equal(t, "the disk is full", all[0].Title)
	require.Equal(t, "test", all[0].ChainID)

	got = tarsyWith(t, nil, `{"version": "4", "groupKey": "{}", "alerts": []}`, "config", "route", "--config-dir", dir)
	require.Equal(t, cli.ExitOK, got.code)
	require.Contains(t, got.stderr, "The body contains no alerts.")
}

func TestConfigRouteRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()

	dir := writeConfig(t, routesConfig)

	for name, c := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		"nothing":            {" \n", nil, cli.ExitUsage, "no alerts given"},
		"unknown receiver":   {routedBody, []string{"--receiver", "generic/nope"}, cli.ExitUsage, `there is no receiver "generic/nope"`},
		"receiver as a word": {routedBody, []string{"--receiver", "status"}, cli.ExitUsage, "write source/name"},
		"not JSON":           {"{", []string{"--receiver", "alertmanager/default"}, cli.ExitFailed, "The body is not valid JSON"},
		"another body":       {`{"name": 1}`, []string{"--receiver", "alertmanager/default"}, cli.ExitUsage, "alerts"},
		"too large":          {strings.Repeat("x", 8<<20+1), nil, cli.ExitUsage, "larger than 8388608 bytes"},
		"bad configuration":  {routedBody, []string{"--config-dir", writeConfig(t, "alerts: {routes: [{match: ['=']}]}\n")}, cli.ExitFailed, "alerts.routes"},
	} {
		got := tarsyWith(t, nil, c.stdin, append([]string{"config", "route", "--config-dir", dir}, c.args...)...)
		require.Equal(t, c.code, got.code, "%s: %s", name, got.stderr)
		require.Contains(t, got.stderr, c.want, name)
		require.Empty(t, got.stdout, name)
	}
}
