package api

import (
	"log/slog"
	"net/http"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
)

// account handles logins and manages keys.
type account struct {
	store          *accountstore.Store
	guard          *guard
	audit          *auditor
	attempts       *attempts
	refusals       *refusals
	oidc           *OIDC
	sessionsPerKey int
	clock          clockwork.Clock
	logger         *slog.Logger
}

// operations returns the operations of keys and logins.
func (a *account) operations() []operation {
	return []operation{
		{
			method: http.MethodGet, path: "/api/v1/me", id: "get-me",
			summary: "Show the caller and its permissions",
			handler: run(a.getMe),
		},
		{
			method: http.MethodPost, path: "/api/v1/login", id: "login",
			audit:       auditAction{name: "browser.login", target: "key"},
			errors:      []tarsy.Code{tarsy.CodeUnauthenticated},
			summary:     "Log a browser in with an API key",
			description: "The response sets a cookie that is valid until the key is revoked or expires, at most a week.",
			status:      http.StatusOK, body: required[loginRequest](), handler: run(a.login),
		},
		{
			method: http.MethodPost, path: "/api/v1/logout", id: "logout",
			audit:   auditAction{name: "browser.logout", target: "key"},
			summary: "Log a browser out",
			status:  http.StatusNoContent, handler: run(a.logout),
		},
		{
			method: http.MethodGet, path: "/api/v1/login/oidc", id: "begin-oidc-login",
			errors:  []tarsy.Code{tarsy.CodeNotFound, tarsy.CodeLoginFailed, tarsy.CodeOIDCUnavailable},
			summary: "Start a login with OpenID Connect",
			description: "For browsers: redirects to the issuer. A login that cannot start redirects to the login page with the error code; " +
				"a client that accepts only JSON gets a problem.",
			status: http.StatusSeeOther, handler: run(a.beginOIDC),
		},
		{
			method: http.MethodGet, path: "/api/v1/login/oidc/callback", id: "finish-oidc-login",
			audit:   auditAction{name: "user.login", target: userTarget},
			errors:  []tarsy.Code{tarsy.CodeNotFound, tarsy.CodeLoginFailed, tarsy.CodeLoginExpired, tarsy.CodeLoginDenied, tarsy.CodeNoRole, tarsy.CodeOIDCUnavailable},
			summary: "Finish a login with OpenID Connect",
			description: "The issuer redirects here. Sets the cookie of a browser session and redirects to return_to; a refused login redirects to the " +
				"login page with the error code. Unknown parameters are ignored.",
			status: http.StatusSeeOther, foreign: true, handler: run(a.finishOIDC),
		},
		{
			method: http.MethodPost, path: "/api/v1/keys", id: "create-key", scope: tarsy.ScopeAdmin,
			audit:   auditAction{name: "key.create", target: "key"},
			summary: "Create an API key",
			status:  http.StatusCreated, body: required[keyRequest](), handler: run(a.createKey),
		},
		{
			method: http.MethodGet, path: "/api/v1/keys", id: "list-keys", scope: tarsy.ScopeAdmin,
			summary: "List the API keys, oldest first",
			handler: run(a.listKeys),
		},
		{
			method: http.MethodDelete, path: "/api/v1/keys/{id}", id: "revoke-key", scope: tarsy.ScopeAdmin,
			audit:   auditAction{name: "key.revoke", target: "key"},
			summary: "Revoke an API key immediately and permanently",
			handler: run(a.revokeKey),
		},
	}
}
