package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
)

// usesEvery is the minimum interval between two records of a key's use.
const usesEvery = time.Minute

// callerKey is the context key of a request's caller.
type callerKey struct{}

// caller is the sender of a request, and what they sent.
type caller struct {
	// key is the key that authenticates the request; nil if there is none.
	key    *tarsy.APIKey
	author string
	// authorBy returns the author if the request had another key.
	authorBy func(*tarsy.APIKey) string
	body     []byte
	// held is how the body is counted against the memory limits.
	held heldBody

	// browser is the session that supplied the key or the user; nil if the key itself was sent.
	browser *accountstore.BrowserSession
	// cookie is the cookie's secret, whether or not it is still valid, and token the CSRF token from the header.
	cookie, token string
	// remote is where the request came from.
	remote remote
	// inactive is the key that was sent, if it is revoked or expired.
	inactive *tarsy.APIKey
	// refused is the code of the error that refused the request.
	refused tarsy.Code
	// isSender means that a receiver's own token or signature authenticated the request: it can deliver to that receiver and do nothing
	// else.
	isSender bool
	// secure reports whether the browser's connection is encrypted.
	secure bool
	// role is the role of a user without a key; groups are what it and the teams are derived from. Both are empty for all other
	// callers.
	role   tarsy.AccessRole
	groups []string
	// claimedTeams are the teams that the issuer claims for an OpenID Connect user.
	claimedTeams []string
	// visible are the sessions that the caller can see.
	visible tarsy.Visibility
	// named reports that a trusted proxy named the author.
	named bool
	// audit is what the audit log records about the request.
	audit auditNotes
}

// known reports whether the caller is authenticated.
func (c *caller) known() bool { return c.hasLogin() || c.named }

func callerOf(ctx context.Context) *caller {
	who, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		panic("api: a handler that needs a caller runs on a route without one")
	}

	return who
}

// browserHash returns the hash under which the store keeps the caller's browser session.
func (c *caller) browserHash() []byte { return auth.Hash(c.cookie) }

// checkToken checks that a request authenticated by cookie was made by our own page. A browser sends the cookie with every request to
// this server, whichever page caused it; only our page can read the token.
func (c *caller) checkToken() error {
	if c.browser == nil || auth.SameToken(c.token, c.browser.CSRFToken) {
		return nil
	}

	return tarsy.FieldErrorf(tarsy.CodeCSRFFailed, csrfHeader,
		"a browser's session needs the header %s with the csrf_token of /api/v1/me", csrfHeader)
}

// guard authenticates callers. It looks the key up for each request, so that a revocation takes effect immediately.
type guard struct {
	store    *accountstore.Store
	required bool
	users    *Users
	teams    *Teams
	proxies  []netip.Prefix
	public   public
	clock    clockwork.Clock
	logger   *slog.Logger
}

// identify determines the caller. Without a key it fails where keys are required, unless the route is open. A caller that sends a key
// is its owner; any other caller may be a browser, and then the request must not be forged by another site's page. The caller, as far
// as it is known, is returned with an error too, for the log.
func (g *guard) identify(r *http.Request, open bool) (*caller, error) {
	from := g.remote(r)
	proto, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	who := &caller{
		remote:   from,
		token:    r.Header.Get(csrfHeader), //nolint:canonicalheader,nolintlint // the name as it is documented; the linter does not always see the constant
		secure:   r.TLS != nil || g.public.isSecure(r) || from.proxied && strings.EqualFold(strings.TrimSpace(proto), "https"),
		authorBy: func(key *tarsy.APIKey) string { return author(r, key, from.proxied) },
		named:    from.proxied && forwardedUser(r) != "",
	}

	err := g.recognize(r, who)
	if err != nil {
		return who, err
	}

	who.author = who.authorBy(who.key)
	if user := who.user(); user != nil {
		who.author = user.Name
	}

	switch {
	case who.key != nil && who.browser == nil:
		return who, nil
	case g.role(who) == "" && !open:
		return who, g.unauthenticated(r, who)
	case !g.required && !g.public.isOwnHost(r.Host):
		return who, tarsy.FieldErrorf(tarsy.CodeForbiddenOrigin, "Host",
			"Without an API key this server answers only to its address, to localhost and to the host of system.dashboard_url, not to %q",
			shown(r.Host))
	}

	err = g.public.checkOrigin(r)
	if err != nil {
		return who, tarsy.FieldErrorf(tarsy.CodeForbiddenOrigin, "Origin", "a page of another origin needs an API key for this")
	}

	return who, nil
}

// recognize finds the key of a request, in its header or else by its cookie. Other Authorization schemes are ignored: a browser sends
// the credentials that a proxy in front asked for with every request.
func (g *guard) recognize(r *http.Request, who *caller) error {
	var err error

	if secret, sent := bearer(r); sent {
		who.key, who.inactive, err = g.keyOf(r.Context(), secret)
	} else if cookie, missing := r.Cookie(cookieName); missing == nil && auth.MayBeBrowserSecret(cookie.Value) {
		who.cookie = cookie.Value
		who.browser, err = g.store.BrowserSession(r.Context(), auth.Hash(cookie.Value), g.clock.Now())
	}

	if err != nil {
		return g.unchecked(r.Context(), err)
	}

	g.recognizeBrowser(who)

	if who.key != nil {
		g.noteUse(r.Context(), who.key)
	} else if g.acceptsUser(r, who) {
		who.groups = forwardedGroups(r)
		who.role = g.users.role(who.groups)
	}

	return nil
}

// unchecked returns the error for a caller that could not be looked up: it must not be let in, nor be reported as unauthenticated.
func (g *guard) unchecked(ctx context.Context, err error) error {
	g.logger.ErrorContext(ctx, "could not check an API key", "error", err)

	return tarsy.Errorf(tarsy.CodeUnavailable, "API keys cannot be checked now, try again")
}

// unauthenticated returns an error that names the missing credentials or role.
func (g *guard) unauthenticated(r *http.Request, who *caller) error {
	switch {
	case g.acceptsUser(r, who), who.user() != nil:
		return tarsy.Errorf(tarsy.CodeForbidden, "the user %q has no role here: an admin can add one of their groups to system.auth.roles", who.author)
	case who.cookie != "":
		return tarsy.Errorf(tarsy.CodeUnauthenticated, "the browser session has ended; log in again")
	case r.Header.Get("Authorization") != "":
		return unknownKey()
	default:
		return tarsy.Errorf(tarsy.CodeUnauthenticated, "send an API key as \"Authorization: Bearer <key>\"")
	}
}

func unknownKey() error {
	return tarsy.Errorf(tarsy.CodeUnauthenticated, "the API key is unknown, expired or revoked")
}

// permit checks that the caller has the role that the scope requires, and that a browser's request came from our page.
func (g *guard) permit(r *http.Request, who *caller, needed tarsy.Scope) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions {
		err := who.checkToken()
		if err != nil {
			return err
		}
	}

	role := g.role(who)
	if who.isSender || role.Includes(needed.Role()) {
		return nil
	}

	if who.key == nil {
		return tarsy.Errorf(tarsy.CodeForbidden, "the user %q has the role %s; this needs the role %s", who.author, role, needed.Role())
	}

	return tarsy.Errorf(tarsy.CodeForbidden, "the API key %q has the role %s; this needs the role %s (scope %q)",
		who.key.Name, role, needed.Role(), needed)
}

// bearer returns the bearer secret of a request, and whether one was sent.
func bearer(r *http.Request) (secret string, sent bool) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")

	return strings.TrimSpace(secret), strings.EqualFold(scheme, "Bearer")
}

// keyOf finds the key with a secret, or returns it as inactive if it is no longer accepted; both are nil if there is none.
func (g *guard) keyOf(ctx context.Context, secret string) (active, inactive *tarsy.APIKey, err error) {
	if !auth.MayBeSecret(secret) {
		return nil, nil, nil
	}

	key, err := g.store.KeyByHash(ctx, auth.Hash(secret))
	if err != nil || key == nil {
		return nil, nil, err
	}

	if !key.Active(g.clock.Now()) {
		return nil, key, nil
	}

	return key, nil, nil
}

// noteUse records the use of a key, at most once per usesEvery. A failure to record does not refuse the request.
func (g *guard) noteUse(ctx context.Context, key *tarsy.APIKey) {
	now := g.clock.Now()
	if key.LastUsedAt != nil && now.Sub(*key.LastUsedAt) < usesEvery {
		return
	}

	err := g.store.TouchKey(context.WithoutCancel(ctx), key.ID, now)
	if err != nil {
		g.logger.WarnContext(ctx, "could not record the use of a key", "key_id", key.ID, "error", err)
	}
}
