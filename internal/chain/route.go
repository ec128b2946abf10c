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

// Route is the result of routing an alert.
type Route struct {
	Chain Chain
	// AgentType is the configured name of the first agent: replicas have their own names.
	AgentType string
	// AlertType is the alert's own, or the default if it has none.
	AlertType string
	// Runbook is used if the alert has none.
	Runbook string
	// Recipe is the recipe for the session; nil means the configuration of the server that runs it.
	Recipe *progress.Recipe
}

// Route finds the chain for an alert: the one chosen by a configured route or a person, or else the one for its type. It
// rejects an alert type, chain or provider that is not configured and a selection of tools that the chain does not allow, and
// names the valid ones.
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

// withProvider returns a chain whose agents all use one provider.
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

// forAlert returns the chain for an alert, and its type. A chain that is no longer configured is ignored unless a person chose
// it: a suppressed alert may be investigated much later.
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

// forType returns the chain for an alert type, and the type: the default one if alertType is empty.
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
