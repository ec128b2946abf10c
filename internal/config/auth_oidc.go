package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// OIDC is system.auth.oidc.
type OIDC struct {
	Issuer          string        `yaml:"issuer" doc:"URL of the OpenID Connect issuer, exactly as in its discovery document; https, or http on a loopback address. It enables the login." format:"url"`
	ClientID        string        `yaml:"client_id" doc:"ID of the client that is registered with the issuer."`
	ClientSecretEnv string        `yaml:"client_secret_env" doc:"Environment variable that holds the client secret. Empty means a public client, which uses only PKCE." format:"env" secret:"env"`
	Scopes          []string      `yaml:"scopes" doc:"Scopes to request; the default is openid, profile and email. openid is always added."`
	GroupsClaim     string        `yaml:"groups_claim" doc:"Claim of the ID token with the user's groups, a list of strings. Dots select fields of nested objects, such as realm_access.roles." default:"groups"`
	TeamsClaim      string        `yaml:"teams_claim" doc:"Claim with the user's teams, in the same form; empty means none."`
	NameClaim       string        `yaml:"name_claim" doc:"Claim with the user's name, which is recorded as the author of their actions. Without it: email if it is verified, else preferred_username, else sub."`
	SessionLifetime time.Duration `yaml:"session_lifetime" doc:"How long a login lasts." default:"12h" min:"5m" max:"168h"`
	Label           string        `yaml:"label" doc:"Text of the button on the login page." default:"Log in with SSO"`
	RedirectURL     string        `yaml:"redirect_url" doc:"Redirect URL, as registered with the issuer. The default is system.dashboard_url with /api/v1/login/oidc/callback; without either, it is derived from the request, on localhost and IP addresses only." format:"url"`
}

// OIDCCallback is the path that the issuer redirects to.
const OIDCCallback = "/api/v1/login/oidc/callback"

// Enabled reports whether people can log in through an issuer.
func (o OIDC) Enabled() bool { return o.Issuer != "" }

// RequestedScopes returns the scopes requested for a login.
func (o OIDC) RequestedScopes() []string {
	scopes := o.Scopes
	if len(scopes) == 0 {
		scopes = []string{"profile", "email"}
	}
	return append([]string{"openid"}, slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return s == "openid" })...)
}

// Redirect returns the URL that the issuer redirects to; nil if it must be derived from each request.
func (s System) Redirect() *url.URL {
	if configured := s.Auth.OIDC.RedirectURL; configured != "" {
		if parsed, err := url.Parse(configured); err == nil {
			return parsed
		}
	}
	if dashboard := s.Dashboard(); dashboard != nil {
		return dashboard.JoinPath(OIDCCallback)
	}
	return nil
}

// UnsetOIDCVariables finds the environment variables of system.auth.oidc that are not set.
func (c *Config) UnsetOIDCVariables(env func(string) (string, bool)) []Problem {
	name := c.System.Auth.OIDC.ClientSecretEnv
	if value, _ := env(name); name == "" || value != "" {
		return nil
	}
	return []Problem{c.problem("system.auth.oidc.client_secret_env", "environment variable "+name+" is not set", "nobody can log in with OpenID Connect")}
}

// checkOIDC finds settings with which no one could log in.
func (c *Config) checkOIDC() []Problem {
	const path = "system.auth.oidc"
	o := c.System.Auth.OIDC
	var problems []Problem
	add := func(key, message, hint string) {
		problems = append(problems, c.problem(joinPath(path, key), message, hint))
	}
	if !o.Enabled() {
		for key, value := range map[string]string{"client_id": o.ClientID, "client_secret_env": o.ClientSecretEnv, "redirect_url": o.RedirectURL} {
			if value != "" {
				add("issuer", "is required", "the URL of the OpenID Connect issuer; without it "+key+" has no effect")
				break
			}
		}
		return problems
	}
	if o.ClientID == "" {
		add("client_id", "is required", "the name under which TARSy is registered with the issuer")
	}
	if !isSafeURL(o.Issuer) {
		add("issuer", "must be an https URL without a query", "http is accepted for loopback addresses, such as http://127.0.0.1:9099/oidc")
	}
	if o.RedirectURL != "" && (!isSafeURL(o.RedirectURL) || !strings.HasSuffix(o.RedirectURL, OIDCCallback)) {
		add("redirect_url", "must be an https URL that ends with "+OIDCCallback, "http is accepted for loopback addresses")
	}
	if slices.ContainsFunc(o.Scopes, func(s string) bool { return s == "" || strings.ContainsAny(s, " \t\n\"\\") }) {
		add("scopes", "a scope has no blanks, quotes or backslashes", "list several as [openid, groups]")
	}
	return problems
}

// isSafeURL reports whether requests to a URL cannot be read in transit.
func isSafeURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	loopback := err == nil && address.IsLoopback() || strings.EqualFold(u.Hostname(), "localhost")
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}
