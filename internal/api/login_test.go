package api_test

import (
	"crypto/tls"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
)

const week = 7 * 24 * time.Hour

// visibility is which sessions a caller can see.
type visibility struct {
	Limited bool     `json:"limited"`
	Teams   []string `json:"teams"`
}

// everySession is the visibility of an unlimited caller.
func everySession() visibility { return visibility{Teams: []string{}} }

// meResponse is the response of /api/v1/me.
type meResponse struct {
	AuthRequired  bool             `json:"auth_required"`
	Authenticated bool             `json:"authenticated"`
	Name          string           `json:"name"`
	ID            string           `json:"id"`
	Role          tarsy.AccessRole `json:"role"`
	Scopes        []tarsy.Scope    `json:"scopes"`
	Visibility    visibility       `json:"visibility"`
	CSRFToken     string           `json:"csrf_token"`
}

// browser is a logged-in browser.
type browser struct {
	cookie *http.Cookie
	me     meResponse
}

// headers returns the headers that its page sends with a request.
func (b browser) headers(more ...string) []string {
	return append([]string{"Cookie", b.cookie.Name + "=" + b.cookie.Value, "X-CSRF-Token", b.me.CSRFToken}, more...)
}

// without returns the same headers except for the token.
func (b browser) without(more ...string) []string { return append(b.headers()[:2], more...) }

func secretOf(key []string) string { return strings.TrimPrefix(key[1], "Bearer ") }

// login logs a browser in.
func (f *fixture) login(t *testing.T, key []string, headers ...string) browser {
	t.Helper()

	got := f.request(t, http.MethodPost, "/api/v1/login", `{"key":"`+secretOf(key)+`"}`, headers...)
	require.Equal(t, http.StatusOK, got.status, got.body)

	return browser{cookie: cookieOf(t, got), me: decode[meResponse](t, got)}
}

func cookieOf(t *testing.T, got answer) *http.Cookie {
	t.Helper()

	cookies := (&http.Response{Header: got.header}).Cookies()
	require.Len(t, cookies, 1)

	return cookies[0]
}

// stored returns the browser sessions in the database, as text.
func (f *fixture) stored(t *testing.T) []string {
	t.Helper()

	connection, err := pgx.Connect(t.Context(), f.url)
	require.NoError(t, err)

	defer func() { require.NoError(t, connection.Close(t.Context())) }()

	rows, err := connection.Query(t.Context(), `SELECT s::text FROM browser_sessions s`)
	require.NoError(t, err)

	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return texts
}

func TestLoginCookieIsHttpOnlyAndSameSite(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	owner, key := f.key(t, "ada", tarsy.ScopeWrite)
	b := f.login(t, key)

	require.Equal(t, meResponse{
		AuthRequired: true, Authenticated: true, Name: "ada", ID: owner.ID, Role: tarsy.RoleResponder, Scopes: []tarsy.Scope{tarsy.ScopeRead, tarsy.ScopeWrite}, CSRFToken: b.me.CSRFToken, Visibility: everySession(),
	}, b.me)
	require.Len(t, b.me.CSRFToken, 26)
	require.Equal(t, b.me, get[meResponse](t, f, "/api/v1/me", b.without()...))

	require.Equal(t, "tarsy_session", b.cookie.Name)
	require.Equal(t, "/", b.cookie.Path)
	require.True(t, b.cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, b.cookie.SameSite)
	require.Equal(t, int(week.Seconds()), b.cookie.MaxAge)
	require.False(t, b.cookie.Secure, "the browser would not send it back over HTTP")

	require.NotContains(t, f.log.String(), b.cookie.Value)
	require.NotContains(t, f.log.String(), secretOf(key))
	require.Len(t, f.stored(t), 1)
	require.NotContains(t, f.stored(t)[0], b.cookie.Value, "of the secret only the hash is stored")
	require.NotContains(t, f.stored(t)[0], hex.EncodeToString([]byte(b.cookie.Value)))
}

func TestCookieIsSecureOverTLS(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, func(cfg *api.Config) { cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	_, key := f.key(t, "ada", tarsy.ScopeRead)

	for _, c := range []struct {
		name, peer, proto string
		tls, secure       bool
	}{
		{"by TLS", "192.0.2.1:5", "", true, true},
		{"a trusted proxy says https", "10.1.2.3:5", "https", false, true},
		{"the first of two proxies says https", "10.1.2.3:5", "HTTPS, http", false, true},
		{"a trusted proxy says http", "10.1.2.3:5", "http", false, false},
		{"a stranger says https", "192.0.2.1:5", "https", false, false},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/login", strings.NewReader(`{"key":"`+secretOf(key)+`"}`))
		request.RemoteAddr = c.peer
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Forwarded-Proto", c.proto)

		if c.tls {
			request.TLS = &tls.ConnectionState{}
		}

		recorder := httptest.NewRecorder()
		f.api.Handler().ServeHTTP(recorder, request)
		require.Equal(t, http.StatusOK, recorder.Code, recorder.Body)
		require.Equal(t, c.secure, recorder.Result().Cookies()[0].Secure, c.name)
	}
}

func TestFailedLoginSaysWhyAndSetsNoCookie(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	key, header := f.key(t, "old", tarsy.ScopeRead)
	_, err := f.accounts.RevokeKey(t.Context(), key.ID, f.clock.Now())
	require.NoError(t, err)

	for body, want := range map[string]struct {
		status int
		code   tarsy.Code
	}{
		``:                         {http.StatusBadRequest, tarsy.CodeInvalidJSON},
		`{}`:                       {http.StatusBadRequest, tarsy.CodeMissingField},
		`{"key":""}`:               {http.StatusBadRequest, tarsy.CodeMissingField},
		`{"key":7}`:                {http.StatusBadRequest, tarsy.CodeInvalidField},
		`{"key":"a","user":"ada"}`: {http.StatusBadRequest, tarsy.CodeUnknownField},
		`{"key":"open sesame"}`:    {http.StatusUnauthorized, tarsy.CodeUnauthenticated},
		`{"key":"tarsy_abcdefgh_` + strings.Repeat("a", 52) + `"}`: {http.StatusUnauthorized, tarsy.CodeUnauthenticated},
		`{"key":"` + secretOf(header) + `"}`:                       {http.StatusUnauthorized, tarsy.CodeUnauthenticated},
	} {
		got := f.request(t, http.MethodPost, "/api/v1/login", body)
		problem := f.requireProblem(t, got, want.status, want.code)
		require.Empty(t, got.header.Get("Set-Cookie"), body)
		require.NotContains(t, problem.Detail, "tarsy_abcdefgh", "the answer does not repeat the key")
	}

	require.Empty(t, f.stored(t))
}

func TestCrossOriginPageCannotLogBrowserIn(t *testing.T) {
	t.Parallel()

	for name, options := range map[string][]func(*api.Config){"keys required": {locked}, "no keys": nil} {
		f := newFixture(t, options...)
		_, key := f.key(t, "mallory", tarsy.ScopeAdmin)
		body := `{"key":"` + secretOf(key) + `"}`

		for _, foreign := range [][]string{
			{"Origin", "https://evil.example"},
			{"Origin", "null"},
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:3000"},
		} {
			f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/login", body, foreign...), http.StatusForbidden, tarsy.CodeForbiddenOrigin)
			f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/logout", "", foreign...), http.StatusForbidden, tarsy.CodeForbiddenOrigin)
		}

		require.Empty(t, f.stored(t), name)
		f.login(t, key, "Sec-Fetch-Site", "same-origin", "Origin", f.http.URL)
	}
}

func TestBrowserWritesNeedCSRFToken(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, key := f.key(t, "ada", tarsy.ScopeWrite)
	b, other := f.login(t, key), f.login(t, key)
	submit := func(headers ...string) answer {
		return f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, headers...)
	}

	for name, headers := range map[string][]string{
		"none":              b.without(),
		"empty":             b.without("X-CSRF-Token", ""),
		"another browser's": b.without("X-CSRF-Token", other.me.CSRFToken),
		"a part of it":      b.without("X-CSRF-Token", b.me.CSRFToken[:25]),
	} {
		problem := f.requireProblem(t, submit(headers...), http.StatusForbidden, tarsy.CodeCSRFFailed)
		require.Equal(t, "X-CSRF-Token", problem.Field, name)
	}

	for _, o := range f.operations(t) {
		if o.method == http.MethodGet || o.scope == "" {
			continue
		}

		f.requireProblem(t, f.request(t, o.method, o.path, "", b.without()...), http.StatusForbidden, tarsy.CodeCSRFFailed)
	}

	f.requireProblem(t, submit(b.headers("Origin", "https://evil.example")...), http.StatusForbidden, tarsy.CodeForbiddenOrigin)

	accepted := submit(b.headers("Origin", f.http.URL)...)
	require.Equal(t, http.StatusAccepted, accepted.status, accepted.body)
	require.Equal(t, "ada", get[tarsy.SessionDetail](t, f, accepted.header.Get("Location"), b.without()...).Author)

	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/keys", "", b.without()...), http.StatusForbidden, tarsy.CodeForbidden)
}

func TestHeaderTakesPrecedenceOverCookie(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, reader := f.key(t, "reader", tarsy.ScopeRead)
	_, writer := f.key(t, "writer", tarsy.ScopeWrite)
	b := f.login(t, reader)

	require.Equal(t, "writer", get[meResponse](t, f, "/api/v1/me", b.without(writer...)...).Name)

	got := f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, b.without(writer...)...)
	require.Equal(t, http.StatusAccepted, got.status, "a key that is sent needs no token")

	wrong := []string{"Authorization", "Bearer tarsy_abcdefgh_" + strings.Repeat("a", 52)}
	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions", "", b.without(wrong...)...), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
}

func TestProxyAuthorizationDoesNotHideCookie(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	ada, key := f.key(t, "ada", tarsy.ScopeWrite)
	basic := []string{"Authorization", "Basic YWRhOnNlY3JldA=="}
	b := f.login(t, key, basic...)

	require.Equal(t, b.me, get[meResponse](t, f, "/api/v1/me", b.without(basic...)...))

	post := func(headers []string) answer {
		return f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, append(headers, basic...)...)
	}
	require.Equal(t, http.StatusAccepted, post(b.headers()).status)
	f.requireProblem(t, post(b.without()), http.StatusForbidden, tarsy.CodeCSRFFailed)
	f.requireProblem(t, post(nil), http.StatusUnauthorized, tarsy.CodeUnauthenticated)

	_, err := f.accounts.RevokeKey(t.Context(), ada.ID, f.clock.Now())
	require.NoError(t, err)
	require.Contains(t, f.requireProblem(t, post(b.headers()), http.StatusUnauthorized, tarsy.CodeUnauthenticated).Detail, "log in again")
}

func TestBrowserSessionEndsWithKeyExpiryOrLogout(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	read := func(b browser) answer { return f.request(t, http.MethodGet, "/api/v1/sessions", "", b.without()...) }
	requireOver := func(b browser) {
		problem := f.requireProblem(t, read(b), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
		require.Contains(t, problem.Detail, "log in again")
		require.Equal(t, meResponse{AuthRequired: true, Scopes: []tarsy.Scope{}, Visibility: everySession()}, get[meResponse](t, f, "/api/v1/me", b.without()...))
	}

	revoked, header := f.key(t, "revoked", tarsy.ScopeRead)
	b := f.login(t, header)
	require.Equal(t, http.StatusOK, read(b).status)
	_, err := f.accounts.RevokeKey(t.Context(), revoked.ID, f.clock.Now())
	require.NoError(t, err)
	requireOver(b)

	_, key := f.key(t, "ada", tarsy.ScopeRead)
	b = f.login(t, key)
	f.clock.Advance(week - time.Second)
	require.Equal(t, http.StatusOK, read(b).status)
	f.clock.Advance(time.Second)
	requireOver(b)

	b, other := f.login(t, key), f.login(t, key)
	require.Len(t, f.stored(t), 2, "a login forgets the sessions that are past their time")
	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/logout", "", b.without()...), http.StatusForbidden, tarsy.CodeCSRFFailed)
	require.Equal(t, http.StatusOK, read(b).status)

	got := f.request(t, http.MethodPost, "/api/v1/logout", "", b.headers()...)
	require.Equal(t, http.StatusNoContent, got.status, got.body)
	require.Negative(t, cookieOf(t, got).MaxAge)
	require.Empty(t, cookieOf(t, got).Value)
	requireOver(b)
	require.Equal(t, http.StatusOK, read(other).status)

	again := f.request(t, http.MethodPost, "/api/v1/logout", "", b.headers()...)
	require.Equal(t, http.StatusNoContent, again.status, "a browser whose session is over may say so too")
}

func TestLoginEndsPreviousBrowserSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, ada := f.key(t, "ada", tarsy.ScopeRead)
	_, bob := f.key(t, "bob", tarsy.ScopeRead)
	first := f.login(t, ada)
	second := f.login(t, bob, first.without()...)

	require.Equal(t, "bob", second.me.Name)
	require.Equal(t, http.StatusUnauthorized, f.request(t, http.MethodGet, "/health", "", first.without()...).status)
	require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/health", "", second.without()...).status)
}

func TestWithoutAuthEveryoneHasAccessAndLoginSetsName(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	everything := []tarsy.Scope{tarsy.ScopeRead, tarsy.ScopeWrite, tarsy.ScopeAdmin}
	require.Equal(t, meResponse{Authenticated: true, Name: "api-client", Role: tarsy.RoleAdmin, Scopes: everything, Visibility: everySession()}, get[meResponse](t, f, "/api/v1/me"))

	owner, key := f.key(t, "ada", tarsy.ScopeRead)
	b := f.login(t, key)
	require.Equal(t, meResponse{Authenticated: true, Name: "ada", ID: owner.ID, Role: tarsy.RoleAdmin, Scopes: everything, Visibility: everySession(), CSRFToken: b.me.CSRFToken}, b.me)
	require.Equal(t, "ada", f.authorOf(t, b.headers()...))
	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/alerts", `{}`, b.without()...), http.StatusForbidden, tarsy.CodeCSRFFailed)

	f.clock.Advance(week)
	require.Equal(t, "api-client", f.authorOf(t, b.without()...), "a cookie that is over is as none")

	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/me", "", "Host", "evil.example"), http.StatusForbidden, tarsy.CodeForbiddenOrigin)
}

func TestMalformedSecretIsNotLookedUp(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, err := f.connect(t).Exec(t.Context(), `ALTER TABLE browser_sessions RENAME TO lost_sessions`)
	require.NoError(t, err)

	for _, value := range []string{"", "x", strings.Repeat("A", 52), strings.Repeat("a", 53), `"` + strings.Repeat("a", 50) + `"`} {
		f.requireProblem(t, f.request(t, http.MethodGet, "/health", "", "Cookie", "tarsy_session="+value),
			http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}

	// A cookie of the right form must be looked up, and a failed lookup is not a refusal.
	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/me", "", "Cookie", "tarsy_session="+strings.Repeat("a", 52)),
		http.StatusServiceUnavailable, tarsy.CodeUnavailable)
}
