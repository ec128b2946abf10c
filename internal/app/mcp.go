package app

import (
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mcp"
)

// NewMCPFactory creates the factory with which a server with these options opens tools, for checks without a server.
// Config and Env are required.
func NewMCPFactory(options Options) (*mcp.Factory, error) {
	masker, err := options.masker()
	if err != nil {
		return nil, err
	}

	return options.mcpFactory(masker.Result, nil), nil
}

// mcpFactory creates the factory with which this server opens tools.
func (a *App) mcpFactory(options Options) *mcp.Factory {
	return options.mcpFactory(func(server, text string) (string, error) { return a.current().masker.Result(server, text) }, a.abandoned)
}

func (o Options) mcpFactory(mask func(server, text string) (string, error), abandon <-chan struct{}) *mcp.Factory {
	return mcp.New(mcp.Config{
		Servers: mcpServers(o.Config), Transport: o.MCPTransport, Mask: mask, Clock: o.Clock, Logger: o.Logger, Abandon: abandon,
	})
}

func mcpServers(cfg *config.Config) map[string]mcp.ServerConfig {
	servers := make(map[string]mcp.ServerConfig, len(cfg.MCPServers))

	for id, s := range cfg.MCPServers {
		servers[id] = mcp.ServerConfig{
			Transport: mcp.Transport{
				Type: s.Transport.Type, Command: s.Transport.Command, Args: s.Transport.Args, User: s.Transport.User, Env: s.Transport.Environment(), InheritEnv: s.Transport.InheritEnv,
				URL: s.Transport.URL, BearerToken: s.Transport.BearerToken.Reveal(), VerifySSL: &s.Transport.VerifySSL,
				Headers: s.Transport.Headers(), CleanupURL: s.Transport.SessionCleanupURL, Timeout: s.Transport.Timeout,
			},
			Rule: chain.ServerRule(s),
		}
	}

	return servers
}
