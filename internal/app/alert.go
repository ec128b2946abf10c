package app

import "tarsy.dev/tarsy/internal/api"

// alertTypes returns the types of alerts that can currently be submitted.
func (a *App) alertTypes() []api.AlertType {
	var types []api.AlertType
	for _, t := range a.current().config.AlertTypes() {
		types = append(types, api.AlertType{Name: t.Name, ChainID: t.ChainID, Description: t.Description})
	}

	return types
}
