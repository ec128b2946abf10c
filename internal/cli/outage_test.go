package cli_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// outage is a proxy between a server and its database that breaks once, after a number of writes by the server.
type outage struct {
	listener net.Listener
	running  sync.WaitGroup

	// dial connects to the database.
	dial func() (net.Conn, error)

	mu    sync.Mutex
	conns []net.Conn
	// left is how many writes still pass. After that, connections are cut, or with silent stay open without a reply.
	left   int
	silent bool
	broken bool
	over   chan struct{}
}

// newOutage returns an outage and the database's address through it.
func newOutage(t *testing.T, database string, silent bool, after int) (*outage, string) {
	t.Helper()

	config, err := pgx.ParseConfig(database)
	require.NoError(t, err)

	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	o := &outage{
		listener: listener, left: after, silent: silent, over: make(chan struct{}),
		dial: func() (net.Conn, error) { return net.Dial(network, address) },
	}
	o.running.Go(o.accept)
	t.Cleanup(func() {
		_ = listener.Close()

		close(o.over)
		o.mu.Lock()
		o.cut()
		o.mu.Unlock()
		o.running.Wait()
	})

	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: listener.Addr().String(),
		Path: "/" + config.Database, RawQuery: "sslmode=disable",
	}

	return o, through.String()
}

// begin breaks the proxy now.
func (o *outage) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()

	o.left = 0
}

// happened reports whether the proxy broke.
func (o *outage) happened() bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.broken
}

func (o *outage) cut() {
	for _, c := range o.conns {
		_ = c.Close()
	}
}

func (o *outage) accept() {
	for {
		client, err := o.listener.Accept()
		if err != nil {
			return
		}

		database, err := o.dial()
		if err != nil {
			_ = client.Close()

			continue
		}

		o.mu.Lock()
		o.conns = append(o.conns, client, database)
		late := o.broken // later connections work again
		o.mu.Unlock()

		o.running.Go(func() { o.forward(client, database, late) })
		o.running.Go(func() {
			defer client.Close()

			_, _ = io.Copy(client, database)
		})
	}
}

func (o *outage) forward(client, database net.Conn, late bool) {
	defer database.Close()

	buffer := make([]byte, 1<<16)

	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}

		if !late && o.breaks() {
			<-o.over

			return
		}

		if _, err := database.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// breaks counts a write and reports whether to stop it. Unless the outage is silent, it cuts the connections.
func (o *outage) breaks() bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	if o.left > 0 {
		o.left--

		return false
	}

	if !o.broken && !o.silent {
		o.cut()
	}

	o.broken = true

	return true
}

// quickStopConfig returns the configuration of a server that stops within a second.
func quickStopConfig(t *testing.T) string {
	t.Helper()

	file := filepath.Join(t.TempDir(), "tarsy.yaml")
	require.NoError(t, os.WriteFile(file, []byte("queue: {graceful_shutdown_timeout: 1s}\n"), 0o600))

	return file
}

// The server waits for a database that is lost at any point during the start, whether connections are cut or go silent, and then starts.
func TestDatabaseLostDuringStartIsWaitedFor(t *testing.T) {
	t.Parallel()

	// A start writes about thirty times. Silence is noticed only after ten seconds, so fewer positions are tried.
	for kind, positions := range map[string][]int{"cut": {0, 3, 6, 9, 12, 15, 18, 21, 24}, "silent": {2, 13, 24}} {
		for _, after := range positions {
			t.Run(fmt.Sprintf("%s after %d", kind, after), func(t *testing.T) {
				t.Parallel()

				o, address := newOutage(t, pgtest.New(t), kind == "silent", after)
				server := start(t, []string{"TARSY_DATABASE_URL=" + address, "TARSY_LISTEN=127.0.0.1:0", "TARSY_AUTH=on"}, "serve", "--config-dir", quickStopConfig(t))
				server.stderr.wait(t, "TARSy listens on ")
				require.True(t, o.happened())
			})
		}
	}
}

// A server whose database does not respond stops within the configured time, even while a request is being stored.
func TestServerStopsInTimeWithSilentDatabase(t *testing.T) {
	t.Parallel()

	o, address := newOutage(t, pgtest.New(t), true, 1<<30)
	server := start(t, []string{"TARSY_DATABASE_URL=" + address, "TARSY_LISTEN=127.0.0.1:0", "TARSY_AUTH=off"}, "serve", "--config-dir", quickStopConfig(t))
	base := addressIn(t, server.stderr.wait(t, "TARSy listens on "))
	o.begin()

	var request sync.WaitGroup

	request.Go(func() {
		answer, err := http.Post(base+"/api/v1/alerts", "application/json", strings.NewReader(`{"alert_type": "test", "data": "x"}`))
		if err == nil {
			_ = answer.Body.Close()
		}
	})

	wait.Until(t, "the request to reach the database", o.happened)

	began := time.Now()
	code := server.end()

	require.Less(t, time.Since(began), slowness.Scale(5*time.Second))
	require.Equal(t, cli.ExitFailed, code, server.stderr.String())
	require.Contains(t, server.stderr.String(), "did not stop in time")
	request.Wait()
}
