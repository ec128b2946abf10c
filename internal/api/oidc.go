package api

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/oidc"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/problem"
)

const (
	oidcPath         = loginPath + "/oidc"
	oidcCallbackPath = oidcPath + "/callback"
	// unknownLogins is the name under which refused logins of unidentified callers are counted: anyone could fill the audit log with
	// them.
	unknownLogins = "oidc"
)

// OIDC configures the login with OpenID Connect.
type OIDC struct {
	Provider *oidc.Provider
	// RedirectURL is where the issuer returns to; nil means this server, under the host that the browser used.
	RedirectURL *url.URL
	// Lifetime is how long a login lasts.
	Lifetime time.Duration
	// Label is the text of the button.
	Label string
}

// oidcLogin is what the login page needs to offer the login.
type oidcLogin struct {
	Label string `doc:"Text of the button." json:"label"`
	URL   string `doc:"Path that starts the login; return_to is added." json:"url"`
}

// oidcLogin returns the login to offer; nil if there is none, or where no login is required.
func (a *account) oidcLogin() *oidcLogin {
	if a.oidc == nil || !a.guard.required {
		return nil
	}

	return &oidcLogin{Label: a.oidc.Label, URL: oidcPath}
}

// visit holds the parts of a browser's navigation other than the parameters.
type visit struct {
	host    string
	accept  string
	attempt string
}

func (v *visit) read(ctx huma.Context) {
	v.host, v.accept = ctx.Host(), ctx.Header("Accept")

	if cookie, err := huma.ReadCookie(ctx, attemptCookie); err == nil {
		v.attempt = cookie.Value
	}
}

// wantsProblem reports whether the client is a program. Browsers get the login page, which explains the error.
func (v *visit) wantsProblem() bool {
	return strings.Contains(v.accept, "json") && !strings.Contains(v.accept, "text/html")
}

type oidcBeginInput struct {
	ReturnTo string `doc:"Path of the dashboard to return to after the login." query:"return_to"`

	visit visit
}

// Resolve implements huma.Resolver.
func (in *oidcBeginInput) Resolve(ctx huma.Context) []error { in.visit.read(ctx); return nil }

type oidcCallbackInput struct {
	State  string `doc:"The state that the login started with."         query:"state"`
	Code   string `doc:"The authorization code, which the issuer exchanges for the ID token." query:"code"`
	Issuer string `doc:"The issuer, if it identifies itself (RFC 9207)." query:"iss"`
	Error  string `doc:"The issuer's error code."                       query:"error"`

	visit visit
}

// Resolve implements huma.Resolver.
func (in *oidcCallbackInput) Resolve(ctx huma.Context) []error { in.visit.read(ctx); return nil }

type redirectOutput struct {
	Location  string   `header:"Location"`
	SetCookie []string `header:"Set-Cookie"`
}

func (a *account) beginOIDC(ctx context.Context, in *oidcBeginInput) (*redirectOutput, error) {
	who := callerOf(ctx)

	if a.oidc == nil {
		return nil, noOIDC()
	}

	returnTo, err := localPath(in.ReturnTo)
	if err != nil {
		return nil, err
	}

	err = a.attempts.fromNetwork(ctx, who.remote.network, a.clock.Now())
	if err != nil {
		return a.refuseLogin(ctx, who, &in.visit, returnTo, err)
	}

	redirect, err := a.redirectURL(who, in.visit.host)
	if err != nil {
		return a.refuseLogin(ctx, who, &in.visit, returnTo, err)
	}

	begun, target, err := a.oidc.Provider.Begin(ctx, redirect.String())
	if err != nil {
		return a.refuseLogin(ctx, who, &in.visit, returnTo, err)
	}

	started := attempt{Attempt: begun, ReturnTo: returnTo, At: a.clock.Now()}
	if who.cookie != "" {
		started.Replaces = auth.Hash(who.cookie)
	}

	cookie := started.cookie(who.secure || redirect.Scheme == "https")

	return &redirectOutput{Location: target, SetCookie: []string{cookie.String()}}, nil
}

// finishOIDC logs in the user that the issuer sent back. It is a GET that changes state, so it writes its own row to the audit log; the
// browser's attempt replaces the CSRF token.
func (a *account) finishOIDC(ctx context.Context, in *oidcCallbackInput) (*redirectOutput, error) {
	who := callerOf(ctx)
	who.audit.recorded = true // with the session, or by refuseLogin

	if a.oidc == nil {
		return nil, noOIDC()
	}

	var session string

	begun, opened, err := a.authenticate(ctx, who, in)
	if err == nil {
		who.audit.actor = opened
		err = a.admit(ctx, opened)
	}

	if err == nil {
		session, err = a.openUser(ctx, who, opened, begun.Replaces)
	}

	if err != nil {
		return a.refuseLogin(ctx, who, &in.visit, begun.ReturnTo, err)
	}

	a.logger.InfoContext(ctx, "browser logged in", opened.logged()...)

	return &redirectOutput{Location: begun.ReturnTo, SetCookie: []string{session, forgottenAttempt()}}, nil
}

// authenticate checks that this browser began the login, and determines the user that the issuer identified.
func (a *account) authenticate(ctx context.Context, who *caller, in *oidcCallbackInput) (attempt, *caller, error) {
	err := a.attempts.fromNetwork(ctx, oidcCallbackPath+who.remote.network, a.clock.Now())
	if err != nil {
		return attempt{}, nil, err
	}

	begun, err := readAttempt(in.visit.attempt, a.clock.Now())
	if err != nil {
		return begun, nil, err
	}

	redirect, err := a.redirectURL(who, in.visit.host)
	if err != nil {
		return begun, nil, err
	}

	user, err := a.oidc.Provider.Finish(ctx, begun.Attempt,
		oidc.Answer{State: in.State, Code: in.Code, Issuer: in.Issuer, Error: in.Error}, redirect.String())
	if err != nil {
		return begun, nil, err
	}

	who.secure = who.secure || redirect.Scheme == "https"

	opened := &caller{remote: who.remote, author: user.Name, browser: &accountstore.BrowserSession{User: &accountstore.BrowserUser{
		Issuer: user.Issuer, Subject: user.Subject, Name: user.Name, Groups: user.Groups, Teams: user.Teams,
	}}}
	a.guard.recognizeBrowser(opened)

	return begun, opened, nil
}

// admit checks that a user identified by the issuer can log in.
func (a *account) admit(ctx context.Context, user *caller) error {
	if a.guard.role(user) == "" {
		return tarsy.Errorf(tarsy.CodeNoRole, "The user %q has no role here. An admin can add one of their groups to system.auth.roles.", user.author)
	}

	return a.attempts.ofUser(ctx, user, a.clock.Now())
}

// openUser creates a user's browser session and returns its cookie. The browser's previous session ends, even if its cookie was only
// sent with the request that began the login.
func (a *account) openUser(ctx context.Context, who, opened *caller, replaced []byte) (string, error) {
	issued, now := auth.NewBrowserSecret(), a.clock.Now()

	over := who.replaced()
	if len(replaced) > 0 {
		over = append(over, replaced)
	}

	err := a.store.CreateUserSession(ctx, issued.Hash, *opened.user(), issued.CSRFToken, now, now.Add(a.oidc.Lifetime), a.sessionsPerKey, over...)
	if err != nil {
		return "", fmt.Errorf("log in: %w", err)
	}

	set := cookie(who, issued.Secret, int(a.oidc.Lifetime.Seconds()))

	return set.String(), nil
}

// redirectURL returns where the issuer returns to. If it is not configured, it is derived from the host that the browser used, provided
// that an attacker cannot have chosen it.
func (a *account) redirectURL(who *caller, host string) (*url.URL, error) {
	if a.oidc.RedirectURL != nil {
		return a.oidc.RedirectURL, nil
	}

	if !a.guard.public.isOwnHost(host) {
		return nil, &tarsy.Error{
			Code: tarsy.CodeLoginFailed, Message: "Logins need an address to return to. Ask your administrator to set system.dashboard_url.",
			Err: fmt.Errorf("%w: the browser used the host %q", errNoRedirect, shown(host)),
		}
	}

	scheme := "http"
	if who.secure {
		scheme = "https"
	}

	return &url.URL{Scheme: scheme, Host: host, Path: oidcCallbackPath}, nil
}

var errNoRedirect = errors.New("neither system.auth.oidc.redirect_url nor system.dashboard_url is set")

func noOIDC() error {
	return tarsy.Errorf(tarsy.CodeNotFound, "this server has no login with OpenID Connect: system.auth.oidc.issuer is not set")
}

// loginCodes are the codes that the login page explains.
func loginCodes() []tarsy.Code {
	return []tarsy.Code{
		tarsy.CodeLoginFailed, tarsy.CodeLoginExpired, tarsy.CodeLoginDenied, tarsy.CodeNoRole, tarsy.CodeOIDCUnavailable, tarsy.CodeTooManyRequests,
	}
}

// refuseLogin logs and records a failed login, and redirects the browser to the login page.
func (a *account) refuseLogin(ctx context.Context, who *caller, from *visit, returnTo string, err error) (*redirectOutput, error) {
	code := tarsy.CodeOf(err)
	if limited, ok := errors.AsType[*problem.Problem](err); ok {
		code = limited.Code
	}

	logged := who
	if who.audit.actor != nil {
		logged = who.audit.actor
	}

	// Log the cause, not the message for users.
	cause := err
	if userError, ok := errors.AsType[*tarsy.Error](err); ok && userError.Err != nil {
		cause = userError.Err
	}

	reason := a.audit.mask(cause.Error())

	if !slices.Contains(loginCodes(), code) {
		a.logger.ErrorContext(ctx, "could not log a browser in", append(logged.logged(), "error", reason)...)

		code = tarsy.CodeLoginFailed
	} else if code != tarsy.CodeTooManyRequests { // they have their own notice
		a.refusals.log(ctx, logged, a.clock.Now(), "login failed", append(logged.logged(), "code", code, "reason", reason))
	}

	if who.audit.action.name != "" && code != tarsy.CodeTooManyRequests {
		a.recordRefusedLogin(ctx, who, code)
	}

	if from.wantsProblem() {
		return nil, err
	}

	query := url.Values{"error": {string(code)}}
	if returnTo != "" && returnTo != "/" {
		query.Set("next", returnTo)
	}

	return &redirectOutput{Location: "/login?" + query.Encode(), SetCookie: []string{forgottenAttempt()}}, nil
}

// recordRefusedLogin appends a row to the audit log. Rows are limited per minute, for each user and for all unidentified callers
// together.
func (a *account) recordRefusedLogin(ctx context.Context, who *caller, code tarsy.Code) {
	name := unknownLogins
	if who.audit.actor != nil {
		name = who.audit.actor.denialName()
	}

	if _, ok := a.audit.denials.Allow(name, a.clock.Now()); ok {
		a.audit.record(ctx, a.audit.entry(ctx, who, string(code), "", nil))
	}
}
