package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
)

// usesEvery is how long the use of a key is not noted again.
const usesEvery = time.Minute

// callerKey is where a request's context carries its caller.
type callerKey struct{}

// caller is who asks, and what they sent.
type caller struct {
	key    *tarsy.APIKey
	author string
	body   []byte
}

func callerOf(ctx context.Context) *caller {
	who, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		panic("api: a handler that needs a caller runs on a route without scope")
	}

	return who
}

// guard decides who may come in. A key is looked up for each request, so that a revocation holds at once.
type guard struct {
	store    Store
	required bool
	proxies  []netip.Prefix
	clock    clockwork.Clock
	logger   *slog.Logger
}

// identify finds out who asks. Without a valid key it fails where keys are required; elsewhere the caller is
// anonymous, and must not be a web page of somebody else.
func (g *guard) identify(r *http.Request) (*caller, error) {
	key, err := g.key(r)
	if err != nil {
		return nil, err
	}

	proxied := g.isProxy(r)

	if key == nil {
		switch {
		case g.required && r.Header.Get("Authorization") == "":
			return nil, tarsy.Errorf(tarsy.CodeUnauthenticated, "send an API key as \"Authorization: Bearer <key>\"")
		case g.required:
			return nil, tarsy.Errorf(tarsy.CodeUnauthenticated, "the API key is not known, or was revoked")
		case !proxied && !isLocalHost(r.Host):
			return nil, tarsy.FieldErrorf(tarsy.CodeForbiddenOrigin, "Host",
				"without an API key this server answers only to its address and to localhost, not to %q", shown(r.Host))
		}

		err := http.NewCrossOriginProtection().Check(r)
		if err != nil {
			return nil, tarsy.FieldErrorf(tarsy.CodeForbiddenOrigin, "Origin", "a page of another origin may not do this without an API key")
		}
	}

	return &caller{key: key, author: author(r, key, proxied)}, nil
}

// permit checks that the caller's key includes a scope.
func (g *guard) permit(who *caller, needed tarsy.Scope) error {
	if !g.required || auth.Allows(who.key.Scopes, needed) {
		return nil
	}

	return tarsy.Errorf(tarsy.CodeForbidden, "the API key %q lacks the scope %q", who.key.Name, needed)
}

// key finds the key of a request; nil means that it has none that counts.
func (g *guard) key(r *http.Request) (*tarsy.APIKey, error) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	secret = strings.TrimSpace(secret)

	if !strings.EqualFold(scheme, "Bearer") || !auth.MayBeSecret(secret) {
		return nil, nil //nolint:nilnil // no key is an answer, not an error
	}

	key, err := g.store.KeyByHash(r.Context(), auth.Hash(secret))
	if err != nil {
		g.logger.ErrorContext(r.Context(), "key not checked", "error", err)

		return nil, tarsy.Errorf(tarsy.CodeUnavailable, "API keys cannot be checked now, try again")
	}

	if key != nil {
		g.noteUse(r.Context(), key)
	}

	return key, nil
}

// noteUse writes down that a key was used, once in a while; that this failed is no reason to refuse the request.
func (g *guard) noteUse(ctx context.Context, key *tarsy.APIKey) {
	now := g.clock.Now()
	if key.LastUsedAt != nil && now.Sub(*key.LastUsedAt) < usesEvery {
		return
	}

	err := g.store.TouchKey(context.WithoutCancel(ctx), key.ID, now)
	if err != nil {
		g.logger.WarnContext(ctx, "use of a key not noted", "key_id", key.ID, "error", err)
	}
}

// isProxy reports whether a trusted proxy sent the request.
func (g *guard) isProxy(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}

	address := peer.Addr().Unmap().WithZone("")

	for _, prefix := range g.proxies {
		if prefix.Contains(address) {
			return true
		}
	}

	return false
}

// isLocalHost reports whether the name that a client used cannot be one that a stranger pointed at this server. Where
// no key is needed, that is what keeps web pages out whose name changes its address (DNS rebinding).
func isLocalHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}

	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	_, err = netip.ParseAddr(name)

	return err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost")
}
