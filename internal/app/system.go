package app

import (
	"maps"
	"slices"

	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/schema"
)

// system returns a description of the server for people.
func (a *App) system() api.System {
	return api.System{
		MCPServers:   a.mcpWithTools,
		DefaultTools: a.defaultTools,
		Providers: func(others bool) []api.Provider {
			s := a.current()
			cfg, used := s.config, s.chains.LLMProviders()
			if !others {
				return providers(cfg, used, nil, a.options.Env)
			}

			return providers(cfg, used, ready(cfg, used, a.options.Env), a.options.Env)
		},
		Settings:    func() []api.Setting { return shownSettings(a.current().config) },
		Diagnostics: a.diagnostics(),
	}
}

// mcpWithTools returns the servers that the monitor watches, with their tools.
func (a *App) mcpWithTools() []api.MCPServer {
	statuses, tools := a.mcpStatuses(), a.health.monitor.Tools()
	servers := make([]api.MCPServer, 0, len(statuses))

	for _, status := range statuses {
		server := api.MCPServer{
			MCPServerStatus: status, Transport: a.current().config.MCPServers[status.ID].Transport.Type, Tools: []api.Tool{},
		}

		for _, t := range tools[status.ID] {
			server.Tools = append(server.Tools, api.Tool{Name: t.Name, Description: t.Description, ReadOnly: t.ReadOnly, InputSchema: t.Schema})
		}

		servers = append(servers, server)
	}

	return servers
}

// defaultTools returns what a chain, or the chain of an alert type, allows, with the latest tools of its servers.
func (a *App) defaultTools(chainID, alertType string) (api.DefaultTools, error) {
	allowed, err := a.current().chains.AllowedTools(chainID, alertType, a.health.monitor.Tools())
	if err != nil {
		return api.DefaultTools{}, err
	}

	result := api.DefaultTools{AlertType: allowed.AlertType, ChainID: allowed.ChainID, NativeTools: allowed.NativeTools}

	for _, s := range allowed.Servers {
		result.Servers = append(result.Servers, api.ServerTools{Name: s.Name, Tools: append([]string{}, s.Tools...), Known: s.Known})
	}

	return result, nil
}

// providers returns the models that chains use, the default one first, then others. It shows addresses and variable names as the
// configuration shows them, since either could contain a misplaced secret.
func providers(cfg *config.Config, used, others []string, env func(string) (string, bool)) []api.Provider {
	shown := map[string]string{}
	for _, value := range cfg.Origins() {
		shown[value.Path] = value.Value
	}

	var all []api.Provider

	for _, name := range slices.Concat(used, others) {
		configured, path := cfg.LLMProviders[name], schema.Join("llm_providers", name)
		variable, key := configured.APIKeyEnv, "api_key_env"

		if variable == "" {
			variable, key = configured.CredentialsEnv, "credentials_env"
		}

		value, _ := env(variable)
		all = append(all, api.Provider{
			Name: name, Type: configured.Type, Model: configured.Model, BaseURL: shown[schema.Join(path, "base_url")],
			Default: name == cfg.Defaults.LLMProvider, KeyVariable: shown[schema.Join(path, key)], KeySet: value != "",
			InUse: slices.Contains(used, name),
		})
	}

	slices.SortStableFunc(all, func(x, y api.Provider) int {
		switch {
		case x.Default == y.Default:
			return 0
		case x.Default:
			return -1
		default:
			return 1
		}
	})

	return all
}

// ready returns the configured providers that no chain uses and whose variables are all set, sorted.
func ready(cfg *config.Config, used []string, env func(string) (string, bool)) []string {
	var names []string

	for _, name := range slices.Sorted(maps.Keys(cfg.LLMProviders)) {
		if !slices.Contains(used, name) && len(cfg.UnsetVariablesOf(name, env)) == 0 {
			names = append(names, name)
		}
	}

	return names
}

func shownSettings(cfg *config.Config) []api.Setting {
	var all []api.Setting
	for _, value := range cfg.Origins() {
		all = append(all, api.Setting(value))
	}

	return all
}
