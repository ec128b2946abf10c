package oidc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
)

// Attempt is the state of a login that must be kept between its start and its end. The verifier proves that the browser that
// finishes the login also started it.
type Attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Answer contains the parameters with which the issuer redirects the browser back.
type Answer struct {
	State, Code string
	// Issuer is empty if the issuer does not send its name.
	Issuer string
	// Error is the issuer's error code, such as access_denied.
	Error string
}

// accessDenied is the error code if the user or the issuer denies the login.
const accessDenied = "access_denied"

// Begin returns a new attempt and the URL to redirect the browser to.
func (p *Provider) Begin(ctx context.Context, redirectURL string) (Attempt, string, error) {
	if p.cfg.SecretMissing {
		return Attempt{}, "", unavailable("begin a login", errSecret)
	}

	found, err := p.discover(ctx)
	if err != nil {
		return Attempt{}, "", err
	}

	attempt := Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	client := found.oauth
	client.RedirectURL = redirectURL

	return attempt, client.AuthCodeURL(attempt.State, gooidc.Nonce(attempt.Nonce), oauth2.S256ChallengeOption(attempt.Verifier)), nil
}

// Finish exchanges the issuer's answer for the user. Its errors have the codes login_denied, login_failed and oidc_unavailable;
// their causes are for the log and contain no secrets.
func (p *Provider) Finish(ctx context.Context, attempt Attempt, answer Answer, redirectURL string) (User, error) {
	if !auth.SameToken(answer.State, attempt.State) {
		return User{}, failed("compare the state", errState)
	}

	switch {
	case answer.Error == accessDenied:
		return User{}, tarsy.Errorf(tarsy.CodeLoginDenied, "The login was denied. Ask your administrator for access.")
	case answer.Error != "":
		return User{}, failed("log in at the issuer", fmt.Errorf("%w: %s", errIssuer, short(answer.Error)))
	case answer.Code == "":
		return User{}, failed("log in at the issuer", errNoCode)
	}

	found, err := p.discover(ctx)
	if err != nil {
		return User{}, err
	}

	// Reject the answer of a different issuer (RFC 9207).
	if answer.Issuer != p.cfg.Issuer && (answer.Issuer != "" || found.repeatsIssuer) {
		return User{}, failed("compare the issuer", errOtherIssuer)
	}

	ctx, cancel := context.WithTimeout(gooidc.ClientContext(ctx, p.client), 2*requestTimeout)
	defer cancel()

	token, err := p.exchange(ctx, found, attempt, answer.Code, redirectURL)
	if err != nil {
		return User{}, err
	}

	subject, claims, err := p.verify(ctx, found, attempt, token)
	if err != nil {
		return User{}, err
	}

	err = p.complete(ctx, found, token, subject, claims)
	if err != nil {
		return User{}, err
	}

	return p.user(subject, claims)
}

// exchange exchanges the code for tokens.
func (p *Provider) exchange(ctx context.Context, found *discovered, attempt Attempt, code, redirectURL string) (*oauth2.Token, error) {
	client := found.oauth
	client.RedirectURL = redirectURL

	token, err := client.Exchange(ctx, code, oauth2.VerifierOption(attempt.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		// The body may contain what was sent.
		err = fmt.Errorf("%w: status %d, error %q", errIssuer, refused.Response.StatusCode, short(refused.ErrorCode))
		if refused.Response.StatusCode >= http.StatusInternalServerError {
			return nil, unavailable("exchange the code", err)
		}

		return nil, failed("exchange the code", err)
	}

	if unreachable, ok := errors.AsType[*url.Error](err); ok {
		return nil, unavailable("exchange the code", unreachable)
	}

	if err != nil {
		return nil, failed("exchange the code", errNoToken)
	}

	return token, nil
}

// verify validates the ID token, that is its signature, issuer, audience, expiry and nonce, and returns its subject and all
// claims.
func (p *Provider) verify(ctx context.Context, found *discovered, attempt Attempt, tokens *oauth2.Token) (string, map[string]any, error) {
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return "", nil, failed("exchange the code", errNoToken)
	}

	token, err := found.provider.Verifier(&gooidc.Config{ClientID: p.cfg.ClientID, Now: p.cfg.Clock.Now}).Verify(ctx, raw)
	// go-oidc does not wrap the error of the request.
	if err != nil && strings.Contains(err.Error(), "fetching keys") {
		return "", nil, unavailable("verify the ID token", fmt.Errorf("%w: %s", errKeys, short(err.Error())))
	}

	if err != nil {
		return "", nil, failed("verify the ID token", fmt.Errorf("%w: %s", errToken, short(err.Error())))
	}

	if !auth.SameToken(token.Nonce, attempt.Nonce) {
		return "", nil, failed("verify the ID token", errNonce)
	}

	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return "", nil, failed("read the claims", err)
	}

	// A token for several audiences names the client that requested it.
	party, named := claims["azp"]
	if named && party != p.cfg.ClientID || !named && slices.ContainsFunc(token.Audience, func(a string) bool { return a != p.cfg.ClientID }) {
		return "", nil, failed("verify the ID token", errParty)
	}

	return token.Subject, claims, nil
}

// complete adds claims that are missing in the ID token from the userinfo endpoint, as the standard provides. The endpoint is
// queried only if a claim that matters is missing. If the query fails, so does the login: otherwise the user might get a
// different role.
func (p *Provider) complete(ctx context.Context, found *discovered, token *oauth2.Token, subject string, claims map[string]any) error {
	wanted := slices.DeleteFunc([]string{p.cfg.GroupsClaim, p.cfg.TeamsClaim, p.cfg.NameClaim}, func(name string) bool {
		return name == "" || find(claims, name) != nil
	})
	if len(wanted) == 0 || found.provider.UserInfoEndpoint() == "" {
		return nil
	}

	info, err := found.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return unavailable("read the claims of the user", fmt.Errorf("%w: %s", errUserInfo, short(err.Error())))
	}

	// The response could be about a different user: the access token is not bound to the ID token.
	if info.Subject != subject {
		return failed("read the claims of the user", errOtherUser)
	}

	var more map[string]any
	if err := info.Claims(&more); err != nil {
		return failed("read the claims of the user", err)
	}

	for name, value := range more {
		if _, known := claims[name]; !known {
			claims[name] = value
		}
	}

	return nil
}

var (
	errState       = errors.New("the state is not that of this browser's login")
	errIssuer      = errors.New("the issuer refused")
	errNoCode      = errors.New("the issuer sent no code")
	errNoToken     = errors.New("the issuer sent no ID token")
	errOtherIssuer = errors.New("another issuer answered")
	errKeys        = errors.New("the issuer's keys cannot be read")
	errToken       = errors.New("the ID token is not valid")
	errNonce       = errors.New("the nonce is not that of this login")
	errParty       = errors.New("the ID token was issued to another client")
	errUserInfo    = errors.New("the userinfo endpoint cannot be read")
	errOtherUser   = errors.New("the userinfo endpoint describes another user")
	errSubject     = errors.New("the subject is missing, too long or not text")
)

// failed returns the error of a login that cannot succeed by waiting.
func failed(doing string, err error) error {
	return &tarsy.Error{
		Code: tarsy.CodeLoginFailed, Message: "The login could not be verified. Try again; if it fails again, ask your administrator to look at the server's log.",
		Err: fmt.Errorf("%s: %w", doing, err),
	}
}
