package chain

import (
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/runbook"
)

// alertRoute is one entry of alerts.routes.
type alertRoute struct {
	configured config.AlertRoute
	match      match.Set
}

// RouteMatch is the entry of alerts.routes that was applied to an alert, and why.
type RouteMatch struct {
	// Index of the entry, from zero; -1 if none matches.
	Index int
	// Name of the entry; empty if it has none.
	Name string
	// Explanation explains the choice in one sentence.
	Explanation string
	// Skipped are the entries before it, with the first matcher of each that failed.
	Skipped []SkippedRoute
}

// SkippedRoute is an entry that does not match an alert.
type SkippedRoute struct {
	Index   int
	Name    string
	Matcher string
	// Value is the alert's actual value; empty if it has none by that name.
	Value string
}

// newAlertRoutes parses the routes of a configuration, whose matchers were already validated.
func newAlertRoutes(cfg *config.Config) []alertRoute {
	routes := make([]alertRoute, len(cfg.Alerts.Routes))

	for i, r := range cfg.Alerts.Routes {
		set, err := match.ParseAll(r.Match)
		if err != nil {
			panic(fmt.Sprintf("chain: alerts.routes[%d] was not checked: %v", i, err))
		}

		routes[i] = alertRoute{configured: r, match: set}
	}

	return routes
}

// ApplyRoutes applies the first matching entry of alerts.routes to an alert: type, chain, severity, team, MCP servers and
// runbook. An alert without a type gets the type named by its alertname label, if there is one. Call it only once per alert:
// the changes of a route may make another route match. It fails if no chain accepts the alert.
func (c *Catalog) ApplyRoutes(a *tarsy.Alert) (RouteMatch, error) {
	if _, ok := c.cfg.ChainFor(a.Facts.Labels["alertname"]); ok && a.AlertType == "" {
		a.AlertType = a.Facts.Labels["alertname"]
	}

	found := RouteMatch{Index: -1, Explanation: "no route matches"}
	values := match.Values(*a)

	for i, r := range c.routes {
		failed := slices.IndexFunc(r.match, func(m match.Matcher) bool { return !match.Set{m}.Match(values) })
		if failed >= 0 {
			m := r.match[failed]
			found.Skipped = append(found.Skipped, SkippedRoute{Index: i, Name: r.configured.Name, Matcher: m.String(), Value: values(m.Name)})

			continue
		}

		found.Index, found.Name, found.Explanation = i, r.configured.Name, r.explain()
		c.apply(r.configured, a)

		break
	}

	chain, _, err := c.forAlert(*a)
	if err != nil && a.Facts.Receiver != "" {
		// A receiver accepts or rejects a delivery as a whole: an alert with a removed type must not block the others.
		a.AlertType = ""
		chain, _, err = c.forAlert(*a)
	}

	if err != nil {
		return found, noChain(*a, err)
	}

	if found.Index < 0 {
		return found, nil
	}

	if servers := c.routes[found.Index].configured.MCPServers; len(servers) > 0 {
		a.MCPSelection = chain.narrowTo(servers, a.MCPSelection)
	}

	return found, nil
}

// noChain describes what to configure so that a receiver's alerts have a chain; the sender cannot fix this.
func noChain(a tarsy.Alert, err error) error {
	if a.Facts.Receiver == "" {
		return err
	}

	return tarsy.FieldErrorf(tarsy.CodeMissingField, "alert_type",
		"no chain takes the alerts of the receiver %s/%s: set its alert_type, defaults.alert_type, or a route in alerts.routes",
		a.Facts.Source, a.Facts.Receiver)
}

func (r alertRoute) explain() string {
	if len(r.match) == 0 {
		return "it has no matchers"
	}

	texts := make([]string, len(r.match))
	for i, m := range r.match {
		texts[i] = m.String()
	}

	return "all of its matchers hold: " + strings.Join(texts, ", ")
}

// apply applies the settings of a route. The alert's own runbook takes precedence.
func (c *Catalog) apply(r config.AlertRoute, a *tarsy.Alert) {
	if r.AlertType != "" {
		a.AlertType = r.AlertType
	}

	if r.Chain != "" {
		a.ChainID = r.Chain
	}

	if r.Severity != "" {
		a.Facts.Severity = tarsy.Severity(r.Severity)
	}

	if r.Team != "" {
		a.Facts.Team = r.Team
	}

	if a.Runbook != "" || a.RunbookURL != "" {
		return
	}

	if runbook.IsURL(r.Runbook) {
		a.RunbookURL = strings.TrimSpace(r.Runbook)
	} else {
		a.Runbook = r.Runbook
	}
}

// narrowTo limits a selection, or what the chain allows, to some servers. The result can be empty: a route never widens access.
func (c Chain) narrowTo(servers []string, selection *tarsy.MCPSelection) *tarsy.MCPSelection {
	narrowed := tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{}}

	if selection != nil {
		narrowed.NativeTools = selection.NativeTools

		for _, s := range selection.Servers {
			if slices.Contains(servers, s.Name) {
				narrowed.Servers = append(narrowed.Servers, s)
			}
		}

		return &narrowed
	}

	for _, id := range c.servers() {
		if slices.Contains(servers, id) {
			narrowed.Servers = append(narrowed.Servers, tarsy.MCPServerSelection{Name: id})
		}
	}

	return &narrowed
}
