package runbook_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/runbook"
)

func TestSlowFetchEndsAtTimeLimit(t *testing.T) {
	t.Parallel()

	// Each case blocks indefinitely at one place, after signalling that it is there.
	for name, c := range map[string]struct {
		url   string
		setUp func(n *internet, cfg *runbook.Config, there chan<- struct{})
	}{
		"resolver": {page, func(_ *internet, cfg *runbook.Config, there chan<- struct{}) {
			cfg.Resolve = func(ctx context.Context, _ string) ([]netip.Addr, error) {
				close(there)
				<-ctx.Done()

				return nil, ctx.Err()
			}
		}},
		"connection": {page, func(_ *internet, cfg *runbook.Config, there chan<- struct{}) {
			cfg.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				close(there)
				<-ctx.Done()

				return nil, ctx.Err()
			}
		}},
		"handshake": {"https://docs.example.org/a", func(_ *internet, cfg *runbook.Config, there chan<- struct{}) {
			cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					defer theirs.Close()
					_, _ = theirs.Read(make([]byte, 1))
					close(there)
					_, _ = io.Copy(io.Discard, theirs) // listens, and sends nothing until the other side closes the connection
				}()

				return ours, nil
			}
		}},
		"headers": {page, func(n *internet, _ *runbook.Config, there chan<- struct{}) {
			n.handle("docs.example.org", func(_ http.ResponseWriter, r *http.Request) {
				close(there)
				<-r.Context().Done()
			})
		}},
		"body": {page, func(n *internet, _ *runbook.Config, there chan<- struct{}) {
			n.handle("docs.example.org", func(w http.ResponseWriter, r *http.Request) {
				answer("text/plain", "one word and then")(w, r)
				_ = http.NewResponseController(w).Flush()
				close(there)
				<-r.Context().Done()
			})
		}},
		"body after a redirect": {"https://api.github.com/a", func(n *internet, _ *runbook.Config, there chan<- struct{}) {
			n.handle("api.github.com", redirect("https://docs.example.org/a"))
			n.handle("docs.example.org", func(w http.ResponseWriter, r *http.Request) {
				answer("text/plain", "one word and then")(w, r)
				_ = http.NewResponseController(w).Flush()
				close(there)
				<-r.Context().Done()
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, clock, there := newInternet(t), clockwork.NewFakeClock(), make(chan struct{})
			f := n.fetcher(t, func(cfg *runbook.Config) {
				cfg.Clock = clock
				c.setUp(n, cfg, there)
			})

			failed := make(chan error, 1)
			go func() {
				_, err := f.Fetch(t.Context(), c.url)
				failed <- err
			}()
			<-there
			clock.Advance(10*time.Second - 1)
			require.Empty(t, failed)
			clock.Advance(1)

			requireFailure(t, <-failed, tarsy.CodeUnavailable, "it took longer than 10s")
		})
	}
}

func TestTricklingBodyEndsAtTimeLimit(t *testing.T) {
	t.Parallel()
	n, clock := newInternet(t), clockwork.NewFakeClock()
	n.handle("docs.example.org", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for r.Context().Err() == nil {
			fmt.Fprint(w, ".")
			_ = http.NewResponseController(w).Flush()
			clock.Advance(time.Second) // there is always something new, a second apart
		}
	})
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.Clock, cfg.Timeout = clock, 3*time.Second })

	_, err := f.Fetch(t.Context(), page)

	requireFailure(t, err, tarsy.CodeUnavailable, "it took longer than 3s")
}

// lingering is a connection that signals when its reader waits for more than a certain text, and when it is closed. It can
// still be read after that, as a TLS connection can for a moment.
type lingering struct {
	net.Conn
	text            string
	read            []byte
	waiting, closed func()
}

func (l *lingering) Read(p []byte) (int, error) {
	if bytes.Contains(l.read, []byte(l.text)) {
		l.waiting()
	}
	n, err := l.Conn.Read(p)
	l.read = append(l.read, p[:n]...)

	return n, err
}

func (l *lingering) Close() error {
	l.closed()

	return nil
}

func TestPartialBodyAtTimeLimitIsRefused(t *testing.T) {
	t.Parallel()
	n, clock, closed := newInternet(t), clockwork.NewFakeClock(), make(chan struct{})
	n.handle("docs.example.org", func(w http.ResponseWriter, r *http.Request) {
		answer("text/plain", "half of it")(w, r)
		_ = http.NewResponseController(w).Flush()
		<-closed // and ends the body as if it were complete
	})
	f := n.fetcher(t, func(cfg *runbook.Config) {
		cfg.Clock = clock
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := n.dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { _ = conn.Close() })

			return &lingering{
				Conn: conn, text: "half of it",
				waiting: sync.OnceFunc(func() { clock.Advance(10 * time.Second) }),
				closed:  sync.OnceFunc(func() { close(closed) }),
			}, nil
		}
	})

	text, err := f.Fetch(t.Context(), page)

	requireFailure(t, err, tarsy.CodeUnavailable, "it took longer than 10s")
	require.Empty(t, text)
}
