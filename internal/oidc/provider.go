// Package oidc authenticates users with OpenID Connect: authorization code flow with PKCE. It knows nothing of HTTP requests to
// this server, of cookies or of roles. Responses of the issuer are limited in size and time, and its claims are cleaned.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/jonboulle/clockwork"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"tarsy.dev/tarsy"
)

const (
	// requestTimeout is the time limit of one request to the issuer, in real time.
	requestTimeout = 10 * time.Second
	// keptFor is how long a discovery document is used before it is read again. If that fails, the old one stays in use.
	keptFor = time.Hour
)

// Config configures logins at an issuer.
type Config struct {
	Issuer   string
	ClientID string
	// ClientSecret is empty for a public client.
	ClientSecret string
	// SecretMissing means that the client has a secret but its value is not set: no login can succeed.
	SecretMissing bool
	Scopes        []string
	// GroupsClaim, TeamsClaim and NameClaim are the claims to read; empty means none, or the standard claims for the name.
	GroupsClaim, TeamsClaim, NameClaim string
	Clock                              clockwork.Clock
}

// Provider is an issuer and our client there. It is discovered at the first login, and again after an hour or a failure, so
// that the server can start while the issuer is down. It is safe for concurrent use.
type Provider struct {
	cfg    Config
	client *http.Client
	flight singleflight.Group

	mu    sync.Mutex
	found *discovered
}

// discovered is the content of the discovery document.
type discovered struct {
	provider *gooidc.Provider
	oauth    oauth2.Config
	// repeatsIssuer means that the authorization endpoint sends the issuer's name in its answer.
	repeatsIssuer bool
	at            time.Time
}

// New returns a provider. It makes no requests.
func New(cfg Config) *Provider {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	return &Provider{cfg: cfg, client: newClient()}
}

// Issuer returns the configured issuer.
func (p *Provider) Issuer() string { return p.cfg.Issuer }

// Discover reads the discovery document, unless it was read within the last hour. Its error has the code oidc_unavailable.
func (p *Provider) Discover(ctx context.Context) error {
	_, err := p.discover(ctx)

	return err
}

func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	known := p.known()
	if known != nil && p.cfg.Clock.Since(known.at) < keptFor {
		return known, nil
	}

	// Concurrent logins share one request, which none of them can cancel for the others.
	made, err, _ := p.flight.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		defer cancel()

		return p.read(gooidc.ClientContext(ctx, p.client))
	})
	if err != nil && known == nil {
		return nil, unavailable("read the discovery document", err)
	}

	if found, ok := made.(*discovered); ok && err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()

		p.found = found

		return found, nil
	}

	return known, nil
}

func (p *Provider) known() *discovered {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.found
}

func (p *Provider) read(ctx context.Context) (*discovered, error) {
	provider, err := gooidc.NewProvider(ctx, p.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discover %s: %w", p.cfg.Issuer, err)
	}

	var document struct {
		AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
		JWKS          string   `json:"jwks_uri"`
		RepeatsIssuer bool     `json:"authorization_response_iss_parameter_supported"`
	}

	if err := provider.Claims(&document); err != nil {
		return nil, fmt.Errorf("discover %s: %w", p.cfg.Issuer, err)
	}

	endpoint := provider.Endpoint()
	for name, address := range map[string]string{
		"authorization_endpoint": endpoint.AuthURL, "token_endpoint": endpoint.TokenURL, "jwks_uri": document.JWKS,
	} {
		if !isSafe(address) {
			return nil, fmt.Errorf("discover %s: %w: %s %q", p.cfg.Issuer, errUnsafe, name, address)
		}
	}

	if address := provider.UserInfoEndpoint(); address != "" && !isSafe(address) {
		return nil, fmt.Errorf("discover %s: %w: userinfo_endpoint %q", p.cfg.Issuer, errUnsafe, address)
	}

	endpoint.AuthStyle = authStyle(p.cfg.ClientSecret, document.AuthMethods)

	return &discovered{
		provider: provider, repeatsIssuer: document.RepeatsIssuer, at: p.cfg.Clock.Now(),
		oauth: oauth2.Config{ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: endpoint, Scopes: p.cfg.Scopes},
	}, nil
}

// authStyle returns how the client authenticates. It must not be found by trial and error, because a code is valid only once.
func authStyle(secret string, methods []string) oauth2.AuthStyle {
	// Without the list, the issuer supports client_secret_basic.
	if secret == "" || len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}

	return oauth2.AuthStyleInHeader
}

var (
	errUnsafe   = errors.New("an endpoint must be an https URL")
	errRedirect = errors.New("the issuer redirects to another host")
	errSecret   = errors.New("the variable of system.auth.oidc.client_secret_env is not set")
)

// unavailable returns the error for an issuer that is currently unavailable. Its cause is for the log.
func unavailable(doing string, err error) error {
	return &tarsy.Error{
		Code: tarsy.CodeOIDCUnavailable, Message: "The login service cannot be reached. Try again later, or log in with an API key.",
		Err: fmt.Errorf("%s: %w", doing, err),
	}
}

// isSafe reports whether an endpoint can be used: over TLS, or on the local machine.
func isSafe(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return false
	}

	ip, err := netip.ParseAddr(u.Hostname())
	loopback := err == nil && ip.IsLoopback() || strings.EqualFold(u.Hostname(), "localhost")

	return u.Scheme == "https" || u.Scheme == "http" && loopback
}
