package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// revoke revokes a key with an admin's key.
func revoke(t testing.TB, app *tarsytest.App, key, admin string) {
	t.Helper()

	prefix := strings.Split(key, "_")[1]
	got := app.Do(http.MethodDelete, "/api/v1/keys/"+prefix, nil, "Authorization", "Bearer "+admin)
	require.Equal(t, http.StatusOK, got.Status, string(got.Body))
}

// The requests are generated from the OpenAPI document, so that no route can be forgotten.
func TestEveryRouteIsRefusedWithoutKey(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true})
	app.Token = app.Key("admin", tarsy.ScopeAdmin)
	operations := readDocument(t, app).operations()

	revoked := app.Key("revoked", tarsy.ScopeAdmin)
	revoke(t, app, revoked, app.Token)

	app.Script.Add(says("Analysed."), says("Summed up."))
	_, shared := shareOf(t, app, app.Run("test", "shared").ID)
	require.Equal(t, http.StatusOK, readShared(t, app, shared).Status, "the share is valid")

	bad := map[string]string{
		"no key":        "",
		"unknown key":   "Bearer tarsy_abcdefgh_" + "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdef",
		"no key's form": "Bearer ../../etc/passwd",
		"revoked key":   "Bearer " + revoked,
		"other scheme":  "Basic " + app.Token,
		"bare key":      app.Token,
		"share":         "Bearer " + shared,
	}

	open := map[string]bool{}

	for id, op := range operations {
		if op.scope() == "" {
			open[id] = true

			continue
		}

		for name, header := range bad {
			answer := ask(t, app, op, header)
			require.Equal(t, http.StatusUnauthorized, answer.Status, "%s with %s: %s", id, name, answer.Body)
			require.Equal(t, string(tarsy.CodeUnauthenticated), answer.Problem(t).Code)
			require.Contains(t, answer.Header.Get("WWW-Authenticate"), "Bearer", id)
		}
	}

	require.Equal(t, map[string]bool{"livez": true, "readyz": true, "get-me": true, "login": true, "logout": true, "get-shared": true, "begin-oidc-login": true, "finish-oidc-login": true}, open, "what anybody may ask")
	require.Len(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM sessions`), 1, "the one that is shared")
}

// ask sends a request of an operation with this Authorization header and nothing else.
func ask(t *testing.T, app *tarsytest.App, op operation, authorization string) tarsytest.Response {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), op.method, app.URL+op.address(ident.New()), nil)
	require.NoError(t, err)

	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}

	stranger := *app
	stranger.Token = ""

	return stranger.Send(req)
}

func TestKeyWithInsufficientScopeIsRefused(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true})
	smaller := map[string]string{
		"write": app.Key("reader", tarsy.ScopeRead),
		"admin": app.Key("writer", tarsy.ScopeWrite),
	}
	app.Token = smaller["write"]

	seen := map[string]int{}

	for id, op := range readDocument(t, app).operations() {
		seen[op.scope()]++

		if token, ok := smaller[op.scope()]; ok {
			answer := ask(t, app, op, "Bearer "+token)
			require.Equal(t, http.StatusForbidden, answer.Status, "%s: %s", id, answer.Body)
			require.Equal(t, string(tarsy.CodeForbidden), answer.Problem(t).Code)
		}
	}

	require.Equal(t, 8, seen[""], "routes that need no key")
	require.GreaterOrEqual(t, seen["read"], 25)
	require.GreaterOrEqual(t, seen["write"], 5)
	require.GreaterOrEqual(t, seen["admin"], 3)
}

func TestEverythingWorksWithKey(t *testing.T) {
	t.Parallel()

	options := everything()
	options.RequireKey = true
	app := tarsytest.New(t, options)
	app.Token = app.Key("the admin", tarsy.ScopeAdmin)
	requireSuccesses(t, app)

	// Live events, over both transports.
	gate := script.NewGate()
	app.Script.Add(script.Reply{Text: "Analysed.", Gate: gate}, says("Summed up."))
	sessionID := app.Submit("test", "watched with a key")
	socket, events := app.Watch(sessionID), app.Events(sessionID, 0)
	gate.Open()
	socket.WaitStatus("completed")
	events.WaitStatus("completed")
	require.Equal(t, "the admin", app.Session(sessionID).Author, "the key's name is the author's")
}

func TestRevocationTakesEffectAtOnce(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true})
	app.Token = app.Key("admin", tarsy.ScopeAdmin)

	made := app.Do(http.MethodPost, "/api/v1/keys", map[string]any{"name": "ci", "scopes": []string{"write"}})
	require.Equal(t, http.StatusCreated, made.Status)

	key := decode[struct {
		Key    string `json:"key"`
		Prefix string `json:"prefix"`
	}](made.Body)
	use := func() int {
		return app.Do(http.MethodGet, "/api/v1/sessions", nil, "Authorization", "Bearer "+key.Key).Status
	}

	require.Equal(t, http.StatusOK, use())
	require.Equal(t, http.StatusOK, app.Do(http.MethodDelete, "/api/v1/keys/"+key.Prefix, nil).Status)
	require.Equal(t, http.StatusUnauthorized, use())

	socket, refusal := app.DialSocket(http.Header{"Authorization": {"Bearer " + key.Key}})
	require.Nil(t, socket)
	require.Equal(t, http.StatusUnauthorized, refusal.Status)

	listed := decode[struct {
		Keys []tarsy.APIKey `json:"keys"`
	}](app.Do(http.MethodGet, "/api/v1/keys", nil).Body).Keys
	require.Len(t, listed, 2)
	require.NotNil(t, listed[1].LastUsedAt)
	require.NotNil(t, listed[1].RevokedAt)
}
