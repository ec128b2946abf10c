package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// browser keeps cookies as browsers do, and sends the headers that they send with requests of a page's script.
type browser struct {
	app    *tarsytest.App
	client *http.Client
	origin string
	token  string
}

func newBrowser(t *testing.T, app *tarsytest.App) *browser {
	t.Helper()

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)

	return &browser{app: app, client: &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}, origin: app.URL}
}

// ask sends a request with the token that the page knows.
func (b *browser) ask(t *testing.T, method, path string, body any) tarsytest.Response {
	t.Helper()

	text, err := json.Marshal(body)
	require.NoError(t, err)

	request, err := http.NewRequestWithContext(t.Context(), method, b.app.URL+path, bytes.NewReader(text))
	require.NoError(t, err)

	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Csrf-Token", b.token)

	if method != http.MethodGet {
		request.Header.Set("Origin", b.origin)
	}

	response, err := b.client.Do(request)
	require.NoError(t, err)

	defer func() { require.NoError(t, response.Body.Close()) }()

	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return tarsytest.Response{Status: response.StatusCode, Header: response.Header, Body: raw}
}

// me returns the server's view of the browser's user, and keeps the token.
func (b *browser) me(t *testing.T) map[string]any {
	t.Helper()

	answer := b.ask(t, http.MethodGet, "/api/v1/me", nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)

	fields := decode[map[string]any](answer.Body)
	b.token, _ = fields["csrf_token"].(string)

	return fields
}

func (b *browser) login(t *testing.T, key string) {
	t.Helper()

	answer := b.ask(t, http.MethodPost, "/api/v1/login", map[string]any{"key": key})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	b.token, _ = decode[map[string]any](answer.Body)["csrf_token"].(string)
	require.NotEmpty(t, b.token)
}

// header returns the headers of the browser's WebSocket request.
func (b *browser) header(t *testing.T) http.Header {
	t.Helper()

	address, err := url.Parse(b.app.URL)
	require.NoError(t, err)

	header := http.Header{"Origin": {b.origin}}
	for _, cookie := range b.client.Jar.Cookies(address) {
		header.Add("Cookie", cookie.Name+"="+cookie.Value)
	}

	return header
}

func requireRefused(t *testing.T, answer tarsytest.Response, status int, code tarsy.Code) {
	t.Helper()
	require.Equal(t, status, answer.Status, "%s", answer.Body)
	require.Equal(t, string(code), answer.Problem(t).Code)
}

func TestBrowserLogsInWatchesAndLogsOut(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true})
	page := newBrowser(t, app)

	requireRefused(t, page.ask(t, http.MethodGet, "/api/v1/sessions", nil), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	everything := equal(map[string]any{"limited": false, "teams": []any{}})
	requireFields(t, "me", page.me(t), map[string]is{
		"visibility": everything, "auth_required": equal(true), "authenticated": equal(false), "name": equal(""), "id": equal(""), "role": equal(""), "scopes": list(0), "csrf_token": equal(""),
	})

	page.login(t, app.Key("ada", tarsy.ScopeWrite))
	requireFields(t, "me", page.me(t), map[string]is{
		"visibility":    everything,
		"auth_required": equal(true), "authenticated": equal(true), "name": equal("ada"), "id": isID, "role": equal("responder"), "scopes": equal([]any{"read", "write"}),
		"csrf_token": equal(page.token),
	})
	require.Equal(t, http.StatusOK, page.ask(t, http.MethodGet, "/api/v1/sessions", nil).Status)

	// Without the token nothing can be changed, despite the cookie.
	forged := *page
	forged.token = ""
	alert := map[string]any{"alert_type": "test", "data": "by a browser"}
	requireRefused(t, forged.ask(t, http.MethodPost, "/api/v1/alerts", alert), http.StatusForbidden, tarsy.CodeCSRFFailed)

	foreign := *page
	foreign.origin = "http://localhost:1"
	requireRefused(t, foreign.ask(t, http.MethodPost, "/api/v1/alerts", alert), http.StatusForbidden, tarsy.CodeForbiddenOrigin)
	require.Empty(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM sessions`))

	// The cookie alone authenticates a WebSocket. Browsers send it for pages of other origins too, so those are refused.
	socket, refusal := app.DialSocket(foreign.header(t))
	require.Nil(t, socket)
	requireRefused(t, refusal, http.StatusForbidden, tarsy.CodeForbiddenOrigin)

	gate := script.NewGate()
	app.Script.Add(script.Reply{Text: "Analysed.", Gate: gate}, says("Summed up."))
	accepted := page.ask(t, http.MethodPost, "/api/v1/alerts", alert)
	require.Equal(t, http.StatusAccepted, accepted.Status, "%s", accepted.Body)

	socket, refusal = app.DialSocket(page.header(t))
	require.NotNil(t, socket, "%s", refusal.Body)
	session := strings.TrimPrefix(accepted.Header.Get("Location"), "/api/v1/sessions/")
	socket.Subscribe(tarsy.SessionChannel(session))
	gate.Open()
	socket.WaitStatus("completed")

	events := page.ask(t, http.MethodGet, "/api/v1/sessions/"+session+"/events", nil)
	require.Equal(t, http.StatusOK, events.Status)
	require.Contains(t, string(events.Body), "event: end\n")
	require.Equal(t, "ada", decode[tarsy.SessionDetail](page.ask(t, http.MethodGet, "/api/v1/sessions/"+session, nil).Body).Author)

	left := page.header(t)
	require.Equal(t, http.StatusNoContent, page.ask(t, http.MethodPost, "/api/v1/logout", nil).Status)
	require.Empty(t, page.header(t).Get("Cookie"), "the browser forgets the cookie")
	requireRefused(t, app.Do(http.MethodGet, "/api/v1/sessions", nil, "Cookie", left.Get("Cookie")), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	require.Equal(t, false, page.me(t)["authenticated"])
}

func TestBrowserSessionEndsWithItsKeyAndAfterOneWeekOnEveryServer(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{RequireKey: true, Clock: clock})
	other := tarsytest.New(t, tarsytest.Options{RequireKey: true, Clock: clock, Database: app.Database})
	admin := app.Key("admin", tarsy.ScopeAdmin)
	read := func(b *browser) int {
		b.app = other

		return b.ask(t, http.MethodGet, "/api/v1/sessions", nil).Status
	}

	revoked, expired := newBrowser(t, app), newBrowser(t, app)
	revoked.login(t, app.Key("ada", tarsy.ScopeRead))
	expired.login(t, app.Key("bob", tarsy.ScopeRead))
	require.Equal(t, http.StatusOK, read(revoked))

	keys := decode[struct {
		Keys []tarsy.APIKey `json:"keys"`
	}](app.Do(http.MethodGet, "/api/v1/keys", nil, "Authorization", "Bearer "+admin).Body).Keys
	require.Equal(t, "ada", keys[1].Name)
	require.Equal(t, http.StatusOK, app.Do(http.MethodDelete, "/api/v1/keys/"+keys[1].ID, nil, "Authorization", "Bearer "+admin).Status)
	require.Equal(t, http.StatusUnauthorized, read(revoked))

	socket, refusal := app.DialSocket(revoked.header(t))
	require.Nil(t, socket)
	requireRefused(t, refusal, http.StatusUnauthorized, tarsy.CodeUnauthenticated)

	clock.Advance(7*24*time.Hour - time.Second)
	require.Equal(t, http.StatusOK, read(expired))
	clock.Advance(time.Second)
	require.Equal(t, http.StatusUnauthorized, read(expired))
	require.Equal(t, map[string]any{
		"auth_required": true, "authenticated": false, "name": "", "id": "", "role": "", "scopes": []any{}, "csrf_token": "",
		"visibility": map[string]any{"limited": false, "teams": []any{}},
	}, expired.me(t))

	newBrowser(t, app).login(t, admin)
	require.Len(t, tarsytest.Rows[struct{ KeyID string }](app, `SELECT key_id FROM browser_sessions`), 1, "a login forgets what is over")
}

func TestDashboardIsServedWithoutKey(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true})

	for _, path := range []string{"/", "/sessions/" + ident.New() + "?event=1"} {
		answer := app.Do(http.MethodGet, path, nil, "Accept", "text/html")
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
		require.Equal(t, "text/html; charset=utf-8", answer.Header.Get("Content-Type"))
		require.Contains(t, answer.Header.Get("Content-Security-Policy"), "script-src 'self';")
		require.NotContains(t, string(answer.Body), "__CSP_NONCE__")
	}

	requireRefused(t, app.Do(http.MethodGet, "/sessions", nil, "Accept", "*/*"), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	requireRefused(t, app.Do(http.MethodGet, "/api/v1/nothing", nil, "Accept", "text/html"), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
}

func TestDashboardWorksBehindProxyThatRewritesHost(t *testing.T) {
	t.Parallel()

	const public = "http://tarsy.example:8443"

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true, Config: "system: {dashboard_url: '" + public + "/'}\n" + oneAgent})
	app.Script.Add(says("Analysed."), says("Summed up."))

	// The proxy keeps the page's origin and replaces the host by the server's own.
	page := newBrowser(t, app)
	page.origin = public
	page.login(t, app.Key("ada", tarsy.ScopeWrite))

	accepted := page.ask(t, http.MethodPost, "/api/v1/alerts", map[string]any{"alert_type": "test", "data": "x"})
	require.Equal(t, http.StatusAccepted, accepted.Status, "%s", accepted.Body)

	fields := decode[map[string]any](accepted.Body)
	id, _ := fields["session_id"].(string)
	require.Equal(t, public+"/sessions/"+id, fields["session_url"])

	socket, refusal := app.DialSocket(page.header(t))
	require.NotNil(t, socket, "%s", refusal.Body)
	socket.Subscribe(tarsy.SessionChannel(id))
	socket.WaitStatus("completed")
	socket.Close()
}
