package cli

import (
	"context"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/oidc"
)

// checkOIDC reads the issuer's discovery document, if one is configured, as the server does at the first login.
func checkOIDC(ctx context.Context, t *tool, cfg *config.Config) []finding {
	const check = "OpenID Connect"

	o := cfg.System.Auth.OIDC
	if !o.Enabled() {
		return nil
	}

	var all []finding

	for _, unset := range cfg.UnsetOIDCVariables(t.lookup) {
		all = append(all, finding{check, findingWarn, unset.String(), "set it where the server runs"})
	}

	err := oidc.New(oidc.Config{Issuer: o.Issuer, ClientID: o.ClientID}).Discover(ctx)
	if err != nil {
		return append(all, finding{check, findingWarn, line(err), "check system.auth.oidc.issuer; users can log in with API keys in the meantime"})
	}

	redirect := "the address that a browser uses, with " + config.OIDCCallback
	if configured := cfg.System.Redirect(); configured != nil {
		redirect = configured.String()
	}

	return append(all, finding{check, findingOK, o.Issuer + " answers; it must know the redirect URL " + redirect, ""})
}
