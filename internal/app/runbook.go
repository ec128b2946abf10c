package app

import (
	"context"
	"net"
	"net/netip"

	"tarsy.dev/tarsy/internal/runbook"
)

// Web is a way to hosts outside: names are looked up and connections made by these two.
type Web struct {
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// runbooks makes the fetcher of runbooks that alerts name by their address.
func (a *App) runbooks() *runbook.Fetcher {
	cfg := a.options.Config.System
	fetch := runbook.Config{
		AllowedDomains: cfg.Runbooks.AllowedDomains, CacheTTL: cfg.Runbooks.CacheTTL, Clock: a.clock, Logger: a.logger,
	}

	if cfg.Runbooks.CacheTTL == 0 {
		fetch.CacheTTL = -1
	}

	fetch.GitHubToken, _ = a.options.Env(cfg.GitHub.TokenEnv)

	if a.options.Web != nil {
		fetch.Resolve, fetch.Dial = a.options.Web.Resolve, a.options.Web.Dial
	}

	return runbook.New(fetch)
}
