package chain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
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

// Route finds the chain for an alert: the one that a route of the configuration or a person chose, else the one of its type. It rejects an
// alert type, chain or provider that is not configured and a selection of tools that the chain does not allow, and names what would do.
func (c *Catalog) Route(alert tarsy.Alert, offered Offered) (Route, error) {
	chain, alertType, err := c.forAlert(alert)
	if err != nil {
		return Route{}, err
	}

	if alert.LLMProvider != "" {
		if chain, err = c.withProvider(chain.ID, alert.LLMProvider); err != nil {
			return Route{}, err
		}
	}

	if err := c.checkSelection(chain, alert.MCPSelection, offered); err != nil {
		return Route{}, err
	}

	recipe := c.stored[chain.ID]
	if alert.MCPSelection != nil || alert.LLMProvider != "" {
		recipe = c.recipe(chain, alert.MCPSelection).Stored(alert.MCPSelection)
	}

	agentType := c.cfg.Chains[chain.ID].Stages[0].Agents[0].Name

	return Route{Chain: chain, AgentType: agentType, AlertType: alertType, Runbook: c.cfg.Defaults.Runbook, Recipe: &recipe}, nil
}

// withProvider is a chain whose agents all use one provider.
func (c *Catalog) withProvider(chainID, provider string) (Chain, error) {
	if !c.hasProvider(provider) {
		return Chain{}, tarsy.FieldErrorf(tarsy.CodeUnknownLLMProvider, "llm_provider", "there is no LLM provider %q; %s",
			plaintext.Clean(provider), nearest.HintWithList(provider, slices.Sorted(maps.Keys(c.cfg.LLMProviders)), "LLM providers"))
	}

	return resolver{cfg: c.cfg, provider: provider}.chain(c.cfg.Chains[chainID]), nil
}

func (c *Catalog) unknownChain(id string) error {
	return tarsy.FieldErrorf(tarsy.CodeUnknownChain, "chain_id", "there is no chain %q; %s",
		plaintext.Clean(id), nearest.HintWithList(id, slices.Sorted(maps.Keys(c.chains)), "chains"))
}

// forAlert returns the chain that investigates an alert, and its type. Unless a person chose it, a chain that is not configured any more is
// as good as none: an alert that was suppressed may be investigated much later.
func (c *Catalog) forAlert(alert tarsy.Alert) (Chain, string, error) {
	chain, ok := c.chains[alert.ChainID]

	switch {
	case !ok && alert.ChainRequired:
		return Chain{}, "", c.unknownChain(alert.ChainID)
	case !ok:
		return c.forType(alert.AlertType)
	}

	return chain, cmp.Or(alert.AlertType, c.cfg.Defaults.AlertType, c.cfg.Chains[chain.ID].AlertTypes[0]), nil
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
		"there is no alert type %q; %s", plaintext.Clean(alertType), nearest.HintWithList(alertType, names, "alert types"))
}
