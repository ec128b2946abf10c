package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/ident"
)

// operation is a route of the document.
type operation struct {
	method, path string
	// pattern is the path in the document.
	pattern string
	scope   string
	// role is the role in the document.
	role string
}

// operations lists every route of the document.
func (f *fixture) operations(t *testing.T) []operation {
	t.Helper()

	var document struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string `json:"security"`
			Role     string                `json:"x-tarsy-role"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(f.api.OpenAPI(), &document))

	var all []operation

	for path, methods := range document.Paths {
		for method, op := range methods {
			one := operation{method: strings.ToUpper(method), path: strings.ReplaceAll(path, "{id}", ident.New()), pattern: path, role: op.Role}
			if len(op.Security) > 0 {
				one.scope = op.Security[0]["api_key"][0]
			}

			all = append(all, one)
		}
	}

	return all
}

// hasBody reports whether the document has a body for the operation.
func (o operation) hasBody() bool { return o.method == http.MethodPost || o.method == http.MethodPatch }

func TestEveryRouteIsRefusedWithoutKey(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	revoked, old := f.key(t, "old", tarsy.ScopeAdmin)
	_, err := f.accounts.RevokeKey(t.Context(), revoked.ID, f.clock.Now())
	require.NoError(t, err)

	_, shared := f.shared(t)
	require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/api/v1/shared", "", "Authorization", "Bearer "+shared).status)

	all := f.operations(t)
	require.GreaterOrEqual(t, len(all), 47)

	open := map[string]int{}

	for _, o := range all {
		if o.scope == "" {
			open[o.path] = f.request(t, o.method, o.path, "").status

			continue
		}

		for name, headers := range map[string][]string{
			"no key":       nil,
			"another form": {"Authorization", "Basic dGFyc3k6dGFyc3k="},
			"no secret":    {"Authorization", "Bearer tarsy"},
			"unknown key":  {"Authorization", "Bearer tarsy_abcdefgh_" + strings.Repeat("a", 52)},
			"revoked key":  old,
			"key as name":  {"Authorization", old[1][len("Bearer "):]},
			"share":        {"Authorization", "Bearer " + shared},
		} {
			body := ""
			if o.hasBody() {
				body = "{}"
			}

			got := f.request(t, o.method, o.path, body, headers...)
			require.Equal(t, `Bearer realm="tarsy"`, got.header.Get("WWW-Authenticate"), "%s %s with %s", o.method, o.path, name)
			f.requireProblem(t, got, http.StatusUnauthorized, tarsy.CodeUnauthenticated)
			require.Equal(t, http.StatusUnauthorized, f.request(t, http.MethodHead, o.path, "", headers...).status)
		}
	}

	require.Equal(t, map[string]int{
		"/livez": http.StatusOK, "/readyz": http.StatusOK, "/api/v1/me": http.StatusOK,
		"/api/v1/login": http.StatusBadRequest, "/api/v1/logout": http.StatusNoContent, "/api/v1/shared": http.StatusNotFound,
		"/api/v1/login/oidc": http.StatusNotFound, "/api/v1/login/oidc/callback": http.StatusNotFound,
	}, open)

	f.requireProblem(t, f.request(t, http.MethodGet, "/nowhere", ""), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	f.requireProblem(t, f.request(t, http.MethodPut, "/health", ""), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
}

func TestKeyIsLimitedToItsScope(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	ranks := []string{"read", "write", "admin"}
	roles := map[string]string{"": "none", "read": "viewer", "write": "responder", "admin": "admin"}

	for rank, scope := range ranks {
		_, key := f.key(t, scope+" key", tarsy.Scope(scope))

		for _, o := range f.operations(t) {
			require.Equal(t, roles[o.scope], o.role, "the documented role of %s %s", o.method, o.pattern)

			body := ""
			if o.hasBody() {
				body = "{}"
			}

			got := f.request(t, o.method, o.path, body, key...)
			if o.scope == "" || slices.Index(ranks, o.scope) <= rank {
				require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, got.status, "%s may %s %s", scope, o.method, o.path)

				continue
			}

			problem := f.requireProblem(t, got, http.StatusForbidden, tarsy.CodeForbidden)
			require.Contains(t, problem.Detail, "needs the role "+o.role+` (scope "`+o.scope+`")`)
		}
	}
}

func TestKeyCreatedOverAPIWorksUntilRevoked(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, admin := f.key(t, "admin", tarsy.ScopeAdmin)

	got := f.request(t, http.MethodPost, "/api/v1/keys", `{"name":"ci","scopes":["write"]}`, admin...)
	require.Equal(t, http.StatusCreated, got.status, got.body)

	created := decode[struct {
		Key string `json:"key"`
		tarsy.APIKey
	}](t, got)
	require.Equal(t, "ci", created.Name)
	require.Equal(t, f.clock.Now().UTC(), created.CreatedAt)

	key := []string{"Authorization", "bearer " + created.Key}

	submitted := f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, key...)
	require.Equal(t, http.StatusAccepted, submitted.status)
	require.Equal(t, "ci", get[tarsy.SessionDetail](t, f, submitted.header.Get("Location"), key...).Author)

	listed := f.request(t, http.MethodGet, "/api/v1/keys", "", admin...)
	require.NotContains(t, listed.body, created.Key)
	require.Contains(t, listed.body, created.ID)

	f.clock.Advance(time.Hour)

	revoked := decode[tarsy.APIKey](t, f.request(t, http.MethodDelete, "/api/v1/keys/"+created.Prefix, "", admin...))
	require.Equal(t, created.ID, revoked.ID)
	require.Equal(t, f.clock.Now().UTC(), revoked.RevokedAt.UTC())

	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions", "", key...), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
}

func TestKeyUseIsRecordedAtMostOnceAMinute(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, key := f.key(t, "ci", tarsy.ScopeRead)
	used := func() time.Time {
		f.request(t, http.MethodGet, "/health", "", key...)

		keys, err := f.accounts.Keys(t.Context())
		require.NoError(t, err)
		require.NotNil(t, keys[0].LastUsedAt)

		return keys[0].LastUsedAt.UTC()
	}

	first := f.clock.Now().UTC()
	require.Equal(t, first, used())

	f.clock.Advance(59 * time.Second)
	require.Equal(t, first, used())

	f.clock.Advance(time.Second)
	require.Equal(t, first.Add(time.Minute), used())
}

func TestKeyIsOptionalWithoutAuthAndStillNamesAuthor(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	_, key := f.key(t, "ci", tarsy.ScopeRead)

	for author, headers := range map[string][]string{
		"ci":         key,
		"api-client": {"Authorization", "Bearer tarsy_abcdefgh_" + strings.Repeat("a", 52)},
	} {
		require.Equal(t, author, f.authorOf(t, headers...))
	}
}

// authorOf submits an alert and returns the author of its session.
func (f *fixture) authorOf(t *testing.T, headers ...string) string {
	t.Helper()

	got := f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, headers...)
	require.Equal(t, http.StatusAccepted, got.status, got.body)

	return get[tarsy.SessionDetail](t, f, got.header.Get("Location")).Author
}

func TestForwardedNamesAreTrustedFromProxiesOnly(t *testing.T) {
	t.Parallel()

	const user, email = "X-Forwarded-User", "X-Forwarded-Email"

	trusted := newFixture(t, func(cfg *api.Config) {
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8")}
	})
	_, key := trusted.key(t, "proxy key", tarsy.ScopeWrite)

	for _, c := range []struct {
		author  string
		headers []string
	}{
		{"ada", []string{user, "ada", email, "ada@example.org"}},
		{"ada@example.org", []string{email, "ada@example.org"}},
		{"ada@example.org", []string{user, "  ", email, "ada@example.org"}},
		{"api-client", nil},
		{"proxy key", key},
		{"ada", append([]string{user, "ada"}, key...)},
		{"a b", []string{user, "a\tb"}},
		{"\ufffd", []string{user, "\xff"}},
		{strings.Repeat("ä", 200), []string{user, strings.Repeat("ä", 300)}},
	} {
		require.Equal(t, c.author, trusted.authorOf(t, c.headers...))
	}

	stranger := newFixture(t, func(cfg *api.Config) { cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	require.Equal(t, "api-client", stranger.authorOf(t, user, "ada", email, "ada@example.org", "X-Forwarded-For", "10.0.0.1"))
}

func TestTrustedProxyIsIdentifiedByAddress(t *testing.T) {
	t.Parallel()

	f := newFixture(t, func(cfg *api.Config) {
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fe80::/10")}
	})

	for peer, trusted := range map[string]bool{
		"10.1.2.3:5": true, "[::ffff:10.1.2.3]:5": true, "[fe80::1%eth0]:5": true,
		"11.1.2.3:5": false, "[2001:db8::1]:5": false, "@": false, "": false, "10.1.2.3": false,
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/me", nil)
		request.RemoteAddr, request.Host = peer, "localhost"
		request.Header.Set("X-Forwarded-User", "ada")

		recorder := httptest.NewRecorder()
		f.api.Handler().ServeHTTP(recorder, request)

		require.Equal(t, trusted, strings.Contains(recorder.Body.String(), `"name":"ada"`), "%q: %s", peer, recorder.Body)
	}
}

func TestKeyAllowsOtherOriginsAndHosts(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, key := f.key(t, "ci", tarsy.ScopeWrite)

	got := f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`,
		append(key, "Origin", "https://dashboard.example", "Host", "tarsy.example")...)
	require.Equal(t, http.StatusAccepted, got.status)
}

func TestWebSocketNeedsKey(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, func(cfg *api.Config) {
		cfg.WebSocket = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			connection, err := websocket.Accept(w, r, nil)
			if err == nil {
				_ = connection.Close(websocket.StatusNormalClosure, "hello")
			}
		})
	})
	_, key := f.key(t, "watcher", tarsy.ScopeRead)
	address := "ws" + strings.TrimPrefix(f.http.URL, "http") + "/api/v1/ws"

	_, response, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPClient: f.http.Client()})
	require.Error(t, err)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)

	connection, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{
		HTTPClient: f.http.Client(), HTTPHeader: http.Header{key[0]: {key[1]}},
	})
	require.NoError(t, err)

	_, _, err = connection.Read(t.Context())
	require.Equal(t, websocket.StatusNormalClosure, websocket.CloseStatus(err))
}
