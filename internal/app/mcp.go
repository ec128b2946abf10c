package app

import (
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mcp"
)

func mcpServers(cfg *config.Config) map[string]mcp.ServerConfig {
	servers := make(map[string]mcp.ServerConfig, len(cfg.MCPServers))

	for id, s := range cfg.MCPServers {
		servers[id] = mcp.ServerConfig{
			Transport: mcp.Transport{
				Type: s.Transport.Type, Command: s.Transport.Command, Args: s.Transport.Args, Env: s.Transport.Environment(), InheritEnv: s.Transport.InheritEnv,
				URL: s.Transport.URL, BearerToken: s.Transport.BearerToken.Reveal(), VerifySSL: &s.Transport.VerifySSL,
				Headers: s.Transport.Headers(), CleanupURL: s.Transport.SessionCleanupURL, Timeout: s.Transport.Timeout,
			},
		}
	}

	return servers
}
