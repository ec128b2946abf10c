package chain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
)

const routed = shop + `
  other: {alert_types: [other, DiskFull], stages: [{name: look, agents: [{name: Looker}]}]}
alerts:
  routes:
    - {name: info, match: [severity="info"], alert_type: till}
    - {match: ['alertname=~"Disk.*"', namespace!="staging"], severity: critical, team: storage, chain: shop, mcp_servers: [logs, metrics], runbook: "https://github.com/a/b.md"}
    - {name: narrow, match: [namespace="staging"], mcp_servers: [metrics], runbook: Restart it.}
`

func labelled(pairs ...string) tarsy.Alert {
	a := tarsy.Alert{Facts: tarsy.AlertFacts{Labels: map[string]string{}}}
	for i := 0; i < len(pairs); i += 2 {
		a.Facts.Labels[pairs[i]] = pairs[i+1]
	}
	return a
}

func TestFirstMatchingRouteDecides(t *testing.T) {
	t.Parallel()
	c := load(t, routed)

	a := labelled("alertname", "DiskFull", "severity", "info")
	found, err := c.ApplyRoutes(&a)
	require.NoError(t, err)
	require.Equal(t, chain.RouteMatch{Index: 0, Name: "info", Explanation: `all of its matchers hold: severity="info"`}, found)
	require.Equal(t, "till", a.AlertType)
	require.Empty(t, a.ChainID)
	require.Nil(t, a.MCPSelection)

	a = labelled("alertname", "DiskFull")
	found, err = c.ApplyRoutes(&a)
	require.NoError(t, err)
	require.Equal(t, 1, found.Index)
	require.Equal(t, []chain.SkippedRoute{{Index: 0, Name: "info", Matcher: `severity="info"`}}, found.Skipped)
	require.Equal(t, "DiskFull", a.AlertType, "the type is named like the label")
	require.Equal(t, "shop", a.ChainID)
	require.Equal(t, tarsy.SeverityCritical, a.Facts.Severity)
	require.Equal(t, "storage", a.Facts.Team)
	require.Equal(t, "https://github.com/a/b.md", a.RunbookURL)
	require.Equal(t, servers("logs", "metrics"), a.MCPSelection.Servers)

	route, err := c.Route(a, nil)
	require.NoError(t, err)
	require.Equal(t, "shop", route.Chain.ID, "the chain of the route wins over that of the type")
	require.Equal(t, "DiskFull", route.AlertType)

	a = labelled("alertname", "Other")
	found, err = c.ApplyRoutes(&a)
	require.NoError(t, err)
	require.Equal(t, -1, found.Index)
	require.Equal(t, "no route matches", found.Explanation)
	require.Len(t, found.Skipped, 3)
	require.Equal(t, chain.SkippedRoute{Index: 1, Matcher: `alertname=~"Disk.*"`, Value: "Other"}, found.Skipped[1])
	require.Empty(t, a.AlertType)
}

func TestRouteNarrowsToolsAndNeverWidens(t *testing.T) {
	t.Parallel()
	c := load(t, routed)

	a := labelled("namespace", "staging")
	a.AlertType, a.Runbook = "other", "My own."
	_, err := c.ApplyRoutes(&a)
	require.NoError(t, err)
	require.Empty(t, a.MCPSelection.Servers, "the chain has no metrics, and a route gives nothing to it")
	require.Equal(t, "My own.", a.Runbook, "the runbook of the alert wins")
	route, err := c.Route(a, nil)
	require.NoError(t, err)
	decoded, err := c.Decode(route.Recipe.Body)
	require.NoError(t, err)
	require.Empty(t, decoded.Follow(a.MCPSelection).Stages[0].Agents[0].Servers)

	a = labelled("namespace", "staging")
	a.AlertType = "shop"
	a.MCPSelection = &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: "logs"}, {Name: "metrics", Tools: []string{"query"}}}}
	_, err = c.ApplyRoutes(&a)
	require.NoError(t, err)
	require.Equal(t, []tarsy.MCPServerSelection{{Name: "metrics", Tools: []string{"query"}}}, a.MCPSelection.Servers)
	require.Equal(t, "Restart it.", a.Runbook)
}

func TestUnknownTypeOfReceiverFallsBackToDefault(t *testing.T) {
	t.Parallel()
	a := labelled()
	a.AlertType = "gone"
	_, err := load(t, routed).ApplyRoutes(&a)
	require.Equal(t, tarsy.CodeUnknownAlertType, tarsy.CodeOf(err), "who names a type must know it")

	a.Facts.Source, a.Facts.Receiver = tarsy.SourceAlertmanager, "default"
	_, err = load(t, routed).ApplyRoutes(&a)
	require.NoError(t, err)
	require.Empty(t, a.AlertType)

	_, err = load(t, "agent_chains: {kubernetes: {alert_types: [b], stages: [{name: s, agents: [{name: GeneralWorker}]}]}}").ApplyRoutes(&a)
	require.ErrorContains(t, err, "no chain takes the alerts of the receiver alertmanager/default: set its alert_type, defaults.alert_type, or a route")

	a.ChainID = "gone"
	route, err := load(t, routed).Route(a, nil)
	require.NoError(t, err)
	require.Equal(t, "kubernetes", route.Chain.ID, "a chain that is gone is as good as none")
}
