package app

import (
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/oidc"
)

// oidcLogin returns the login with OpenID Connect; nil if none is configured. The issuer is contacted at the first login.
func (a *App) oidcLogin(cfg *config.Config) *api.OIDC {
	o := cfg.System.Auth.OIDC
	if !o.Enabled() {
		return nil
	}

	secret, _ := a.options.Env(o.ClientSecretEnv)

	return &api.OIDC{
		Provider: oidc.New(oidc.Config{
			Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: secret, SecretMissing: o.ClientSecretEnv != "" && secret == "",
			Scopes: o.RequestedScopes(), GroupsClaim: o.GroupsClaim, TeamsClaim: o.TeamsClaim, NameClaim: o.NameClaim, Clock: a.clock,
		}),
		RedirectURL: cfg.System.Redirect(), Lifetime: o.SessionLifetime, Label: o.Label,
	}
}
