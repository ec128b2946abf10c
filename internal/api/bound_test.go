package api_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/api"
)

func TestBodyThatArrivesTooLateEndsRequest(t *testing.T) {
	t.Parallel()

	f := newFixture(t, func(cfg *api.Config) { cfg.BodyTimeout = 50 * time.Millisecond })

	// Neither of the last two routes reads the body: the HTTP server does, before it responds.
	for path, want := range map[string]int{
		"/api/v1/login": http.StatusBadRequest, "/api/v1/alerts": http.StatusBadRequest,
		"/api/v1/logout": http.StatusNoContent, "/api/v1/nothing": http.StatusNotFound,
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.http.URL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(15*time.Second)))

		_, err = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"")
		require.NoError(t, err)

		reader := bufio.NewReader(conn)
		response, err := http.ReadResponse(reader, nil)
		require.NoError(t, err, path)

		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode, "%s: %s", path, body)

		if want == http.StatusBadRequest {
			require.Contains(t, string(body), "the body did not arrive in time")
		}

		_, err = reader.ReadByte()
		require.Error(t, err, "the connection of %s is over", path)
	}
}

func TestRequestMayTakeLongerThanItsBody(t *testing.T) {
	t.Parallel()

	const timeout = 50 * time.Millisecond

	f := newFixture(t, func(cfg *api.Config) { cfg.BodyTimeout = timeout })
	cancelled := make(chan error, 1)
	f.slow = func(ctx context.Context) {
		select {
		case <-ctx.Done():
		case <-time.After(3 * timeout): //nolint:forbidigo // real time: the limit is of a socket
		}

		cancelled <- ctx.Err()
	}

	got := f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`)
	require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
	require.NoError(t, <-cancelled)
}
