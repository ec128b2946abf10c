package api_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/origin"
)

// behindProxy configures a server that trusts a proxy on this machine.
func behindProxy(cfg *api.Config) {
	cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// at configures the address of the dashboard.
func at(t *testing.T, address string) func(*api.Config) {
	t.Helper()

	public, err := url.Parse(address)
	require.NoError(t, err)

	return func(cfg *api.Config) { cfg.PublicURL = public }
}

func TestHostIsCheckedBehindLoopbackProxyWithoutKeys(t *testing.T) {
	t.Parallel()

	status := func(f *fixture, host string) int {
		return f.request(t, http.MethodGet, "/api/v1/sessions", "", "Host", host, "X-Forwarded-For", "192.0.2.1").status
	}

	f := newFixture(t, behindProxy)
	for host, want := range map[string]int{
		"evil.example": http.StatusForbidden, "tarsy.example": http.StatusForbidden,
		"localhost:8080": http.StatusOK, "127.0.0.1": http.StatusOK, "[::1]:8080": http.StatusOK,
	} {
		require.Equal(t, want, status(f, host), host)
	}

	f = newFixture(t, behindProxy, at(t, "https://tarsy.example/"))
	for host, want := range map[string]int{
		"tarsy.example": http.StatusOK, "TARSY.example.:443": http.StatusOK, "localhost": http.StatusOK,
		"evil.example": http.StatusForbidden, "tarsy.example.evil.example": http.StatusForbidden,
	} {
		require.Equal(t, want, status(f, host), host)
	}
}

func TestLoginWorksBehindProxyThatRewritesHost(t *testing.T) {
	t.Parallel()

	// On a plain HTTP page a browser sends no Sec-Fetch-Site: only the origin identifies the page.
	for _, address := range []string{"https://tarsy.example", "http://tarsy.example:8443/behind/a/path"} {
		f := newFixture(t, locked, at(t, address))
		_, key := f.key(t, "ada", tarsy.ScopeWrite)
		page := origin.Of(must(t)(url.Parse(address)))

		b := f.login(t, key, "Origin", page)
		require.Equal(t, page == address, b.cookie.Secure, "%s: the cookie of an HTTPS page is for HTTPS only", address)

		alert := `{"alert_type":"kubernetes","data":"x"}`
		submitted := f.request(t, http.MethodPost, "/api/v1/alerts", alert, b.headers("Origin", page)...)
		require.Equal(t, http.StatusAccepted, submitted.status, submitted.body)

		// The origin is not enough: the token is still required.
		got := f.request(t, http.MethodPost, "/api/v1/alerts", alert, b.without("Origin", page)...)
		f.requireProblem(t, got, http.StatusForbidden, tarsy.CodeCSRFFailed)

		for _, foreign := range []string{"https://evil.example", "null", page + "0", "ftp://tarsy.example"} {
			got := f.request(t, http.MethodPost, "/api/v1/login", `{"key":"`+secretOf(key)+`"}`, "Origin", foreign)
			f.requireProblem(t, got, http.StatusForbidden, tarsy.CodeForbiddenOrigin)
		}
	}
}

func must(t *testing.T) func(*url.URL, error) *url.URL {
	t.Helper()

	return func(u *url.URL, err error) *url.URL {
		require.NoError(t, err)

		return u
	}
}

func TestSessionLinksStartWithDashboardURL(t *testing.T) {
	t.Parallel()

	type links struct {
		SessionID  string `json:"session_id"`
		SessionURL string `json:"session_url"`
		Status     string `json:"status"`
		Message    string `json:"message"`
	}

	const alert = `{"alert_type":"kubernetes","data":"x"}`

	f := newFixture(t, at(t, "https://ops.example/tarsy/"))
	submitted := decode[links](t, f.request(t, http.MethodPost, "/api/v1/alerts", alert))
	page := "https://ops.example/tarsy/sessions/" + submitted.SessionID
	require.Equal(t, page, submitted.SessionURL)

	again := decode[links](t, f.request(t, http.MethodPost, "/api/v1/sessions/"+submitted.SessionID+"/rerun", ""))
	require.Equal(t, "https://ops.example/tarsy/sessions/"+again.SessionID, again.SessionURL)

	export := "/api/v1/sessions/" + submitted.SessionID + "/export"
	require.Equal(t, page, get[tarsy.Export](t, f, export).SessionURL)
	require.Contains(t, f.request(t, http.MethodGet, export+"?format=markdown", "").body, "| Dashboard | <"+page+"> |")

	f = newFixture(t)
	submitted = decode[links](t, f.request(t, http.MethodPost, "/api/v1/alerts", alert))
	export = "/api/v1/sessions/" + submitted.SessionID + "/export"

	require.Empty(t, submitted.SessionURL)
	require.NotContains(t, f.request(t, http.MethodGet, export, "").body, "session_url")
	require.NotContains(t, f.request(t, http.MethodGet, export+"?format=markdown", "").body, "Dashboard")
}
