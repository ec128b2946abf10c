package api_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
)

// fewLogins configures a server that allows three attempts per minute, behind a proxy on this machine.
func fewLogins(cfg *api.Config) {
	cfg.Auth.Required = true
	cfg.Login.AttemptsPerMinute = 3
	cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
}

func TestLoginAttemptsAreLimitedPerAddress(t *testing.T) {
	t.Parallel()

	f := newFixture(t, fewLogins)
	try := func(forwarded string) answer {
		return f.request(t, http.MethodPost, "/api/v1/login", `{"key":"tarsy_wrong"}`, "X-Forwarded-For", forwarded)
	}

	for range 3 {
		require.Equal(t, http.StatusUnauthorized, try("192.0.2.1").status)
	}

	// What a client wrote itself, to the left of the proxies' entries, gives it no new attempts.
	for _, forwarded := range []string{"192.0.2.1", "198.51.100.9, 192.0.2.1", "198.51.100.9, 192.0.2.1, 10.1.1.1"} {
		got := try(forwarded)
		f.requireProblem(t, got, http.StatusTooManyRequests, tarsy.CodeTooManyRequests)
		require.Equal(t, "20", got.header.Get("Retry-After"))
	}

	require.Equal(t, http.StatusUnauthorized, try("192.0.2.2").status)
	require.Contains(t, f.log.String(), "login refused, too many attempts from one address")
	require.Contains(t, f.log.String(), "address=192.0.2.1")

	f.clock.Advance(20 * time.Second)
	require.Equal(t, http.StatusUnauthorized, try("192.0.2.1").status)
}

func TestForwardedAddressFromUntrustedPeerIsIgnored(t *testing.T) {
	t.Parallel()

	f := newFixture(t, fewLogins, func(cfg *api.Config) { cfg.TrustedProxies = nil })

	for _, address := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"} {
		got := f.request(t, http.MethodPost, "/api/v1/login", `{"key":"tarsy_wrong"}`, "X-Forwarded-For", address)
		require.Equal(t, http.StatusUnauthorized, got.status)
	}

	got := f.request(t, http.MethodPost, "/api/v1/login", `{"key":"tarsy_wrong"}`, "X-Forwarded-For", "192.0.2.4")
	f.requireProblem(t, got, http.StatusTooManyRequests, tarsy.CodeTooManyRequests)
}

func TestLoginsAreLimitedPerKey(t *testing.T) {
	t.Parallel()

	f := newFixture(t, fewLogins)
	_, ada := f.key(t, "ada", tarsy.ScopeRead)
	_, bob := f.key(t, "bob", tarsy.ScopeRead)

	for _, address := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"} {
		f.login(t, ada, "X-Forwarded-For", address)
	}

	got := f.request(t, http.MethodPost, "/api/v1/login", `{"key":"`+secretOf(ada)+`"}`, "X-Forwarded-For", "192.0.2.4")
	f.requireProblem(t, got, http.StatusTooManyRequests, tarsy.CodeTooManyRequests)
	f.login(t, bob, "X-Forwarded-For", "192.0.2.5")
}

func TestBrowserSessionsPerKeyAreLimited(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, func(cfg *api.Config) { cfg.Login.SessionsPerKey = 2 })
	_, key := f.key(t, "ada", tarsy.ScopeRead)

	var browsers []browser
	for range 3 {
		browsers = append(browsers, f.login(t, key))
		f.clock.Advance(time.Second)
	}

	for i, want := range []int{http.StatusUnauthorized, http.StatusOK, http.StatusOK} {
		require.Equal(t, want, f.request(t, http.MethodGet, "/api/v1/sessions", "", browsers[i].headers()...).status)
	}
}
