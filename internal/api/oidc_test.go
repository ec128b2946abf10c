package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/auth"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
)

const userIssuer = "https://id.example.com"

// withIssuer configures a server whose users log in at an issuer. Its WebSocket returns the identity that limits are counted by.
func withIssuer(cfg *api.Config) {
	locked(cfg)
	cfg.Auth.Users = &api.Users{Issuer: userIssuer, Groups: map[tarsy.AccessRole][]string{tarsy.RoleResponder: {"sre"}}}
	cfg.WebSocket = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, api.KeyOf(r)) })
}

// loggedIn returns the headers of a browser in which a user is logged in.
func (f *fixture) loggedIn(t *testing.T, subject, name string, groups ...string) []string {
	t.Helper()

	issued, now := auth.NewBrowserSecret(), f.clock.Now()
	user := accountstore.BrowserUser{Issuer: userIssuer, Subject: subject, Name: name, Groups: groups}
	require.NoError(t, f.accounts.CreateUserSession(t.Context(), issued.Hash, user, issued.CSRFToken, now, now.Add(time.Hour), 0))

	return []string{"Cookie", "tarsy_session=" + issued.Secret, "X-CSRF-Token", issued.CSRFToken}
}

func TestLimitsCountUsersByIdentityNotByName(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withIssuer)
	owner := func(headers []string) string {
		answer := f.request(t, http.MethodGet, "/api/v1/ws", "", headers...)
		require.Equal(t, http.StatusOK, answer.status, answer.body)
		require.Regexp(t, `^user:[0-9a-f]{32}$`, answer.body)

		return answer.body
	}

	ada, again, twin := f.loggedIn(t, "1", "ada", "sre"), f.loggedIn(t, "1", "Ada L.", "sre"), f.loggedIn(t, "2", "ada", "sre")
	require.Equal(t, owner(ada), owner(again), "the same person")
	require.NotEqual(t, owner(ada), owner(twin), "another one of the same name")

	// An idempotency key belongs to its user.
	submit := func(headers []string) string {
		answer := f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, append(headers, "Idempotency-Key", "1")...)
		require.Equal(t, http.StatusAccepted, answer.status, answer.body)

		return answer.header.Get("Location")
	}
	first := submit(ada)
	require.Equal(t, first, submit(f.loggedIn(t, "1", "ada", "sre")), "of the same user, in another browser")
	require.NotEqual(t, first, submit(twin))
}

func TestUserSessionCountsBeforeTheUserOfAProxy(t *testing.T) {
	t.Parallel()

	f := newFixture(t, func(cfg *api.Config) {
		withIssuer(cfg)
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		cfg.Auth.Users.Proxy = true
	})

	headers := append(f.loggedIn(t, "1", "ada", "nothing"), "X-Forwarded-User", "rob", "X-Forwarded-Groups", "sre")
	answer := f.request(t, http.MethodGet, "/api/v1/sessions", "", headers...)
	require.Equal(t, http.StatusForbidden, answer.status)
	require.Contains(t, answer.body, `\"ada\" has no role here`, "a proxy does not lend its role")
}
