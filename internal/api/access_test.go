package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/kit/wait"
)

// endless mounts a stream that ends with its reader's login, or with the reader.
func endless(cfg *api.Config) {
	stream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()

		select {
		case <-api.LoginEnded(r):
			_, _ = w.Write([]byte("ended"))
		case <-r.Context().Done():
		}
	})

	cfg.Auth.Required, cfg.LoginCheckEvery = true, time.Millisecond
	cfg.WebSocket, cfg.Events = stream, stream
}

// watch opens a stream and returns how it ends.
func (f *fixture) watch(t *testing.T, path string, headers ...string) <-chan string {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.http.URL+path, nil)
	require.NoError(t, err)

	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}

	response, err := f.http.Client().Do(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)

	ended := make(chan string, 1)

	go func() {
		defer response.Body.Close()

		text, _ := io.ReadAll(response.Body)
		ended <- string(text)
	}()

	return ended
}

func requireEnded(t *testing.T, stream <-chan string) {
	t.Helper()

	require.Equal(t, "ended", wait.For(t, stream, "the end of the stream"))
}

func TestStreamsEndWithTheirLoginOnEveryServer(t *testing.T) {
	t.Parallel()

	f := newFixture(t, endless)
	// Another server revokes the key: only the database shows it.
	other := api.New(api.Config{Store: f.db, Accounts: f.accounts, WebSocket: plain("ws"), Events: plain("events"), NoteEvents: plain("note events"), Auth: api.AuthConfig{Required: true}, Clock: f.clock})
	server := httptest.NewServer(other.Handler())
	t.Cleanup(server.Close)

	elsewhere := &fixture{http: server}
	_, admin := f.key(t, "root", tarsy.ScopeAdmin)
	revoked, revokedHeader := f.key(t, "revoked", tarsy.ScopeRead)
	_, loggedIn := f.key(t, "ada", tarsy.ScopeRead)
	_, kept := f.key(t, "kept", tarsy.ScopeRead)

	created := f.request(t, http.MethodPost, "/api/v1/keys",
		`{"name":"temporary","scopes":["read"],"expires_at":"`+f.clock.Now().Add(time.Hour).Format(time.RFC3339Nano)+`"}`, admin...)
	require.Equal(t, http.StatusCreated, created.status, created.body)

	temporary := []string{"Authorization", "Bearer " + decode[struct {
		tarsy.APIKey

		Key string `json:"key"`
	}](t, created).Key}
	expiring, keyOwner := f.login(t, temporary), f.login(t, revokedHeader)
	leaving := f.login(t, loggedIn)

	byKey := f.watch(t, "/api/v1/ws", revokedHeader...)
	byBrowserOfKey := f.watch(t, "/api/v1/sessions/x/events", keyOwner.without()...)
	byBrowser := f.watch(t, "/api/v1/ws", leaving.without()...)
	byTemporary := f.watch(t, "/api/v1/ws", temporary...)
	byExpiring := f.watch(t, "/api/v1/ws", expiring.without()...)
	lasting := f.watch(t, "/api/v1/ws", kept...)

	require.Equal(t, http.StatusOK, elsewhere.request(t, http.MethodDelete, "/api/v1/keys/"+revoked.ID, "", admin...).status)
	requireEnded(t, byKey)
	requireEnded(t, byBrowserOfKey)

	require.Equal(t, http.StatusNoContent, elsewhere.request(t, http.MethodPost, "/api/v1/logout", "", leaving.headers()...).status)
	requireEnded(t, byBrowser)

	f.clock.Advance(time.Hour)
	requireEnded(t, byTemporary)
	requireEnded(t, byExpiring)

	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions", "", temporary...), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions", "", expiring.without()...), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	require.Contains(t, f.log.String(), "stream ended with its login")

	select {
	case text := <-lasting:
		require.Fail(t, "a stream of a valid key ended", text)
	default:
	}

	f.http.CloseClientConnections()
}

func TestKeyExpiryMustBeInTheFuture(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, admin := f.key(t, "root", tarsy.ScopeAdmin)

	for _, at := range []string{"tomorrow", f.clock.Now().Format(time.RFC3339Nano), "90d"} {
		got := f.request(t, http.MethodPost, "/api/v1/keys", `{"name":"a","scopes":["read"],"expires_at":"`+at+`"}`, admin...)
		require.Equal(t, "expires_at", f.requireProblem(t, got, http.StatusBadRequest, tarsy.CodeInvalidField).Field)
	}

	require.Len(t, get[struct{ Keys []tarsy.APIKey }](t, f, "/api/v1/keys", admin...).Keys, 1)
}

// line returns the last logged line with a message.
func (l *logbook) line(t *testing.T, message string) string {
	t.Helper()

	found := ""

	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, `msg="`+message+`"`) {
			found = line
		}
	}

	require.NotEmpty(t, found, "nothing was logged as %q in\n%s", message, l)

	return found
}

func TestRefusalsAndLoginChangesAreLoggedWithActorAndAddress(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, func(cfg *api.Config) {
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	from := []string{"X-Forwarded-For", "203.0.113.1, 198.51.100.7, 10.1.1.1"}
	adminKey, admin := f.key(t, "root", tarsy.ScopeAdmin)
	readKey, read := f.key(t, "reader", tarsy.ScopeRead)
	secrets := []string{secretOf(admin), secretOf(read)}

	requireLogged := func(message string, parts ...string) {
		t.Helper()

		line := f.log.line(t, message)
		for _, part := range append(parts, "remote=198.51.100.7") {
			require.Contains(t, line, part)
		}
	}

	f.request(t, http.MethodGet, "/api/v1/sessions", "", from...)
	requireLogged("request refused", "status=401", "path=/api/v1/sessions", "method=GET", "code=unauthenticated")

	f.request(t, http.MethodGet, "/api/v1/keys", "", append(read, from...)...)
	requireLogged("request refused", "status=403", "code=forbidden", "key_id="+readKey.ID, "key_name=reader", "key_prefix="+readKey.Prefix)

	f.request(t, http.MethodPost, "/api/v1/login", `{"key":"tarsy_abcdefgh_`+strings.Repeat("x", 52)+`"}`, from...)
	requireLogged("login failed", "status=401")

	b := f.login(t, read, from...)
	requireLogged("browser logged in", "key_id="+readKey.ID, "browser=true")

	f.request(t, http.MethodPost, "/api/v1/logout", "", b.without(from...)...)
	requireLogged("request refused", "status=403", "code=csrf_failed", "browser=true")

	f.request(t, http.MethodPost, "/api/v1/logout", "", b.headers(from...)...)
	requireLogged("browser logged out", "key_id="+readKey.ID)

	f.request(t, http.MethodPost, "/api/v1/keys", `{"name":"new","scopes":["write"]}`, append(admin, from...)...)
	requireLogged("key created", "key_id="+adminKey.ID, "changed_key_name=new", "scopes=[write]")

	f.request(t, http.MethodDelete, "/api/v1/keys/"+readKey.Prefix, "", append(admin, from...)...)
	requireLogged("key revoked", "key_id="+adminKey.ID, "changed_key_id="+readKey.ID)

	f.request(t, http.MethodGet, "/api/v1/sessions", "", append(read, from...)...)
	requireLogged("request refused", "status=401", "key_id="+readKey.ID, "key_state=revoked")

	f.request(t, http.MethodPost, "/api/v1/login", `{"key":"`+secretOf(read)+`"}`, from...)
	requireLogged("login failed", "key_id="+readKey.ID, "key_state=revoked")

	for _, secret := range append(secrets, b.cookie.Value) {
		require.NotContains(t, f.log.String(), secret)
	}
}

func TestRemoteAddressIsPeerUnlessTrustedProxyForwards(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	f.request(t, http.MethodGet, "/api/v1/sessions", "", "X-Forwarded-For", "203.0.113.1")
	require.Contains(t, f.log.line(t, "request refused"), "remote=127.0.0.1:")
}

func TestForwardedAddressIsSharedByLogAndLimits(t *testing.T) {
	t.Parallel()

	f := newFixture(t, fewLogins)

	// Some proxies add the port; that does not make a new client.
	for i, forwarded := range []string{"192.0.2.1:1000", "192.0.2.1", "198.51.100.9, 192.0.2.1:2000, [::ffff:10.1.1.1]:80", "192.0.2.1:3000"} {
		want := http.StatusUnauthorized
		if i == 3 {
			want = http.StatusTooManyRequests
		}

		got := f.request(t, http.MethodPost, "/api/v1/login", `{"key":"tarsy_wrong"}`, "X-Forwarded-For", forwarded)
		require.Equal(t, want, got.status, forwarded)
		require.Contains(t, f.log.line(t, "login failed"), "remote=192.0.2.1 ")
	}
}

func TestFloodOfRefusedRequestsIsLogSampled(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, behindProxy)
	_, read := f.key(t, "reader", tarsy.ScopeRead)
	logged := func(message string) int { return strings.Count(f.log.String(), `msg="`+message+`"`) }
	flood := func(times int, headers ...string) {
		for range times {
			f.request(t, http.MethodGet, "/api/v1/keys", "", headers...)
		}
	}

	flood(100, "X-Forwarded-For", "192.0.2.1")
	require.Equal(t, 30, logged("request refused"), "the first ones")
	require.Equal(t, 1, logged("too many refusals to log each"))

	flood(1, "X-Forwarded-For", "192.0.2.2")
	require.Equal(t, 31, logged("request refused"), "other addresses are still logged")

	flood(40, append(read, "X-Forwarded-For", "192.0.2.1")...)
	require.Equal(t, 61, logged("request refused"), "a key has its own share")

	f.clock.Advance(10 * time.Second)
	flood(6, "X-Forwarded-For", "192.0.2.1")
	require.Equal(t, 66, logged("request refused"), "more are logged as time passes")
	require.Contains(t, f.log.line(t, "too many refusals to log each"), "refused_total=81")

	for i := range 1000 {
		flood(1, "X-Forwarded-For", "198.51."+strconv.Itoa(i/250)+"."+strconv.Itoa(i%250))
	}

	require.LessOrEqual(t, logged("request refused"), 700, "and there is a bound for all addresses together")
}
