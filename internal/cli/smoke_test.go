package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
)

type probe struct {
	Check      string `json:"check"`
	OK         bool   `json:"ok"`
	Found      string `json:"found"`
	DurationMS int64  `json:"duration_ms"`
}

// recorder proxies requests to a server, changes answers, and records the methods.
func recorder(t *testing.T, s *server, change func(w http.ResponseWriter, r *http.Request) bool) (env []string, methods func() []string) {
	t.Helper()

	target, err := url.Parse("http://" + s.Addr())
	require.NoError(t, err)

	var (
		mu   sync.Mutex
		seen []string
	)

	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Method)
		mu.Unlock()

		if change == nil || !change(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)

	return []string{"TARSY_SERVER=" + front.URL}, func() []string {
		mu.Lock()
		defer mu.Unlock()

		return seen
	}
}

func smoke(t *testing.T, env []string) (result, map[string]probe) {
	t.Helper()

	got := tarsyWith(t, env, "", "smoke", "-o", "json")

	var probes []probe

	require.NoError(t, json.Unmarshal([]byte(got.stdout), &probes), got.stderr)

	found := map[string]probe{}
	for _, p := range probes {
		found[p.Check] = p
	}

	require.Len(t, found, 9)

	return got, found
}

func TestSmokeOnlyReadsAndFindsHealthyServer(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	keyed := s.key(t, "ops", tarsy.ScopeRead)
	front, methods := recorder(t, s, nil)

	got, found := smoke(t, append(front, keyed[0]))

	for _, p := range found {
		require.True(t, p.OK, "%s: %s", p.Check, p.Found)
	}

	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	require.Contains(t, found["authentication"].Found, "the key works")

	for _, method := range methods() {
		require.Contains(t, []string{http.MethodGet, http.MethodHead}, method)
	}

	text := tarsyWith(t, append(front, keyed[0]), "", "smoke")
	require.Equal(t, cli.ExitOK, text.code)
	require.Regexp(t, `ok +review +\d+ ms +total 0, open_count 0`, text.stdout)

	open := startServer(t, false)
	_, found = smoke(t, open.env)
	require.Contains(t, found["authentication"].Found, "no API key is required")
}

func TestSmokeReportsWhatIsWrong(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	keyed := s.key(t, "ops", tarsy.ScopeRead)

	// No key, and a wrong one.
	for token, want := range map[string]string{"": "requires an API key", "TARSY_TOKEN=tarsy_wrong": "key"} {
		got, found := smoke(t, append([]string{token}, s.env...))
		require.Equal(t, cli.ExitFailed, got.code)
		require.True(t, found["alive"].OK)
		require.False(t, found["authentication"].OK)
		require.Contains(t, found["authentication"].Found, want)
		require.False(t, found["notes"].OK)
	}

	answers := map[string]string{
		"/readyz": `{"status":"starting"}`, "/api/v1/notes": `{"notes":null,"total":0}`, "/api/v1/review": `{"items":[],"total":0}`,
		"/api/v1/projects": `{"projects":[{"name":"x"}],"total":1}`, "/api/v1/sessions": `{"sessions":[]}`,
	}
	front, _ := recorder(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		text, ok := answers[r.URL.Path]
		if ok {
			_, _ = w.Write([]byte(text))
		}

		return ok
	})

	got, found := smoke(t, append(front, keyed[0]))
	require.Equal(t, cli.ExitFailed, got.code)

	for check, want := range map[string]string{
		"ready": "not ok", "notes": "notes is not a list", "review": "open_count is not a number", "projects": "has no id",
		"authentication": "without an API key was answered",
	} {
		require.False(t, found[check].OK, check)
		require.Contains(t, found[check].Found, want)
	}

	require.True(t, found["sessions"].OK)
	require.True(t, found["entities"].OK)

	down := tarsyWith(t, []string{"TARSY_SERVER=http://127.0.0.1:1"}, "", "smoke")
	require.Equal(t, cli.ExitFailed, down.code)
	require.Equal(t, 9, strings.Count(down.stdout, "failed"), down.stdout)
}

func TestSmokeReadyNeedsNoKey(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	require.Equal(t, cli.ExitFailed, tarsyWith(t, s.env, "", "smoke").code, "the other checks need one")

	got := tarsyWith(t, s.env, "", "smoke", "--ready", "-o", "json")
	require.Equal(t, cli.ExitOK, got.code, got.stdout)

	var probes []probe
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &probes))
	require.Len(t, probes, 2)
	require.Equal(t, []string{"alive", "ready"}, []string{probes[0].Check, probes[1].Check})

	require.Equal(t, cli.ExitFailed, tarsyWith(t, []string{"TARSY_SERVER=http://127.0.0.1:1"}, "", "smoke", "--ready").code)
}
