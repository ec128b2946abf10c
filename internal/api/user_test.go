package api_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
)

// withUsers configures a server that accepts the users of a proxy on this machine.
func withUsers(cfg *api.Config) {
	locked(cfg)
	behindProxy(cfg)

	cfg.Auth.Users = &api.Users{Proxy: true, Groups: map[tarsy.AccessRole][]string{
		tarsy.RoleAdmin: {"leads"}, tarsy.RoleResponder: {"sre", "oncall"}, tarsy.RoleViewer: {"staff"},
	}}
}

// user returns the headers of a user of the proxy.
func user(name, groups string, more ...string) []string {
	return append([]string{"X-Forwarded-User", name, "X-Forwarded-Groups", groups}, more...)
}

func TestProxyUserIsLimitedToRoleOfGroupsOnEveryRoute(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withUsers)
	roles := []string{"none", "viewer", "responder", "admin"}

	for groups, role := range map[string]string{"other, staff": "viewer", "staff,sre": "responder", "leads,staff": "admin", "": "none", "Leads": "none"} {
		for _, o := range f.operations(t) {
			body := ""
			if o.hasBody() {
				body = "{}"
			}

			got := f.request(t, o.method, o.path, body, user("ada", groups)...)
			if slices.Index(roles, o.role) <= slices.Index(roles, role) {
				require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, got.status, "%s may %s %s", role, o.method, o.path)

				continue
			}

			detail := f.requireProblem(t, got, http.StatusForbidden, tarsy.CodeForbidden).Detail

			if role == "none" {
				require.Contains(t, detail, "no role")
			} else {
				require.Contains(t, detail, "has the role "+role+"; this needs the role "+o.role)
			}
		}
	}
}

func TestMeShowsProxyUserAndRole(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withUsers, func(cfg *api.Config) { cfg.Auth.Users.Default = tarsy.RoleViewer })

	me := get[meResponse](t, f, "/api/v1/me", user("ada", "sre")...)
	require.Equal(t, meResponse{AuthRequired: true, Authenticated: true, Name: "ada", ID: "user:ada", Role: tarsy.RoleResponder, Scopes: []tarsy.Scope{"read", "write"}, Visibility: everySession()}, me)
	require.Equal(t, tarsy.RoleViewer, get[meResponse](t, f, "/api/v1/me", user("bob", "")...).Role, "the default role")
	require.False(t, get[meResponse](t, f, "/api/v1/me").Authenticated)

	_, key := f.key(t, "ci", tarsy.ScopeAdmin)
	require.Equal(t, tarsy.RoleAdmin, get[meResponse](t, f, "/api/v1/me", append(key, user("ada", "staff")...)...).Role, "a key has its own role")
}

func TestUserHeadersFromElsewhereAreIgnored(t *testing.T) {
	t.Parallel()

	for name, option := range map[string]func(*api.Config){
		"untrusted peer": func(cfg *api.Config) { cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} },
		"not configured": func(cfg *api.Config) { cfg.Auth.Users = nil },
	} {
		f := newFixture(t, withUsers, option)
		headers := user("ada", "leads", "X-Forwarded-For", "10.0.0.1")

		f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions", "", headers...), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
		require.False(t, get[meResponse](t, f, "/api/v1/me", headers...).Authenticated, name)
	}
}

func TestInvalidKeyIsNotReplacedByProxyUser(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withUsers)
	key, revoked := f.key(t, "old", tarsy.ScopeAdmin)
	_, err := f.accounts.RevokeKey(t.Context(), key.ID, f.clock.Now())
	require.NoError(t, err)

	unknown := []string{"Authorization", "Bearer tarsy_abcdefgh_" + strings.Repeat("a", 52)}
	for _, headers := range [][]string{revoked, unknown} {
		got := f.request(t, http.MethodGet, "/api/v1/sessions", "", append(headers, user("ada", "leads")...)...)
		f.requireProblem(t, got, http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}

	got := f.request(t, http.MethodGet, "/api/v1/sessions", "", user("ada", "leads", "Authorization", "Bearer eyJhbGciOi.x.y")...)
	require.Equal(t, http.StatusOK, got.status, "the proxy's own token is not ours")
}

func TestCrossSiteRequestOfProxyUserIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withUsers, at(t, "https://tarsy.example"))
	post := func(headers ...string) answer {
		return f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, user("ada", "sre", headers...)...)
	}

	for _, headers := range [][]string{
		{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site", "Origin", "https://other.example"}, {"Origin", "null"},
	} {
		f.requireProblem(t, post(headers...), http.StatusForbidden, tarsy.CodeForbiddenOrigin)
	}

	require.Equal(t, http.StatusAccepted, post("Origin", "https://tarsy.example", "Sec-Fetch-Site", "same-origin").status, "the dashboard")
	require.Equal(t, http.StatusAccepted, post().status, "a program behind the proxy")
}

func TestProxyUserWatchesStreams(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withUsers)
	require.Equal(t, "websocket ", f.request(t, http.MethodGet, "/api/v1/ws", "", user("ada", "staff")...).body)
}
