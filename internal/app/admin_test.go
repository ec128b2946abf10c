package app

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// startAdmin starts the administrative listener of a server without other parts, and returns a function that sends requests to it.
func startAdmin(t *testing.T, options Options) func(method, path, body string, change ...func(*http.Request)) (int, string) {
	t.Helper()

	options.Config = load(t, "system: {admin_listen: '127.0.0.1:0'}")
	a := newApp(options)
	a.metrics = newMetrics(options.Config, "1.2.3", a.logger)

	require.NoError(t, a.serveAdmin(t.Context()))
	t.Cleanup(func() { require.NoError(t, a.Stop(context.WithoutCancel(t.Context()))) })

	return func(method, path, body string, change ...func(*http.Request)) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+a.AdminAddr()+path, strings.NewReader(body))
		require.NoError(t, err)

		for _, c := range change {
			c(request)
		}

		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)

		defer answer.Body.Close()

		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)

		return answer.StatusCode, string(text)
	}
}

func TestAdminListenerServesMetricsAndProfiles(t *testing.T) {
	t.Parallel()

	ask := startAdmin(t, Options{})

	status, body := ask(http.MethodGet, "/metrics", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `tarsy_build_info{`)

	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline"} {
		status, body = ask(http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, status, path)
		require.NotEmpty(t, body, path)
	}

	status, _ = ask(http.MethodGet, "/api/v1/sessions", "")
	require.Equal(t, http.StatusNotFound, status, "the API needs keys")
}

func TestAdminListenerChangesLogLevel(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	level := &slog.LevelVar{}
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))
	ask := startAdmin(t, Options{Logger: logger, LogLevel: level})

	status, body := ask(http.MethodGet, "/log-level", "")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"level":"info"}`, body)

	status, body = ask(http.MethodPut, "/log-level", `{"level":"debug"}`)
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"level":"debug"}`, body)
	require.Equal(t, slog.LevelDebug, level.Level())
	require.Contains(t, log.String(), "log level changed")
	require.Contains(t, log.String(), "request_id=")

	for _, wrong := range []string{"", "{", `{"level":"loud"}`, `{"level":4}`} {
		status, _ = ask(http.MethodPut, "/log-level", wrong)
		require.Equal(t, http.StatusBadRequest, status, wrong)
	}

	require.Equal(t, slog.LevelDebug, level.Level())
}

// A page in a local browser can reach the listener by DNS rebinding, but its requests name the page's own host.
func TestAdminListenerAnswersOnlyToLoopbackNames(t *testing.T) {
	t.Parallel()

	ask := startAdmin(t, Options{})

	for host, want := range map[string]int{
		"localhost:9090": http.StatusOK, "[::1]:9090": http.StatusOK,
		"evil.example.com:9090": http.StatusForbidden, "evil.example.com": http.StatusForbidden, "localhost.evil.example.com:1": http.StatusForbidden,
	} {
		status, _ := ask(http.MethodGet, "/metrics", "", func(r *http.Request) { r.Host = host })
		require.Equal(t, want, status, host)
	}
}
