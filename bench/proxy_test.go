//go:build bench

package bench

import (
	"fmt"
	"net"
	neturl "net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// proxy forwards between the server and PostgreSQL and counts round trips: each first response to a request.
type proxy struct {
	url   string
	trips atomic.Int64
}

func newProxy(t *testing.T, url string) *proxy {
	t.Helper()

	cfg, err := pgx.ParseConfig(url)
	require.NoError(t, err)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })

	p := &proxy{url: fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable",
		neturl.UserPassword(cfg.User, cfg.Password), listener.Addr(), cfg.Database)}
	socket := filepath.Join(cfg.Host, fmt.Sprintf(".s.PGSQL.%d", cfg.Port))

	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}

			server, err := net.Dial("unix", socket)
			if err != nil {
				_ = client.Close()

				continue
			}

			go p.join(client, server)
		}
	}()

	return p
}

func (p *proxy) join(client, server net.Conn) {
	var (
		asked atomic.Bool
		group sync.WaitGroup
	)

	pump := func(from, to net.Conn, each func()) {
		defer to.Close()
		defer from.Close()

		buffer := make([]byte, 64<<10)

		for {
			n, err := from.Read(buffer)
			if n > 0 {
				each()

				if _, err := to.Write(buffer[:n]); err != nil {
					return
				}
			}

			if err != nil {
				return
			}
		}
	}

	group.Go(func() { pump(client, server, func() { asked.Store(true) }) })
	group.Go(func() {
		pump(server, client, func() {
			if asked.Swap(false) {
				p.trips.Add(1)
			}
		})
	})
	group.Wait()
}
