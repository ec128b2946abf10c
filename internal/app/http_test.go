package app

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serveLimited serves with a server's limits and shorter timeouts. Limits that are not set stay unset.
func serveLimited(t *testing.T) (address string) {
	t.Helper()

	const shorter = 100

	a := &App{logger: slog.New(slog.DiscardHandler)}
	server := a.newHTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	server.ReadHeaderTimeout /= shorter
	server.IdleTimeout /= shorter

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()

	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	})

	return listener.Addr().String()
}

// dialed opens a connection with a deadline long after every limit.
func dialed(t *testing.T, address string) net.Conn {
	t.Helper()

	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))

	return conn
}

func TestRequestWhoseHeadDoesNotArriveIsDropped(t *testing.T) {
	t.Parallel()

	conn := dialed(t, serveLimited(t))
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: tarsy\r\n")
	require.NoError(t, err)

	rest, err := io.ReadAll(conn)
	require.NoError(t, err, "the server closes the connection")
	require.Empty(t, rest)
}

func TestIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()

	conn := dialed(t, serveLimited(t))
	reader := bufio.NewReader(conn)

	for range 2 {
		_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: tarsy\r\n\r\n")
		require.NoError(t, err)

		response, err := http.ReadResponse(reader, nil)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusNoContent, response.StatusCode, "the connection is kept for another request")
	}

	rest, err := io.ReadAll(reader)
	require.NoError(t, err, "the server closes the connection")
	require.Empty(t, rest)
}

func TestRequestHeadIsLimited(t *testing.T) {
	t.Parallel()

	address := serveLimited(t)

	// net/http allows 4 KiB more than the limit.
	for size, want := range map[int]int{60 << 10: http.StatusNoContent, 70 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		conn := dialed(t, address)
		_, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: tarsy\r\nX-Long: %s\r\n\r\n", strings.Repeat("x", size))
		require.NoError(t, err)

		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode, "%d bytes", size)
	}
}
