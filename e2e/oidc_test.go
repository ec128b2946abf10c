package e2e

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/mock/issuer"
	"tarsy.dev/tarsy/tarsytest"
)

func TestUserLogsInWithOIDCActsAndLogsOut(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	page := newBrowser(t, s.app)
	require.Equal(t, map[string]any{"label": "Log in with Example", "url": oidcLogin}, page.me(t)["oidc"])

	requireLogin(t, page.sso(t, "rob", "/sessions/1?event=2"), "/sessions/1?event=2")

	who := page.me(t)
	require.Equal(t, "rob@example.com", who["name"])
	require.Equal(t, "responder", who["role"])
	require.NotContains(t, who, "oidc", "who is logged in needs no button")

	// Only the session cookie is left, and requests that change something need the token too.
	require.Contains(t, page.header(t).Get("Cookie"), "tarsy_session=")
	require.NotContains(t, page.header(t).Get("Cookie"), "tarsy_login")

	s.app.Script.Add(says("Analysed."), says("Summed up."))

	alert := map[string]any{"alert_type": "test", "data": "by a user"}
	forged := *page
	forged.token = ""
	requireRefused(t, forged.ask(t, http.MethodPost, "/api/v1/alerts", alert), http.StatusForbidden, tarsy.CodeCSRFFailed)

	accepted := page.ask(t, http.MethodPost, "/api/v1/alerts", alert)
	require.Equal(t, http.StatusAccepted, accepted.Status, "%s", accepted.Body)
	session := strings.TrimPrefix(accepted.Header.Get("Location"), "/api/v1/sessions/")
	require.Equal(t, "rob@example.com", decode[tarsy.SessionDetail](page.ask(t, http.MethodGet, "/api/v1/sessions/"+session, nil).Body).Author)
	require.Equal(t, http.StatusCreated, page.ask(t, http.MethodPost, "/api/v1/tags", map[string]any{"name": "seen"}).Status)

	left := page.header(t)
	require.Equal(t, http.StatusNoContent, page.ask(t, http.MethodPost, "/api/v1/logout", nil).Status)
	requireRefused(t, s.app.Do(http.MethodGet, "/api/v1/sessions", nil, "Cookie", left.Get("Cookie")), http.StatusUnauthorized, tarsy.CodeUnauthenticated)

	type row struct{ action, actor, target, outcome string }

	s.app.Token = s.app.Key("root", tarsy.ScopeAdmin)

	var rows []row

	for _, r := range auditLog(t, s.app) {
		require.Equal(t, tarsy.ActorOIDC, r.ActorKind)
		require.Equal(t, tarsy.RoleResponder, r.Role)
		require.Empty(t, r.KeyID)

		rows = append(rows, row{r.Action, r.Actor, r.TargetType + " " + r.TargetID, r.Outcome})
	}

	require.Equal(t, []row{
		{"user.login", "rob@example.com", "user rob", "ok"},
		{"alert.submit", "rob@example.com", "session ", "csrf_failed"},
		{"tag.create", "rob@example.com", "tag seen", "ok"},
		{"browser.logout", "rob@example.com", "user rob", "ok"},
	}, rows)

	s.app.WaitFor(session, tarsy.SessionCompleted)
}

func TestOIDCLoginFailsIfTheIssuerMisbehaves(t *testing.T) {
	t.Parallel()

	s := newSSO(t)

	for _, c := range []struct {
		fault issuer.Fault
		code  tarsy.Code
	}{
		{issuer.KeysDown, tarsy.CodeOIDCUnavailable}, // before the keys are known
		{issuer.WrongNonce, tarsy.CodeLoginFailed},
		{issuer.WrongAudience, tarsy.CodeLoginFailed},
		{issuer.OtherParty, tarsy.CodeLoginFailed},
		{issuer.WrongIssuer, tarsy.CodeLoginFailed},
		{issuer.Expired, tarsy.CodeLoginFailed},
		{issuer.NoSubject, tarsy.CodeLoginFailed},
		{issuer.Unsigned, tarsy.CodeLoginFailed},
		{issuer.NoToken, tarsy.CodeLoginFailed},
		{issuer.Huge, tarsy.CodeLoginFailed},
		{issuer.OtherKey, tarsy.CodeLoginFailed},
		{issuer.TokenMoved, tarsy.CodeOIDCUnavailable},
		{issuer.TokenDown, tarsy.CodeOIDCUnavailable},
	} {
		page := newBrowser(t, s.app)
		s.issuer.Misbehave(c.fault)
		shown := page.sso(t, "ada", "/alerts")
		s.requireRefusal(t, page, shown, string(c.code))
		require.Equal(t, "/alerts", shown.url.Query().Get("next"), c.fault)
	}

	// Every refusal is recorded, with an anonymous actor, and without what was exchanged.
	s.app.Token = s.app.Key("root", tarsy.ScopeAdmin)
	rows := auditLog(t, s.app)
	require.Len(t, rows, 13)
	require.Equal(t, "user.login", rows[0].Action)
	require.Equal(t, "oidc_unavailable", rows[0].Outcome)
	require.Equal(t, "login_failed", rows[1].Outcome)
	require.Equal(t, tarsy.ActorAnonymous, rows[0].ActorKind)
	require.Empty(t, rows[0].Details)

	s.issuer.Misbehave(issuer.None)

	page := newBrowser(t, s.app)
	requireLogin(t, page.sso(t, "ada", "/alerts"), "/alerts")
	require.Equal(t, "admin", page.me(t)["role"])
}

func TestOIDCLoginSucceedsAfterKeyRotation(t *testing.T) {
	t.Parallel()

	s := newSSO(t)

	for range 2 {
		requireLogin(t, newBrowser(t, s.app).sso(t, "ada", ""), "/")
		s.issuer.Rotate()
	}

	require.Equal(t, 1, s.issuer.Discoveries())
}

func TestOIDCCallbackOfAnotherBrowserOrASecondTimeIsRefused(t *testing.T) {
	t.Parallel()

	s := newSSO(t)

	// A link can carry the response to somebody else's login.
	attacker, victim := newBrowser(t, s.app), newBrowser(t, s.app)
	link := attacker.stopAtCallback(t, "ada")
	s.requireRefusal(t, victim, victim.navigate(t, http.MethodGet, link, nil), "login_expired")

	_, _ = victim.beginSSO(t, "/")
	s.requireRefusal(t, victim, victim.navigate(t, http.MethodGet, link, nil), "login_failed")
	require.Zero(t, s.issuer.Exchanges(), "a wrong state is not worth a request")

	// The same response is used twice: the first use consumes the attempt, and the code too.
	attempt := attacker.attempt(t)
	requireLogin(t, attacker.navigate(t, http.MethodGet, link, nil), "/")
	s.app.Exec(`DELETE FROM browser_sessions`)
	attacker.forget(t)
	s.requireRefusal(t, attacker, attacker.navigate(t, http.MethodGet, link, nil), "login_expired")

	attacker.plant(t, attempt)
	s.requireRefusal(t, attacker, attacker.navigate(t, http.MethodGet, link, nil), "login_failed")
	require.Equal(t, 2, s.issuer.Exchanges(), "the issuer refuses the second exchange")
}

func TestOIDCCodeIsBoundToTheVerifierOfItsBrowser(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	page := newBrowser(t, s.app)
	link := page.stopAtCallback(t, "ada")

	raw, err := base64.RawURLEncoding.DecodeString(page.attempt(t))
	require.NoError(t, err)

	fields := decode[map[string]any](raw)
	fields["verifier"] = strings.Repeat("x", 43)
	page.plant(t, base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(
		`{"state":%q,"nonce":%q,"verifier":%q,"return_to":"/","at":%q}`, fields["state"], fields["nonce"], fields["verifier"], fields["at"]))))

	s.requireRefusal(t, page, page.navigate(t, http.MethodGet, link, nil), "login_failed")
	require.Equal(t, 1, s.issuer.Exchanges())
}

func TestOIDCLoginThatTakesTooLongOrIsDeniedIsRefused(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	page := newBrowser(t, s.app)
	link := page.stopAtCallback(t, "ada")

	s.clock.Advance(10 * time.Minute)
	s.requireRefusal(t, page, page.navigate(t, http.MethodGet, link, nil), "login_expired")

	address, form := page.beginSSO(t, "/notes")
	form.Set("deny", "true")
	shown := page.navigate(t, http.MethodPost, address, form)
	s.requireRefusal(t, page, shown, "login_denied")
	require.Equal(t, "/notes", shown.url.Query().Get("next"))
	require.Zero(t, s.issuer.Exchanges())
}

func TestOIDCUserWithoutRoleIsRefused(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	page := newBrowser(t, s.app)
	s.requireRefusal(t, page, page.sso(t, "eve", "/"), "no_role")

	s.app.Token = s.app.Key("root", tarsy.ScopeAdmin)
	rows := auditLog(t, s.app)
	require.Len(t, rows, 1)
	require.Equal(t, "eve@example.com", rows[0].Actor)
	require.Equal(t, tarsy.ActorOIDC, rows[0].ActorKind)
	require.Equal(t, "eve", rows[0].TargetID)
	require.Equal(t, "no_role", rows[0].Outcome)
}

func TestOIDCRolesHoldOnEveryRoute(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	needs := map[string]tarsy.AccessRole{"read": tarsy.RoleViewer, "write": tarsy.RoleResponder, "admin": tarsy.RoleAdmin}
	s.app.Token = s.app.Key("root", tarsy.ScopeAdmin)
	operations := readDocument(t, s.app).operations()

	for subject, role := range map[string]tarsy.AccessRole{"ada": tarsy.RoleAdmin, "rob": tarsy.RoleResponder, "vera": tarsy.RoleViewer} {
		page := newBrowser(t, s.app)
		requireLogin(t, page.sso(t, subject, ""), "/")
		require.Equal(t, string(role), page.me(t)["role"])

		refused, read := 0, 0

		for id, op := range operations {
			needed, ok := needs[op.scope()]
			if !ok || id == "websocket" || strings.Contains(op.path, "events") {
				continue
			}

			if !role.Includes(needed) {
				refused++

				requireRefused(t, page.ask(t, op.method, op.address(ident.New(), ident.New()), nil), http.StatusForbidden, tarsy.CodeForbidden)
			} else if op.method == http.MethodGet {
				read++

				answer := page.ask(t, op.method, op.address(ident.New(), ident.New()), nil)
				require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, answer.Status, "%s: %s", id, answer.Body)
			}
		}

		require.NotZero(t, read)
		require.Equal(t, role == tarsy.RoleAdmin, refused == 0, "%s was refused %d times", subject, refused)
	}
}

func TestOIDCRoleFollowsTheConfigurationOfEachServer(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	page := newBrowser(t, s.app)
	requireLogin(t, page.sso(t, "rob", ""), "/")

	page.app = s.server(t, strings.Replace(s.config, "responder: [responders], viewer: [viewers]", "viewer: [viewers]", 1), s.app.Database)
	refused := page.ask(t, http.MethodGet, "/api/v1/sessions", nil)
	requireRefused(t, refused, http.StatusForbidden, tarsy.CodeForbidden)
	require.Contains(t, refused.Problem(t).Detail, `"rob@example.com" has no role here`)
	require.Equal(t, false, page.me(t)["authenticated"])

	page.app = s.server(t, strings.Replace(s.config, "viewer: [viewers]", "viewer: [viewers, responders]", 1), s.app.Database)
	require.Equal(t, "responder", page.me(t)["role"], "the strongest role")

	// A session ends when its issuer is no longer configured.
	page.app = s.server(t, strings.Replace(s.config, s.url, "https://id.example.com", 1), s.app.Database)
	requireRefused(t, page.ask(t, http.MethodGet, "/api/v1/sessions", nil), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	page.app = s.server(t, oneAgent, s.app.Database)
	requireRefused(t, page.ask(t, http.MethodGet, "/api/v1/sessions", nil), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
}

func TestOIDCSessionEndsAfterItsLifetimeWithItsStreams(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	page := newBrowser(t, s.app)
	requireLogin(t, page.sso(t, "vera", ""), "/")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.app.URL+"/api/v1/notes/events", nil)
	require.NoError(t, err)

	stream, err := page.client.Do(request)
	require.NoError(t, err)

	defer func() { _ = stream.Body.Close() }()

	require.Equal(t, http.StatusOK, stream.StatusCode)

	reader := bufio.NewReader(stream.Body)
	_, err = reader.ReadString('\n')
	require.NoError(t, err, "the stream is open")

	s.clock.Advance(12*time.Hour - time.Second)
	require.Equal(t, http.StatusOK, page.ask(t, http.MethodGet, "/api/v1/sessions", nil).Status)
	s.clock.Advance(time.Second)
	requireRefused(t, page.ask(t, http.MethodGet, "/api/v1/sessions", nil), http.StatusUnauthorized, tarsy.CodeUnauthenticated)

	_, err = io.Copy(io.Discard, reader)
	require.NoError(t, err, "the server ends the stream")
}

func TestServerStartsWithoutItsIssuerAndFindsItLater(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	s.issuer.Misbehave(issuer.DiscoveryDown)

	page := newBrowser(t, s.app)
	shown := page.navigate(t, http.MethodGet, s.app.URL+oidcLogin+"?return_to=/board", nil)
	s.requireRefusal(t, page, shown, "oidc_unavailable")
	require.Equal(t, "/board", shown.url.Query().Get("next"))

	// Programs get the problem itself. API keys work all the time.
	requireRefused(t, s.app.Do(http.MethodGet, oidcLogin, nil, "Accept", "application/json"), http.StatusServiceUnavailable, tarsy.CodeOIDCUnavailable)
	page.login(t, s.app.Key("ada", tarsy.ScopeRead))
	page.forget(t)

	s.issuer.Misbehave(issuer.None)
	requireLogin(t, page.sso(t, "ada", ""), "/")
}

func TestOIDCLoginBegunAtOneServerIsFinishedAtAnother(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	other := s.server(t, s.config, s.app.Database)
	config := oidcSystem(s.url, ", redirect_url: '"+other.URL+oidcCallback+"'") + oneAgent
	page := newBrowser(t, s.server(t, config, s.app.Database))
	page.app, other = s.server(t, config, s.app.Database), page.app

	// The redirect URL is the same for all servers; here the test plays the proxy that picks another one.
	link := page.stopAtCallback(t, "rob")
	parsed, err := url.Parse(link)
	require.NoError(t, err)

	shown := page.navigate(t, http.MethodGet, other.URL+parsed.RequestURI(), nil)
	requireLogin(t, shown, "/")
	require.Equal(t, "rob@example.com", page.me(t)["name"], "at the server where it began")

	page.app = other
	require.Equal(t, "rob@example.com", page.me(t)["name"])
}

func TestHostileClaimsOfOIDCUsersGrantNothing(t *testing.T) {
	t.Parallel()

	groups := []any{"ad\x00mins", "admins\n", " admins", "admins\u200b", strings.Repeat("a", 300), 7, nil, map[string]any{"admins": true}, "viewers"}
	for i := range 5000 {
		groups = append(groups, fmt.Sprintf("~group-%d", i))
	}

	s := newSSO(t,
		issuer.Person{Subject: "mallory", Claims: map[string]any{
			"preferred_username": "ro\x00ot\u202e\n" + strings.Repeat("x", 5000), "email": "root", "email_verified": false, "groups": groups,
			"teams": []any{"storage", "\x07"},
		}},
		issuer.Person{Subject: "trudy", Claims: map[string]any{"preferred_username": "root", "groups": "responders"}},
		issuer.Person{Subject: strings.Repeat("s", 300), Claims: map[string]any{"groups": []string{"admins"}}},
	)
	s.app.Token = s.app.Key("root", tarsy.ScopeAdmin)

	page := newBrowser(t, s.app)
	s.requireRefusal(t, page, page.sso(t, strings.Repeat("s", 300), ""), "login_failed")

	requireLogin(t, page.sso(t, "mallory", ""), "/")
	who := page.me(t)
	require.Equal(t, "viewer", who["role"], "no group becomes another one")
	name, _ := who["name"].(string)
	require.True(t, strings.HasPrefix(name, "root xxx"), name)
	require.Len(t, name, 200)

	stored := tarsytest.Rows[struct {
		UserGroups, UserTeams []string
	}](s.app, `SELECT user_groups, user_teams FROM browser_sessions`)
	require.Len(t, stored[0].UserGroups, 1000)
	require.Equal(t, []string{"storage"}, stored[0].UserTeams)

	// The name of an admin's key gives no rights.
	twin := newBrowser(t, s.app)
	requireLogin(t, twin.sso(t, "trudy", ""), "/")
	require.Equal(t, "root", twin.me(t)["name"])
	require.Equal(t, "responder", twin.me(t)["role"])
	requireRefused(t, twin.ask(t, http.MethodGet, "/api/v1/keys", nil), http.StatusForbidden, tarsy.CodeForbidden)
	require.Equal(t, http.StatusCreated, twin.ask(t, http.MethodPost, "/api/v1/tags", map[string]any{"name": "twin"}).Status)

	rows := auditLog(t, s.app)
	last := rows[len(rows)-1]
	require.Equal(t, []any{"root", tarsy.ActorOIDC, "", tarsy.RoleResponder}, []any{last.Actor, last.ActorKind, last.KeyID, last.Role})
}

func TestOIDCUserHasAsManySessionsAsAKey(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	s.app = s.server(t, strings.Replace(s.config, "system: {", "system: {login: {max_sessions_per_key: 2}, ", 1), "")

	var pages []*browser

	for range 3 {
		pages = append(pages, newBrowser(t, s.app))
		requireLogin(t, pages[len(pages)-1].sso(t, "rob", ""), "/")
		s.clock.Advance(time.Second)
	}

	other := newBrowser(t, s.app)
	requireLogin(t, other.sso(t, "vera", ""), "/")

	for i, page := range append(pages, other) {
		require.Equal(t, i > 0, page.me(t)["authenticated"], i)
	}
}

func TestSecondLoginEndsTheFirstBrowserSession(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	key := s.app.Key("laptop", tarsy.ScopeRead)

	logins := map[string]func(t *testing.T, page *browser){
		"key":  func(t *testing.T, page *browser) { t.Helper(); page.login(t, key) },
		"oidc": func(t *testing.T, page *browser) { t.Helper(); requireLogin(t, page.sso(t, "ada", ""), "/") },
		"oidc of a browser that sends no strict cookies from the issuer's site": func(t *testing.T, page *browser) {
			t.Helper()

			callback, sent := page.stopAtCallback(t, "ada"), page.attempt(t)
			page.forget(t)
			page.plant(t, sent)
			requireLogin(t, page.navigate(t, http.MethodGet, callback, nil), "/")
		},
	}

	for first, begin := range logins {
		for second, repeat := range logins {
			page := newBrowser(t, s.app)
			begin(t, page)

			stolen := &browser{app: page.app, client: &http.Client{Jar: page.copyJar(t)}, origin: page.origin}
			require.Equal(t, true, stolen.me(t)["authenticated"], first)

			repeat(t, page)
			require.Equal(t, true, page.me(t)["authenticated"], "%s, then %s", first, second)
			require.Equal(t, false, stolen.me(t)["authenticated"], "%s, then %s", first, second)
		}
	}
}

func TestOIDCLoginReturnsOnlyToPagesOfTheDashboard(t *testing.T) {
	t.Parallel()

	s := newSSO(t)

	for _, address := range []string{
		"//evil.example", "https://evil.example/", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "/.//evil.example", "/%5cevil.example",
		"/..//evil.example", "javascript:alert(1)", "sessions", "/api/v1/me", "/api/../api/v1/me", "/login?next=/", "/" + strings.Repeat("a", 2000), "/a b", "/\u202e",
	} {
		answer := s.app.Do(http.MethodGet, oidcLogin+"?return_to="+url.QueryEscape(address), nil)
		requireRefused(t, answer, http.StatusBadRequest, tarsy.CodeInvalidParameter)
	}

	for _, address := range []string{"/", "/sessions/1?event=2&q=a%20b", "/board/"} {
		requireLogin(t, newBrowser(t, s.app).sso(t, "ada", address), address)
	}
}

func TestOIDCLoginIsLimitedAndNeedsAnIssuer(t *testing.T) {
	t.Parallel()

	s := newSSO(t)
	page := newBrowser(t, s.server(t, strings.Replace(s.config, "system: {", "system: {login: {attempts_per_minute: 1}, ", 1), ""))
	requireLogin(t, page.sso(t, "ada", ""), "/")

	for _, path := range []string{oidcLogin, oidcCallback + "?state=a&code=b&anything=else"} {
		shown := page.navigate(t, http.MethodGet, page.app.URL+path, nil)
		require.Equal(t, "too_many_requests", shown.url.Query().Get("error"), "%s", shown.url)
	}

	// Without an issuer this login does not exist, and a host name that a stranger sent is not used for the redirect.
	plain := tarsytest.New(t, tarsytest.Options{RequireKey: true})
	requireRefused(t, plain.Do(http.MethodGet, oidcLogin, nil), http.StatusNotFound, tarsy.CodeNotFound)
	requireRefused(t, plain.Do(http.MethodGet, oidcCallback+"?code=a&state=b", nil), http.StatusNotFound, tarsy.CodeNotFound)
	require.NotContains(t, newBrowser(t, plain).me(t), "oidc")
	requireRefused(t, s.app.Do(http.MethodGet, oidcLogin, nil, "Host", "evil.example", "Accept", "application/json"), http.StatusUnauthorized, tarsy.CodeLoginFailed)
}

// stopAtCallback logs a person in at the issuer and returns the address to which the issuer redirects the browser, which does not follow.
func (b *browser) stopAtCallback(t *testing.T, subject string) string {
	t.Helper()

	address, form := b.beginSSO(t, "")
	form.Set("subject", subject)

	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	defer func() { b.client.CheckRedirect = nil }()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	response, err := b.client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	return response.Header.Get("Location")
}

// attempt returns the cookie value of a login in progress.
func (b *browser) attempt(t *testing.T) string {
	t.Helper()

	address, err := url.Parse(b.app.URL + oidcCallback)
	require.NoError(t, err)

	for _, cookie := range b.client.Jar.Cookies(address) {
		if cookie.Name == "tarsy_login" {
			return cookie.Value
		}
	}

	require.Fail(t, "no login has begun")

	return ""
}

// plant sets the cookie of a login in progress.
func (b *browser) plant(t *testing.T, value string) {
	t.Helper()

	address, err := url.Parse(b.app.URL)
	require.NoError(t, err)
	b.client.Jar.SetCookies(address, []*http.Cookie{{Name: "tarsy_login", Value: value, Path: oidcCallback}})
}

// copyJar returns the cookies that the browser would send to its server, as a thief would have them.
func (b *browser) copyJar(t *testing.T) http.CookieJar {
	t.Helper()

	address, err := url.Parse(b.app.URL)
	require.NoError(t, err)

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	jar.SetCookies(address, b.client.Jar.Cookies(address))

	return jar
}

// forget removes all cookies.
func (b *browser) forget(t *testing.T) {
	t.Helper()

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)

	b.client.Jar = jar
}
