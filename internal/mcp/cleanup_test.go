package mcp_test

import (
	"bytes"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/mcp"
)

// seenRequest is a request that a server received.
type seenRequest struct{ method, path, session, token string }

// recording records the requests to the next handler.
type recording struct {
	next http.Handler

	mu   sync.Mutex
	seen []seenRequest
}

func (r *recording) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.seen = append(r.seen, seenRequest{req.Method, req.URL.EscapedPath(), req.Header.Get("X-Session"), req.Header.Get("Authorization")})
	r.mu.Unlock()
	r.next.ServeHTTP(rw, req)
}

// cleanups returns the requests to paths under /sessions, and the others.
func (r *recording) cleanups() (cleanups, others []seenRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.seen {
		if len(s.path) > 1 {
			cleanups = append(cleanups, s)
		} else {
			others = append(others, s)
		}
	}

	return cleanups, others
}

// cleaned is an MCP server over HTTP with a cleanup address.
func cleaned(t *testing.T, atEnd http.HandlerFunc) (*recording, mcp.Transport) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/{$}", newWeb(t, nil))
	mux.HandleFunc("DELETE /sessions/{id}", atEnd)
	r := &recording{next: mux}
	server := httptest.NewUnstartedServer(r)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	verify := false

	return r, mcp.Transport{
		Type: mcp.TransportHTTP, URL: server.URL + "/", BearerToken: "t0ken", VerifySSL: &verify,
		Headers:    map[string]string{"X-Session": "tarsy-{{.SESSION_ID}}"},
		CleanupURL: server.URL + "/sessions/{{.SESSION_ID}}?key=s3cret",
	}
}

// patient returns limits with which the cleanup request arrives even on a busy machine.
func patient() mcp.Limits { return mcp.Limits{BackoffMax: -1, Exit: wait.Limit()} }

func openAs(t *testing.T, cfg mcp.Config, id string) agent.Tools {
	t.Helper()
	tools, err := mcp.New(cfg).Open(t.Context(), id, []tarsy.MCPServerSelection{{Name: "web"}}, nil)
	require.NoError(t, err)

	return tools
}

func TestHeadersAndCleanupCarryExecutionID(t *testing.T) {
	t.Parallel()
	r, transport := cleaned(t, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNoContent) })
	cfg := mcp.Config{Servers: map[string]mcp.ServerConfig{"web": {Transport: transport}}, Limits: patient()}
	first, second := openAs(t, cfg, "one"), openAs(t, cfg, "t/wo")
	require.Equal(t, "done", call(t, first, "web__read", "").Content)
	cleanups, others := r.cleanups()
	require.Empty(t, cleanups, "not before the end")
	for _, request := range others {
		require.Contains(t, []string{"tarsy-one", "tarsy-t/wo"}, request.session)
	}

	require.NoError(t, first.Close())
	require.NoError(t, first.Close())
	require.NoError(t, second.Close())
	cleanups, _ = r.cleanups()
	require.Equal(t, []seenRequest{
		{http.MethodDelete, "/sessions/one", "tarsy-one", "Bearer t0ken"},
		{http.MethodDelete, "/sessions/t%2Fwo", "tarsy-t/wo", "Bearer t0ken"},
	}, cleanups)
}

func TestMonitorCleansUpWhenItStops(t *testing.T) {
	t.Parallel()
	r, transport := cleaned(t, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNoContent) })
	checked := make(chan mcp.Status, 1)
	monitor := mcp.NewMonitor(mcp.MonitorConfig{
		Factory: mcp.New(mcp.Config{Servers: map[string]mcp.ServerConfig{"web": {Transport: transport}}, Limits: patient()}),
		Servers: []string{"web"}, Changed: func(_ string, s mcp.Status) { checked <- s },
	})
	monitor.Start()
	require.True(t, (<-checked).Healthy)
	monitor.Stop()
	cleanups, _ := r.cleanups()
	require.Equal(t, []seenRequest{{http.MethodDelete, "/sessions/tarsy-health", "tarsy-tarsy-health", "Bearer t0ken"}}, cleanups)
}

func TestFailedCleanupIsOnlyLogged(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	defer close(hung)
	for name, c := range map[string]struct {
		atEnd  http.HandlerFunc
		logged string
	}{
		"refused": {func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no", http.StatusInternalServerError) }, "500"},
		"hangs": {func(_ http.ResponseWriter, req *http.Request) {
			select {
			case <-hung:
			case <-req.Context().Done():
			}
		}, "deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			_, transport := cleaned(t, c.atEnd)
			var logged bytes.Buffer
			tools := openAs(t, mcp.Config{
				Servers: map[string]mcp.ServerConfig{"web": {Transport: transport}},
				Limits:  mcp.Limits{Exit: 300 * time.Millisecond},
				Logger:  slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn})),
			}, "one")
			require.NoError(t, tools.Close())
			require.Contains(t, logged.String(), "could not clean up an mcp session")
			require.Contains(t, logged.String(), c.logged)
			require.NotContains(t, logged.String(), "s3cret")
		})
	}
}

func TestUnreachedServerIsNotCleanedUp(t *testing.T) {
	t.Parallel()
	r, transport := cleaned(t, func(http.ResponseWriter, *http.Request) {})
	transport.URL += "elsewhere"
	tools := openAs(t, mcp.Config{Servers: map[string]mcp.ServerConfig{"web": {Transport: transport}}, Limits: patient()}, "one")
	require.NotEmpty(t, tools.Unavailable())
	require.NoError(t, tools.Close())
	cleanups, _ := r.cleanups()
	for _, request := range cleanups {
		require.Equal(t, "/elsewhere", request.path)
	}
}
