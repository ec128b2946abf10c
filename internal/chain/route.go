package chain

import (
	"maps"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// Route is where an alert goes.
type Route struct {
	Chain Chain
	// AgentType is the name of the first agent as configured: replicas have names of their own.
	AgentType string
	// AlertType is the alert's own, or the default for an alert that names none.
	AlertType string
	// Runbook is used for an alert that names none.
	Runbook string
	// Recipe is what the session is to follow; nil means the configuration of whichever server runs it.
	Recipe *progress.Recipe
}

// Route finds the chain for an alert. It rejects an alert type or an MCP server that is not configured, and names what
// is.
func (c *Catalog) Route(alert tarsy.Alert) (Route, error) {
	chain, alertType, err := c.forType(alert.AlertType)
	if err != nil {
		return Route{}, err
	}

	if err := c.checkSelection(alert.MCPSelection); err != nil {
		return Route{}, err
	}

	recipe := c.stored[chain.ID]
	if alert.MCPSelection != nil {
		recipe = c.recipe(chain, alert.MCPSelection).Stored(alert.MCPSelection)
	}

	agentType := c.cfg.Chains[chain.ID].Stages[0].Agents[0].Name

	return Route{Chain: chain, AgentType: agentType, AlertType: alertType, Runbook: c.cfg.Defaults.Runbook, Recipe: &recipe}, nil
}

// Tools is what the agents of a chain's stages get together.
type Tools struct {
	AlertType string
	ChainID   string
	// Servers are ids of MCP servers, in the order of the stages.
	Servers     []string
	NativeTools llm.NativeTools
}

// DefaultTools is what alerts of a type get that select no tools themselves.
func (c *Catalog) DefaultTools(alertType string) (Tools, error) {
	chain, alertType, err := c.forType(alertType)
	if err != nil {
		return Tools{}, err
	}

	tools := Tools{AlertType: alertType, ChainID: chain.ID}

	for _, stage := range chain.Stages {
		for _, a := range stage.Agents {
			tools.NativeTools.GoogleSearch = tools.NativeTools.GoogleSearch || a.Spec.NativeTools.GoogleSearch
			tools.NativeTools.CodeExecution = tools.NativeTools.CodeExecution || a.Spec.NativeTools.CodeExecution
			tools.NativeTools.URLContext = tools.NativeTools.URLContext || a.Spec.NativeTools.URLContext

			for _, s := range a.Servers {
				if !slices.Contains(tools.Servers, s.Name) {
					tools.Servers = append(tools.Servers, s.Name)
				}
			}
		}
	}

	return tools, nil
}

// forType returns the chain that takes alerts of a type, and the type: the default one for an alert that names none.
func (c *Catalog) forType(alertType string) (Chain, string, error) {
	if alertType == "" {
		alertType = c.cfg.Defaults.AlertType
	}

	if configured, ok := c.cfg.ChainFor(alertType); ok {
		return c.chains[configured.ID], alertType, nil
	}

	var names []string
	for _, t := range c.cfg.AlertTypes() {
		names = append(names, t.Name)
	}

	if alertType == "" {
		return Chain{}, "", tarsy.FieldErrorf(tarsy.CodeMissingField, "alert_type",
			"alert_type is missing and no default is configured: use one of %s", strings.Join(names, ", "))
	}

	return Chain{}, "", tarsy.FieldErrorf(tarsy.CodeUnknownAlertType, "alert_type",
		"there is no alert type %q; %s", tarsy.CleanText(alertType), nearest.HintWithList(alertType, names, "alert types"))
}

// checkSelection rejects a selection of servers that are not configured.
func (c *Catalog) checkSelection(selection *tarsy.MCPSelection) error {
	if selection == nil {
		return nil
	}

	for _, s := range selection.Servers {
		if _, ok := c.servers[s.Name]; !ok {
			return tarsy.FieldErrorf(tarsy.CodeUnknownMCPServer, "mcp_selection.servers", "there is no MCP server %q; %s",
				tarsy.CleanText(s.Name), nearest.HintWithList(s.Name, slices.Collect(maps.Keys(c.servers)), "MCP servers"))
		}
	}

	return nil
}
