package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// routed sends alerts of the namespace payments to their own chain, with some of its servers and a runbook; the second
// route would match them too.
const routed = `
defaults: {llm_provider: test, alert_type: test}
system: {runbooks: {allowed_domains: [runbooks.example.com]}}
mcp_servers:
  kubernetes: {transport: {type: stdio, command: in-memory}}
  metrics: {transport: {type: stdio, command: in-memory}}
agents: {Investigator: {mcp_servers: [kubernetes, metrics]}}
agent_chains:
  test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}
  money: {alert_types: [money], stages: [{name: follow-the-money, agents: [{name: Investigator}]}]}
alerts:
  routes:
    - {name: payments, match: [namespace="payments"], chain: money, severity: critical, team: payments, mcp_servers: [metrics], runbook: Look at the ledger.}
    - {match: [severity=~"warning|info"], alert_type: money, severity: high, team: everybody, runbook: "http://runbooks.example.com/all.md"}
`

func TestFirstRouteDecidesHowAlertIsInvestigated(t *testing.T) {
	t.Parallel()

	status := tarsytest.Tool{Name: "status", ReadOnly: true, Text: "fine"}
	app := tarsytest.New(t, tarsytest.Options{
		Config: routed, MCP: []*tarsytest.MCPServer{tarsytest.NewMCPServer("kubernetes", status), tarsytest.NewMCPServer("metrics", status)},
		Web: map[string]http.Handler{"runbooks.example.com": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/markdown")
			_, _ = w.Write([]byte("Ask somebody."))
		})},
	})
	modelAnswers(app, nil)

	type outcome struct {
		AlertType, ChainID string
		Severity           tarsy.Severity
		Team, Runbook      string
		Tools              []string
	}

	both := []string{"kubernetes__status", "metrics__status"}

	for name, test := range map[string]struct {
		alert sentAlert
		want  outcome
	}{
		"both routes match": {
			fires("Slow", "payments", "a", "severity", "warning"),
			outcome{"test", "money", tarsy.SeverityCritical, "payments", "Look at the ledger.", []string{"metrics__status"}},
		},
		"second route matches": {
			fires("Slow", "shop", "a", "severity", "info", "team", "web"),
			outcome{"money", "money", tarsy.SeverityHigh, "everybody", "Ask somebody.", both},
		},
		"no route matches": {
			fires("Slow", "web", "a", "severity", "critical", "team", "web"),
			outcome{"test", "test", tarsy.SeverityCritical, "web", "", both},
		},
	} {
		t.Run(name, func(t *testing.T) {
			session := app.WaitFor(investigates(t, app, test.alert), tarsy.SessionCompleted)
			got := outcome{AlertType: session.AlertType, ChainID: session.ChainID, Severity: session.Severity, Team: session.Team}

			if test.want.Runbook != "" {
				got.Runbook = session.Runbook
				require.Contains(t, prompts(app, session.ID), test.want.Runbook)
			}

			for _, call := range app.Script.Calls() {
				if call.Request.SessionID == session.ID && call.Request.Agent == "Investigator" {
					for _, tool := range call.Request.Tools {
						got.Tools = append(got.Tools, tool.Name)
					}
				}
			}

			require.Equal(t, test.want, got)
			require.Equal(t, test.want.Tools[0] == "metrics__status", session.MCPSelection != nil)
		})
	}

	// Alerts submitted directly are routed too, by their facts.
	text := app.Run("test", map[string]string{"summary": "Orders are lost", "namespace": "payments"})
	require.Equal(t, "money", text.ChainID)
	require.Equal(t, tarsy.SeverityCritical, text.Severity)
	require.Equal(t, "Orders are lost", text.Title)
}
