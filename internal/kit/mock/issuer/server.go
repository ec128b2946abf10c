// Package issuer is an OpenID Connect issuer for tests and for people who try logins without an identity provider. It
// enforces what a real one does: registered clients and redirect URIs, PKCE, single-use codes. On request it misbehaves. It
// knows nothing about TARSy.
package issuer

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

const (
	// codeLife is how long a code can be exchanged, tokenLife how long an ID token is valid.
	codeLife  = time.Minute
	tokenLife = 5 * time.Minute
	keyBits   = 2048
	// maxCodes limits the codes that have not been exchanged.
	maxCodes = 1000
)

// Path is where the mock server serves the issuer.
const Path = "/oidc"

// Config configures an issuer and its client.
type Config struct {
	// Path is the prefix of the issuer's paths; it can be empty.
	Path string
	// ClientID and ClientSecret are the client's. Without a secret the client is public.
	ClientID, ClientSecret string
	// RedirectURIs are the registered redirect URIs; none means any loopback address.
	RedirectURIs []string
	// People are the users that the page offers; none means a few examples.
	People []Person
	Clock  clockwork.Clock
}

// Person is a user who can log in.
type Person struct {
	Subject string
	// Claims are added to the ID token, and take precedence. UserInfo are the claims of the userinfo endpoint.
	Claims, UserInfo map[string]any
}

// Server is an issuer. It takes its URL from the request, so it can be moved. It is safe for concurrent use.
type Server struct {
	cfg Config
	mux *http.ServeMux

	mu    sync.Mutex
	keys  []signingKey
	codes map[string]grant
	fault Fault
	// tokens maps access tokens to their users.
	tokens map[string]Person
	// exchanges counts the requests to the token endpoint, discoveries those for the discovery document.
	exchanges, discoveries int
}

// grant is the login that a code belongs to.
type grant struct {
	redirectURI, challenge, nonce string
	person                        Person
	at                            time.Time
}

// New returns an issuer with one key.
func New(cfg Config) *Server {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	if len(cfg.People) == 0 {
		cfg.People = examples()
	}

	s := &Server{cfg: cfg, mux: http.NewServeMux(), codes: map[string]grant{}, tokens: map[string]Person{}}
	s.Rotate()

	s.mux.HandleFunc("GET "+cfg.Path+"/.well-known/openid-configuration", s.discovery)
	s.mux.HandleFunc("GET "+cfg.Path+"/keys", s.jwks)
	s.mux.HandleFunc("GET "+cfg.Path+"/authorize", s.authorize)
	s.mux.HandleFunc("POST "+cfg.Path+"/authorize", s.decide)
	s.mux.HandleFunc("POST "+cfg.Path+"/token", s.token)
	s.mux.HandleFunc("GET "+cfg.Path+"/userinfo", s.userinfo)

	return s
}

func examples() []Person {
	person := func(name string, groups ...string) Person {
		return Person{Subject: name, Claims: map[string]any{
			"email": name + "@example.com", "email_verified": true, "preferred_username": name, "groups": groups, "teams": []string{"platform"},
		}}
	}

	return []Person{person("ada", "admins"), person("rob", "responders"), person("vera", "viewers"), person("eve")}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")

	if s.misbehave(w, r) {
		return
	}

	s.mux.ServeHTTP(w, r)
}

// Handler returns the server itself, which is what the mock server mounts.
func (s *Server) Handler() http.Handler { return s }

// Rotate replaces the signing key. The previous one is no longer published.
func (s *Server) Rotate() {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		panic(err) // a machine without randomness
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.keys = []signingKey{{id: rand.Text(), key: key}}
}

// Exchanges returns how often a client tried to exchange a code.
func (s *Server) Exchanges() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.exchanges
}

// Discoveries returns how often the discovery document was read.
func (s *Server) Discoveries() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.discoveries
}

// url returns the issuer's own address, as the client of a request sees it.
func (s *Server) url(r *http.Request) string { return "http://" + r.Host + s.cfg.Path }

func (s *Server) discovery(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.discoveries++
	s.mu.Unlock()

	own := s.url(r)
	send(w, http.StatusOK, map[string]any{
		"issuer": own, "authorization_endpoint": own + "/authorize", "token_endpoint": own + "/token", "jwks_uri": own + "/keys", "userinfo_endpoint": own + "/userinfo",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{algorithm}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"client_secret_basic", "client_secret_post", "none"},
		"scopes_supported":                               []string{"openid", "profile", "email", "groups"},
		"authorization_response_iss_parameter_supported": true,
	})
}

// allowsRedirect reports whether the issuer may redirect to an address.
func (s *Server) allowsRedirect(redirectURI string) bool {
	if len(s.cfg.RedirectURIs) > 0 {
		return slices.Contains(s.cfg.RedirectURIs, redirectURI)
	}

	u, err := url.Parse(redirectURI)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}

	ip, err := netip.ParseAddr(u.Hostname())

	return err == nil && ip.IsLoopback() || strings.EqualFold(u.Hostname(), "localhost")
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)

	_, _ = w.Write(toJSON(body))
}
