package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/tarsytest"
)

// rawRequest sends bytes over a new connection and leaves it open.
func rawRequest(t *testing.T, app *tarsytest.App, text string) net.Conn {
	t.Helper()

	conn, err := net.Dial("tcp", strings.TrimPrefix(app.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(15*time.Second)))

	_, err = io.WriteString(conn, text)
	require.NoError(t, err)

	return conn
}

// rawAnswer reads the response to a raw request, without sending anything more.
func rawAnswer(t *testing.T, conn net.Conn) (status int, body string) {
	t.Helper()

	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)

	defer func() { _ = response.Body.Close() }()

	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, string(raw)
}

func TestHealthChecksWorkWithConnectionsAtLimit(t *testing.T) {
	t.Parallel()

	const share, idle = 4, 60

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true, Config: strings.Replace(tarsytest.DefaultConfig, "[%s]", "[]", 1) + "system: {max_connections: 8}\n"})
	key := "Authorization: Bearer " + app.Key("viewer", tarsy.ScopeRead) + "\r\n"

	// Streams opened with a key are not closed to make room for others.
	var held []net.Conn

	for range share {
		conn := rawRequest(t, app, "GET /api/v1/notes/events HTTP/1.1\r\nHost: localhost\r\n"+key+"\r\n")
		_, err := conn.Read(make([]byte, 1))
		require.NoError(t, err)

		held = append(held, conn)
	}

	for range idle {
		held = append(held, rawRequest(t, app, ""))
	}

	get := func(path string) (int, string) {
		return rawAnswer(t, rawRequest(t, app, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n"+key+"\r\n"))
	}

	for range 3 {
		for _, path := range []string{"/livez", "/readyz"} {
			status, _ := get(path)
			require.Equal(t, http.StatusOK, status, path)
		}
	}

	status, body := get("/api/v1/sessions")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, `"overloaded"`)

	for _, conn := range held {
		require.NoError(t, conn.Close())
	}

	// The server notices each hang-up on its own; every poll is a round trip.
	wait.Until(t, "connections that were closed to count no more", func() bool {
		status, _ = get("/api/v1/sessions")

		return status == http.StatusOK
	})
}

func TestHalfSentLoginsAreRefusedBeforeTheirBodiesArrive(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true})
	head := "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

	// The server keeps nothing of a body that is too large, however much of it has arrived.
	for name, sent := range map[string]string{
		"a declared length":  "Content-Length: 1000000\r\n\r\n" + strings.Repeat("x", 64<<10),
		"no declared length": "Transfer-Encoding: chunked\r\n\r\n10000\r\n" + strings.Repeat("x", 64<<10) + "\r\n",
	} {
		var conns []net.Conn
		for range 50 {
			conns = append(conns, rawRequest(t, app, head+sent))
		}

		for _, conn := range conns {
			status, body := rawAnswer(t, conn)
			require.Equal(t, http.StatusRequestEntityTooLarge, status, name)
			require.Contains(t, body, "4096 bytes")
		}
	}
}

func TestGetWithUnsentBodyIsAnswered(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})

	for _, path := range []string{"/livez", "/readyz", "/health", "/api/v1/sessions", "/api/v1/nothing", "/"} {
		for _, body := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
			conn := rawRequest(t, app, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n"+body+"\r\n\r\n")
			status, _ := rawAnswer(t, conn)
			require.NotZero(t, status)

			_, err := conn.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF, "the connection ends: what comes next would be the body of %s", path)
		}
	}
}

func TestHeadersBeyondLimitAreRefused(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})

	for size, want := range map[int]int{32 << 10: http.StatusOK, 80 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		conn := rawRequest(t, app, "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Large: "+strings.Repeat("x", size)+"\r\n\r\n")
		status, _ := rawAnswer(t, conn)
		require.Equal(t, want, status, "%d bytes", size)
	}
}
