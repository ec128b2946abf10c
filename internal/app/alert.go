package app

import (
	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/runbook"
)

func alertTypes(cfg *config.Config) func() []api.AlertType {
	var types []api.AlertType
	for _, t := range cfg.AlertTypes() {
		types = append(types, api.AlertType{Name: t.Name, ChainID: t.ChainID, Description: t.Description})
	}

	return func() []api.AlertType { return types }
}

// route finds an alert's chain and checks its runbook's address.
func (a *App) route(runbooks *runbook.Fetcher, mask func(string) string) func(alert tarsy.Alert) (chain.Route, error) {
	return func(alert tarsy.Alert) (chain.Route, error) {
		var offered chain.Offered
		if alert.MCPSelection != nil {
			offered = a.health.monitor.Tools()
		}

		route, err := a.chains.Route(alert, offered)
		if err != nil || alert.RunbookURL == "" {
			return route, err
		}

		if err := runbooks.Check(alert.RunbookURL); err != nil {
			return chain.Route{}, err
		}

		// The address is stored and shown as it is, for it must be read later.
		if mask(alert.RunbookURL) != alert.RunbookURL {
			return chain.Route{}, tarsy.FieldErrorf(tarsy.CodeInvalidField, "runbook_url",
				"runbook_url holds what looks like a secret; private runbooks on GitHub are read with system.github.token_env")
		}

		return route, nil
	}
}
