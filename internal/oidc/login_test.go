package oidc_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/issuer"
	"tarsy.dev/tarsy/internal/oidc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const callback = "http://127.0.0.1:1/callback"

// world is an issuer with a client.
type world struct {
	clock  *clockwork.FakeClock
	issuer *issuer.Server
	server *httptest.Server
	config oidc.Config
}

func newWorld(t *testing.T, secret string, people ...issuer.Person) *world {
	t.Helper()

	w := &world{clock: clockwork.NewFakeClockAt(time.Date(2026, 11, 17, 10, 0, 0, 0, time.UTC))}
	w.issuer = issuer.New(issuer.Config{ClientID: "tarsy", ClientSecret: secret, RedirectURIs: []string{callback}, People: people, Clock: w.clock})
	w.server = httptest.NewServer(w.issuer)
	t.Cleanup(w.server.Close)

	w.config = oidc.Config{
		Issuer: w.server.URL, ClientID: "tarsy", ClientSecret: secret, Scopes: []string{"openid"}, GroupsClaim: "groups", Clock: w.clock,
	}

	return w
}

// answer logs a person in at the issuer's page and returns the parameters of the redirect back.
func (w *world) answer(t *testing.T, address, subject string) oidc.Answer {
	t.Helper()

	begun, err := url.Parse(address)
	require.NoError(t, err)

	form := begun.Query()
	form.Set("subject", subject)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+"/authorize", strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusSeeOther, response.StatusCode)

	back, err := response.Location()
	require.NoError(t, err)

	query := back.Query()

	return oidc.Answer{State: query.Get("state"), Code: query.Get("code"), Issuer: query.Get("iss"), Error: query.Get("error")}
}

func (w *world) login(t *testing.T, subject string) (oidc.User, error) {
	t.Helper()

	provider := oidc.New(w.config)

	attempt, address, err := provider.Begin(t.Context(), callback)
	require.NoError(t, err)

	return provider.Finish(t.Context(), attempt, w.answer(t, address, subject), callback)
}

func TestPublicAndConfidentialClientsLogIn(t *testing.T) {
	t.Parallel()

	for _, secret := range []string{"", "a secret: with % and +"} {
		w := newWorld(t, secret)
		user, err := w.login(t, "rob")
		require.NoError(t, err)
		require.Equal(t, oidc.User{Issuer: w.server.URL, Subject: "rob", Name: "rob@example.com", Groups: []string{"responders"}}, user)
	}

	w := newWorld(t, "right")
	w.config.ClientSecret = "wrong"
	_, err := w.login(t, "rob")
	require.Equal(t, tarsy.CodeLoginFailed, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "invalid_client")
	require.NotContains(t, err.Error(), "wrong")
}

func TestNameAndGroupsComeFromTheConfiguredClaims(t *testing.T) {
	t.Parallel()

	claims := map[string]any{
		"name": "Ada L.", "email": "ada@example.com", "preferred_username": "ada", "roles": "one", "a.b": []string{"flat"},
		"realm_access": map[string]any{"roles": []string{"z", "a", "a", "", " x"}},
	}

	for _, c := range []struct {
		groups, teams, name string
		want                oidc.User
	}{
		{"realm_access.roles", "roles", "name", oidc.User{Name: "Ada L.", Groups: []string{"a", "z"}, Teams: []string{"one"}}},
		{"a.b", "", "nothing", oidc.User{Name: "ada", Groups: []string{"flat"}}},
		{"realm_access.roles.deeper", "realm_access", "email", oidc.User{Name: "ada@example.com"}},
	} {
		w := newWorld(t, "", issuer.Person{Subject: "1", Claims: claims})
		w.config.GroupsClaim, w.config.TeamsClaim, w.config.NameClaim = c.groups, c.teams, c.name

		user, err := w.login(t, "1")
		require.NoError(t, err)

		c.want.Issuer, c.want.Subject = w.server.URL, "1"
		require.Equal(t, c.want.Name, user.Name)
		require.ElementsMatch(t, c.want.Groups, user.Groups)
		require.ElementsMatch(t, c.want.Teams, user.Teams)
	}
}

func TestAnswerOfAnotherIssuerIsRefused(t *testing.T) {
	t.Parallel()

	w := newWorld(t, "")

	for _, named := range []string{"https://other.example", ""} {
		provider := oidc.New(w.config)
		attempt, address, err := provider.Begin(t.Context(), callback)
		require.NoError(t, err)

		answer := w.answer(t, address, "ada")
		answer.Issuer = named
		_, err = provider.Finish(t.Context(), attempt, answer, callback)
		require.Equal(t, tarsy.CodeLoginFailed, tarsy.CodeOf(err))
		require.ErrorContains(t, err, "another issuer answered")
	}

	require.Zero(t, w.issuer.Exchanges())
}

// Most issuers do not send their name, and do not announce it either.
func TestIssuerMayLeaveOutItsAddressUnlessItAnnouncesIt(t *testing.T) {
	t.Parallel()

	w := newWorld(t, "", issuer.Person{Subject: "ada", Claims: map[string]any{"name": "Ada", "groups": []string{"sre"}}})
	whole := w.server.Config.Handler
	w.server.Config.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/openid-configuration" {
			whole.ServeHTTP(out, r)

			return
		}

		recorded := httptest.NewRecorder()
		whole.ServeHTTP(recorded, r)
		out.Header().Set("Content-Type", "application/json")
		_, _ = out.Write(bytes.ReplaceAll(recorded.Body.Bytes(), []byte(`"authorization_response_iss_parameter_supported":true`), []byte(`"unused":true`)))
	})

	for named, ok := range map[string]bool{"": true, w.server.URL: true, "https://other.example": false} {
		provider := oidc.New(w.config)
		attempt, address, err := provider.Begin(t.Context(), callback)
		require.NoError(t, err)

		answer := w.answer(t, address, "ada")
		answer.Issuer = named
		_, err = provider.Finish(t.Context(), attempt, answer, callback)
		require.Equal(t, ok, err == nil, "%q: %v", named, err)
	}
}

func TestDiscoveryIsRepeatedAfterFailuresAndKeptForAnHour(t *testing.T) {
	t.Parallel()

	w := newWorld(t, "")
	provider := oidc.New(w.config)

	w.issuer.Misbehave(issuer.DiscoveryDown)
	require.Equal(t, tarsy.CodeOIDCUnavailable, tarsy.CodeOf(provider.Discover(t.Context())))

	w.issuer.Misbehave(issuer.None)

	for range 3 {
		require.NoError(t, provider.Discover(t.Context()))
	}

	require.Equal(t, 1, w.issuer.Discoveries())

	// The previous document is used while it cannot be read again.
	w.clock.Advance(time.Hour)
	w.issuer.Misbehave(issuer.DiscoveryDown)
	require.NoError(t, provider.Discover(t.Context()))
	w.issuer.Misbehave(issuer.None)
	require.NoError(t, provider.Discover(t.Context()))
	require.Equal(t, 2, w.issuer.Discoveries())
}

func TestDiscoveryRefusesForeignAndUnsafeDocuments(t *testing.T) {
	t.Parallel()

	for name, document := range map[string]string{
		"another issuer":    `{"issuer": "https://other.example"}`,
		"unsafe endpoint":   `{"issuer": "$", "authorization_endpoint": "http://login.example/", "token_endpoint": "$/token", "jwks_uri": "$/keys"}`,
		"missing endpoint":  `{"issuer": "$", "authorization_endpoint": "$/authorize", "jwks_uri": "$/keys"}`,
		"script":            `{"issuer": "$", "authorization_endpoint": "javascript:alert(1)", "token_endpoint": "$/token", "jwks_uri": "$/keys"}`,
		"not JSON":          `<html>`,
		"a document of MiB": `{"issuer": "$", "padding": "` + strings.Repeat("x", 2<<20) + `"}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(strings.ReplaceAll(document, "$", "http://"+r.Host)))
		}))
		err := oidc.New(oidc.Config{Issuer: server.URL, ClientID: "tarsy"}).Discover(t.Context())
		require.Equal(t, tarsy.CodeOIDCUnavailable, tarsy.CodeOf(err), name)
		server.Close()
	}
}

func TestLoginWithoutItsSecretIsRefusedBeforeTheIssuerIsAsked(t *testing.T) {
	t.Parallel()

	w := newWorld(t, "secret")
	w.config.ClientSecret, w.config.SecretMissing = "", true
	_, _, err := oidc.New(w.config).Begin(t.Context(), callback)
	require.Equal(t, tarsy.CodeOIDCUnavailable, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "client_secret_env")
	require.Zero(t, w.issuer.Discoveries())
}
