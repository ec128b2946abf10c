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
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/problem"
)

const (
	oidcPath         = loginPath + "/oidc"
	oidcCallbackPath = oidcPath + "/callback"
	// unknownLogins is what refused logins of nobody in particular are counted by: anybody could fill the audit log with them.
	unknownLogins = "oidc"
)

// OIDC is the login with OpenID Connect.
type OIDC struct {
	Provider *oidc.Provider
	// RedirectURL is where the issuer returns to; nil means this server, under the name that the browser used.
	RedirectURL *url.URL
	// Lifetime is how long a login lasts.
	Lifetime time.Duration
	// Label is the text of the button.
	Label string
}

// oidcLogin is what the login page needs to offer the login.
type oidcLogin struct {
	Label string `doc:"Text of the button." json:"label"`
	URL   string `doc:"Where the login begins; return_to is added." json:"url"`
}

// oidcLogin is the login that is offered; nil if there is none, or where nobody needs one.
func (s *Server) oidcLogin() *oidcLogin {
	if s.oidc == nil || !s.guard.required {
		return nil
	}

	return &oidcLogin{Label: s.oidc.Label, URL: oidcPath}
}

// visit is what is known of a browser's navigation besides the parameters.
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

// wantsProblem reports whether a program asks. Browsers get the login page, which explains what went wrong.
func (v *visit) wantsProblem() bool {
	return strings.Contains(v.accept, "json") && !strings.Contains(v.accept, "text/html")
}

type oidcBeginInput struct {
	ReturnTo string `doc:"Path of the dashboard to return to after the login." query:"return_to"`

	visit visit
}

// Resolve implements huma.Resolver.
func (in *oidcBeginInput) Resolve(ctx huma.Context) []error { in.visit.read(ctx); return nil } //nolint:nlreturn // one thought

type oidcCallbackInput struct {
	State  string `doc:"The state that the login began with."           query:"state"`
	Code   string `doc:"What the issuer exchanges for the ID token."    query:"code"`
	Issuer string `doc:"The issuer, if it repeats its name (RFC 9207)." query:"iss"`
	Error  string `doc:"The issuer's code of an error."                 query:"error"`

	visit visit
}

// Resolve implements huma.Resolver.
func (in *oidcCallbackInput) Resolve(ctx huma.Context) []error { in.visit.read(ctx); return nil } //nolint:nlreturn // one thought

type redirectOutput struct {
	Location  string   `header:"Location"`
	SetCookie []string `header:"Set-Cookie"`
}

func (s *Server) beginOIDC(ctx context.Context, in *oidcBeginInput) (*redirectOutput, error) {
	who := callerOf(ctx)

	if s.oidc == nil {
		return nil, noOIDC()
	}

	returnTo, err := localPath(in.ReturnTo)
	if err != nil {
		return nil, err
	}

	err = s.attempts.fromNetwork(ctx, who.remote.network, s.clock.Now())
	if err != nil {
		return s.refuseLogin(ctx, who, &in.visit, returnTo, err)
	}

	redirect, err := s.redirectURL(who, in.visit.host)
	if err != nil {
		return s.refuseLogin(ctx, who, &in.visit, returnTo, err)
	}

	begun, target, err := s.oidc.Provider.Begin(ctx, redirect.String())
	if err != nil {
		return s.refuseLogin(ctx, who, &in.visit, returnTo, err)
	}

	started := attempt{Attempt: begun, ReturnTo: returnTo, At: s.clock.Now()}
	if who.cookie != "" {
		started.Replaces = auth.Hash(who.cookie)
	}

	cookie := started.cookie(who.secure || redirect.Scheme == "https")

	return &redirectOutput{Location: target, SetCookie: []string{cookie.String()}}, nil
}

// finishOIDC logs the user in whom the issuer sent back. It is a GET that changes something, so it records its own row in the audit log: the
// attempt of this browser takes the place of the CSRF token.
func (s *Server) finishOIDC(ctx context.Context, in *oidcCallbackInput) (*redirectOutput, error) {
	who := callerOf(ctx)
	who.audit.recorded = true // with the session, or by refuseLogin

	if s.oidc == nil {
		return nil, noOIDC()
	}

	var session string

	begun, opened, err := s.authenticate(ctx, who, in)
	if err == nil {
		who.audit.actor = opened
		err = s.admit(ctx, opened)
	}

	if err == nil {
		session, err = s.openUser(ctx, who, opened, begun.Replaces)
	}

	if err != nil {
		return s.refuseLogin(ctx, who, &in.visit, begun.ReturnTo, err)
	}

	s.logger.InfoContext(ctx, "browser logged in", opened.logged()...)

	return &redirectOutput{Location: begun.ReturnTo, SetCookie: []string{session, forgottenAttempt()}}, nil
}

// authenticate checks that this browser began the login, and who the issuer says logged in.
func (s *Server) authenticate(ctx context.Context, who *caller, in *oidcCallbackInput) (attempt, *caller, error) {
	err := s.attempts.fromNetwork(ctx, oidcCallbackPath+who.remote.network, s.clock.Now())
	if err != nil {
		return attempt{}, nil, err
	}

	begun, err := readAttempt(in.visit.attempt, s.clock.Now())
	if err != nil {
		return begun, nil, err
	}

	redirect, err := s.redirectURL(who, in.visit.host)
	if err != nil {
		return begun, nil, err
	}

	user, err := s.oidc.Provider.Finish(ctx, begun.Attempt,
		oidc.Answer{State: in.State, Code: in.Code, Issuer: in.Issuer, Error: in.Error}, redirect.String())
	if err != nil {
		return begun, nil, err
	}

	who.secure = who.secure || redirect.Scheme == "https"

	opened := &caller{remote: who.remote, author: user.Name, browser: &postgres.BrowserSession{User: &postgres.BrowserUser{
		Issuer: user.Issuer, Subject: user.Subject, Name: user.Name, Groups: user.Groups, Teams: user.Teams,
	}}}
	s.guard.recognizeBrowser(opened)

	return begun, opened, nil
}

// admit checks that a user whom the issuer identified may log in.
func (s *Server) admit(ctx context.Context, user *caller) error {
	if s.guard.role(user) == "" {
		return tarsy.Errorf(tarsy.CodeNoRole, "The user %q has no role here. An admin can add one of their groups to system.auth.roles.", user.author)
	}

	return s.attempts.ofUser(ctx, user, s.clock.Now())
}

// openUser begins the browser session of a user and returns its cookie. The one that the browser had is over, also if its cookie came only with
// the request that began the login.
func (s *Server) openUser(ctx context.Context, who, opened *caller, replaced []byte) (string, error) {
	issued, now := auth.NewBrowserSecret(), s.clock.Now()

	over := who.replaced()
	if len(replaced) > 0 {
		over = append(over, replaced)
	}

	err := s.store.CreateUserSession(ctx, issued.Hash, *opened.user(), issued.CSRFToken, now, now.Add(s.oidc.Lifetime), s.sessionsPerKey, over...)
	if err != nil {
		return "", fmt.Errorf("log in: %w", err)
	}

	set := cookie(who, issued.Secret, int(s.oidc.Lifetime.Seconds()))

	return set.String(), nil
}

// redirectURL is where the issuer returns to. Without a configured address it is derived from the name that the browser used, if no stranger can
// have chosen that.
func (s *Server) redirectURL(who *caller, host string) (*url.URL, error) {
	if s.oidc.RedirectURL != nil {
		return s.oidc.RedirectURL, nil
	}

	if !s.guard.public.isOwnHost(host) {
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

// refuseLogin logs and records a login that failed, and leads the browser back to the login page.
func (s *Server) refuseLogin(ctx context.Context, who *caller, from *visit, returnTo string, err error) (*redirectOutput, error) {
	code := tarsy.CodeOf(err)
	if limited, ok := errors.AsType[*problem.Problem](err); ok {
		code = limited.Code
	}

	logged := who
	if who.audit.actor != nil {
		logged = who.audit.actor
	}

	// What users are told is no reason.
	cause := err
	if told, ok := errors.AsType[*tarsy.Error](err); ok && told.Err != nil {
		cause = told.Err
	}

	reason := s.mask(cause.Error())

	if !slices.Contains(loginCodes(), code) {
		s.logger.ErrorContext(ctx, "could not log a browser in", append(logged.logged(), "error", reason)...)

		code = tarsy.CodeLoginFailed
	} else if code != tarsy.CodeTooManyRequests { // which has its own notice
		s.refusals.log(ctx, logged, s.clock.Now(), "login failed", append(logged.logged(), "code", code, "reason", reason))
	}

	if who.audit.action.name != "" && code != tarsy.CodeTooManyRequests {
		s.recordRefusedLogin(ctx, who, code)
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

// recordRefusedLogin adds a row to the audit log. Of one user, and of all callers that are nobody in particular, there are so many per minute.
func (s *Server) recordRefusedLogin(ctx context.Context, who *caller, code tarsy.Code) {
	name := unknownLogins
	if who.audit.actor != nil {
		name = who.audit.actor.denialName()
	}

	if _, ok := s.denials.Allow(name, s.clock.Now()); ok {
		s.record(ctx, s.auditEntry(ctx, who, string(code), "", nil))
	}
}
