package api_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/kit/wait"
)

// longAnswer exceeds the buffers of a connection.
const longAnswer = 16 << 20

// askSlowly requests a response of longAnswer bytes over a connection whose client has a small buffer. ended receives the handler's
// error.
func askSlowly(t *testing.T, timeout time.Duration, before func(http.ResponseWriter)) (conn net.Conn, ended chan error) {
	t.Helper()

	ended = make(chan error, 1)
	f := newFixture(t, func(cfg *api.Config) {
		cfg.WriteTimeout = timeout
		cfg.Events = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			before(w)

			_, err := w.Write(make([]byte, longAnswer))
			ended <- err
		})
	})

	conn, err := net.Dial("tcp", strings.TrimPrefix(f.http.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(wait.Limit())))

	_, err = io.WriteString(conn, "GET /api/v1/sessions/00000000-0000-7000-8000-000000000000/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)

	return conn, ended
}

func TestAnswerThatIsNotReadEnds(t *testing.T) {
	t.Parallel()

	_, ended := askSlowly(t, 50*time.Millisecond, func(http.ResponseWriter) {})
	require.Error(t, wait.For(t, ended, "the end of the answer"))
}

// In HTTP/2 a client that never reads exhausts the window of its stream, while other streams share the connection.
func TestAnswerThatIsNotReadEndsOverHTTP2(t *testing.T) {
	t.Parallel()

	ended := make(chan error, 1)
	f := newFixture(t, func(cfg *api.Config) {
		cfg.WriteTimeout = 50 * time.Millisecond
		cfg.Events = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write(make([]byte, longAnswer))
			ended <- err
		})
	})

	server := httptest.NewUnstartedServer(f.http.Config.Handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)

	ask := func(path string) *http.Response {
		request, err := http.NewRequestWithContext(wait.Context(t), http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)

		answer, err := server.Client().Do(request)
		require.NoError(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })

		return answer
	}

	answer := ask("/api/v1/sessions/00000000-0000-7000-8000-000000000000/events")
	require.Equal(t, 2, answer.ProtoMajor)
	require.Error(t, wait.For(t, ended, "the end of the answer"))

	_, err := io.Copy(io.Discard, answer.Body)
	require.Error(t, err, "the answer is not complete")
	require.Equal(t, http.StatusOK, ask("/livez").StatusCode, "the connection goes on")
}

// Each piece has its own deadline: the whole response takes many times as long.
func TestAnswerThatIsReadSlowlyIsComplete(t *testing.T) {
	t.Parallel()

	const timeout, pauses = time.Second, 30

	conn, ended := askSlowly(t, timeout, func(http.ResponseWriter) {})
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)

	t.Cleanup(func() { _ = response.Body.Close() })

	began := time.Now()

	for range pauses {
		_, err = io.CopyN(io.Discard, response.Body, longAnswer/pauses)
		require.NoError(t, err)

		<-time.After(timeout / 10) //nolint:forbidigo // real time: the limit is of a socket
	}

	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, wait.For(t, ended, "the end of the answer"))
	require.Greater(t, time.Since(began), timeout)
}

func TestHandlerThatSetsWriteDeadlineKeepsItsOwnRule(t *testing.T) {
	t.Parallel()

	const timeout = 50 * time.Millisecond

	conn, ended := askSlowly(t, timeout, func(w http.ResponseWriter) {
		require.NoError(t, http.NewResponseController(w).SetWriteDeadline(time.Time{}))
	})

	select {
	case err := <-ended:
		require.NoError(t, err, "nobody read it")
	case <-time.After(4 * timeout): //nolint:forbidigo // real time: the limit is of a socket
	}

	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)

	defer func() { _ = response.Body.Close() }()

	_, err = io.CopyN(io.Discard, response.Body, longAnswer)
	require.NoError(t, err)
	require.NoError(t, wait.For(t, ended, "the end of the answer"))
}
