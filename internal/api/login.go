package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/auth"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
)

const (
	cookieName = "tarsy_session"
	csrfHeader = "X-CSRF-Token"
	loginPath  = "/api/v1/login"
)

// loginRequest is the body that logs a browser in.
type loginRequest struct {
	Key string `doc:"An API key." json:"key"`
}

type loginOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      me
}

type logoutOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

type meOutput struct{ Body me }

// me describes the caller, as the server sees it.
type me struct {
	AuthRequired  bool             `doc:"Whether the server requires an API key."                            json:"auth_required"`
	Authenticated bool             `doc:"Whether the caller may use the API."                                json:"authenticated"`
	Name          string           `doc:"The name of the caller, and the author of what it does."            json:"name"`
	ID            string           `doc:"The identity that author_id and assignee_id are compared with; empty for callers without one, who are identified by name only." json:"id"`
	Role          tarsy.AccessRole `doc:"The caller's role; empty without a login." json:"role"`
	Scopes        []tarsy.Scope    `doc:"The role as scopes; admin includes write and read."         json:"scopes"`
	Visibility    visibility       `doc:"Which sessions the caller sees." json:"visibility"`
	CSRFToken     string           `doc:"The token that a browser session sends as X-CSRF-Token; empty without a browser session." json:"csrf_token"`
	OIDC          *oidcLogin       `doc:"The login with OpenID Connect, for callers that are not logged in; absent if there is none." json:"oidc,omitempty"`
}

// visibility describes which sessions a caller can see.
type visibility struct {
	Limited bool     `doc:"Whether the caller sees only sessions of its teams and sessions without a team." json:"limited"`
	Teams   []string `doc:"The caller's teams, if it is limited."                                        json:"teams"`
}

// me describes the caller to itself. Where no key is required every caller has all roles, whatever the scopes of its key.
func (a *account) me(who *caller) me {
	answer := me{AuthRequired: a.guard.required, Role: a.guard.role(who), Scopes: []tarsy.Scope{}, Visibility: visibility{Teams: []string{}}}

	answer.Authenticated = answer.Role != ""
	if !answer.Authenticated {
		answer.OIDC = a.oidcLogin()

		return answer
	}

	answer.Name, answer.ID = who.author, who.person().ID
	answer.Scopes = slices.DeleteFunc(auth.Scopes(), func(scope tarsy.Scope) bool {
		return !answer.Role.Includes(scope.Role())
	})

	seen := a.guard.visibility(who)
	answer.Visibility.Limited, answer.Visibility.Teams = seen.Limited, append(answer.Visibility.Teams, seen.Teams...)

	if who.browser != nil {
		answer.CSRFToken = who.browser.CSRFToken
	}

	return answer
}

func (a *account) login(ctx context.Context, _ *struct{}) (*loginOutput, error) {
	who := callerOf(ctx)

	err := a.attempts.fromNetwork(ctx, who.remote.network, a.clock.Now())
	if err != nil {
		return nil, err
	}

	request, err := readRequest[loginRequest](who.body)
	if err != nil {
		return nil, err
	}

	if request.Key == "" {
		return nil, tarsy.FieldErrorf(tarsy.CodeMissingField, "key", "key is missing: log in with an API key")
	}

	key, inactive, err := a.guard.keyOf(ctx, request.Key)
	if err != nil {
		return nil, a.guard.unchecked(ctx, err)
	}

	if key == nil {
		who.key, who.inactive = nil, inactive

		return nil, unknownKey()
	}

	err = a.attempts.withKey(ctx, key, a.clock.Now())
	if err != nil {
		return nil, err
	}

	return a.open(ctx, who, key)
}

// open creates a browser session. The browser's previous session ends: its previous user may know its secret.
func (a *account) open(ctx context.Context, who *caller, key *tarsy.APIKey) (*loginOutput, error) {
	issued, now := auth.NewBrowserSecret(), a.clock.Now()

	opened := &caller{remote: who.remote, cookie: issued.Secret, key: key, author: who.authorBy(key), named: who.named, browser: &accountstore.BrowserSession{Key: key, CSRFToken: issued.CSRFToken}}
	who.audit.actor = opened

	err := a.store.CreateBrowserSession(ctx, issued.Hash, key.ID, issued.CSRFToken, now, now.Add(auth.BrowserSessionLife), a.sessionsPerKey, who.replaced()...)
	if err != nil {
		who.audit.actor = nil

		return nil, fmt.Errorf("log in: %w", err)
	}

	a.guard.noteUse(ctx, key)
	a.logger.InfoContext(ctx, "browser logged in", opened.logged()...)

	return &loginOutput{SetCookie: cookie(who, issued.Secret, int(auth.BrowserSessionLife.Seconds())), Body: a.me(opened)}, nil
}

func (a *account) logout(ctx context.Context, _ *struct{}) (*logoutOutput, error) {
	who := callerOf(ctx)

	err := who.checkToken()
	if err != nil {
		return nil, err
	}

	for _, hash := range who.replaced() {
		err = a.store.DeleteBrowserSession(ctx, hash)
		if err != nil {
			return nil, fmt.Errorf("log out: %w", err)
		}
	}

	if who.browser != nil {
		a.logger.InfoContext(ctx, "browser logged out", who.logged()...)
	} else {
		audit.Unchanged(ctx)
	}

	return &logoutOutput{SetCookie: cookie(who, "", -1)}, nil
}

// replaced returns the hash of the session in the request's cookie, if there is one: a login ends it.
func (c *caller) replaced() [][]byte {
	if c.cookie == "" {
		return nil
	}

	return [][]byte{auth.Hash(c.cookie)}
}

// cookie returns the cookie of a browser session; a negative age makes the browser delete it.
func cookie(who *caller, secret string, seconds int) http.Cookie {
	return http.Cookie{ //nolint:gosec // over plain HTTP a browser would not send a Secure cookie back
		Name: cookieName, Value: secret, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: who.secure, SameSite: http.SameSiteStrictMode,
	}
}

func (a *account) getMe(ctx context.Context, _ *struct{}) (*meOutput, error) {
	return &meOutput{Body: a.me(callerOf(ctx))}, nil
}
