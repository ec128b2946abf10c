package runbook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/runbook"
)

// gate is a handler that blocks requests until it is opened.
type gate struct{ reached, open chan struct{} }

func newGate() *gate { return &gate{reached: make(chan struct{}, 100), open: make(chan struct{})} }

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.reached <- struct{}{}
	select {
	case <-g.open:
		answer("text/plain", "restart it")(w, r)
	case <-r.Context().Done():
	}
}

// watched is a context that signals when its owner waits for it.
type watched struct {
	context.Context
	waiting chan<- struct{}
}

func (w watched) Done() <-chan struct{} {
	w.waiting <- struct{}{}

	return w.Context.Done()
}

func TestConcurrentCallersShareOneRequest(t *testing.T) {
	t.Parallel()
	n, g := newInternet(t), newGate()
	n.handle("docs.example.org", g.ServeHTTP)
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.CacheTTL = -1 })

	var group errgroup.Group
	waiting := make(chan struct{})
	for i := range 20 {
		group.Go(func() error {
			// Fragments are not sent to servers, so these are one URL.
			text, err := f.Fetch(watched{t.Context(), waiting}, fmt.Sprintf("%s#%d", page, i))
			if err == nil && text != "restart it" {
				err = errors.New("got " + text)
			}

			return err
		})
	}
	for range 20 {
		<-waiting
	}
	close(g.open)

	require.NoError(t, group.Wait())
	require.Len(t, n.seen(), 1)
}

func TestCancelledCallerFailsNoOther(t *testing.T) {
	t.Parallel()
	n, g := newInternet(t), newGate()
	n.handle("docs.example.org", g.ServeHTTP)
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.CacheTTL = -1 })
	gone := errors.New("gone")
	first, giveUp := context.WithCancelCause(t.Context())

	failed := make(chan error)
	go func() {
		_, err := f.Fetch(first, page)
		failed <- err
	}()
	<-g.reached
	giveUp(gone)
	require.ErrorIs(t, <-failed, gone)

	var group errgroup.Group
	waiting := make(chan struct{})
	group.Go(func() error {
		_, err := f.Fetch(watched{t.Context(), waiting}, page)

		return err
	})
	<-waiting
	close(g.open)

	require.NoError(t, group.Wait())
	require.Len(t, n.seen(), 1, "the request that the first one began was not given up")
}

func TestCancelledCallerStartsNothing(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := n.fetcher(t, nil).Fetch(ctx, page)

	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, n.lookups)
}

func TestTextIsCachedForConfiguredTime(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ configured, kept time.Duration }{
		"default":    {0, time.Minute},
		"configured": {time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, clock := newInternet(t), clockwork.NewFakeClock()
			f := n.fetcher(t, func(cfg *runbook.Config) { cfg.Clock, cfg.CacheTTL = clock, c.configured })
			fetch := func() {
				_, err := f.Fetch(t.Context(), page)
				require.NoError(t, err)
			}

			fetch()
			clock.Advance(c.kept - 1)
			fetch()
			require.Len(t, n.seen(), 1)

			clock.Advance(1)
			fetch()
			require.Len(t, n.seen(), 2)
		})
	}
}

func TestFailureIsCachedForSecondsOnly(t *testing.T) {
	t.Parallel()
	n, clock := newInternet(t), clockwork.NewFakeClock()
	n.handle("docs.example.org", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.Clock = clock })
	fetch := func() {
		_, err := f.Fetch(t.Context(), page)
		requireFailure(t, err, tarsy.CodeUnavailable, "502")
	}

	fetch()
	clock.Advance(5*time.Second - 1)
	fetch()
	require.Len(t, n.seen(), 1)

	clock.Advance(1)
	fetch()
	require.Len(t, n.seen(), 2)
}

func TestWithoutCacheEveryFetchIsRequest(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.CacheTTL = -1 })

	for range 3 {
		_, err := f.Fetch(t.Context(), page)
		require.NoError(t, err)
	}

	require.Len(t, n.seen(), 3)
}

func TestQueryIsPartOfCacheKey(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	f := n.fetcher(t, nil)

	for _, url := range []string{page, page + "?v=1", page + "?v=2", page + "?v=2"} {
		_, err := f.Fetch(t.Context(), url)
		require.NoError(t, err)
	}

	require.Equal(t, []string{"docs.example.org /a.md", "docs.example.org /a.md?v=1", "docs.example.org /a.md?v=2"}, n.seen())
}

func TestCloseEndsRunningFetches(t *testing.T) {
	t.Parallel()
	n, g := newInternet(t), newGate()
	n.handle("docs.example.org", g.ServeHTTP)
	f := n.fetcher(t, nil)

	failed := make(chan error)
	go func() {
		_, err := f.Fetch(t.Context(), page)
		failed <- err
	}()
	<-g.reached
	f.Close()
	f.Close()

	requireFailure(t, <-failed, tarsy.CodeShuttingDown, "the server is shutting down")
	_, err := f.Fetch(t.Context(), page)
	requireFailure(t, err, tarsy.CodeShuttingDown, "the server is shutting down")
}

// observed is a clock that records when a timer is stopped, which a fetch does at its end.
type observed struct {
	clockwork.Clock
	lifted *atomic.Bool
}

type observedTimer struct {
	clockwork.Timer
	lifted *atomic.Bool
}

func (o observed) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return observedTimer{o.Clock.AfterFunc(d, f), o.lifted}
}

func (o observedTimer) Stop() bool {
	o.lifted.Store(true)

	return o.Timer.Stop()
}

func TestCloseWaitsForFetchOfCancelledCaller(t *testing.T) {
	t.Parallel()
	n, g := newInternet(t), newGate()
	n.handle("docs.example.org", g.ServeHTTP)
	var lifted atomic.Bool
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.Clock = observed{clockwork.NewFakeClock(), &lifted} })

	ctx, giveUp := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := f.Fetch(ctx, page)
		failed <- err
	}()
	<-g.reached
	giveUp()
	require.ErrorIs(t, <-failed, context.Canceled)
	require.False(t, lifted.Load())

	f.Close()

	require.True(t, lifted.Load())
}

func TestLogsContainNoQueryAndNoToken(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	n.handle("github.com", redirect("https://raw.githubusercontent.com/b?token=secret-2"))
	n.handle("raw.githubusercontent.com", redirect("https://evil.example/c?token=secret-3"))
	var logs bytes.Buffer
	f := n.fetcher(t, func(cfg *runbook.Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
		cfg.GitHubToken = "secret-4"
	})

	_, err := f.Fetch(t.Context(), "https://github.com/a?token=secret-1#secret-5")
	require.NotContains(t, err.Error(), "secret")
	_, err = f.Fetch(t.Context(), "https://docs.example.org/a?token=secret-1")
	require.NoError(t, err)
	f.Close()

	require.Contains(t, logs.String(), "url=https://github.com/a ")
	require.Contains(t, logs.String(), "url=https://docs.example.org/a ")
	require.NotContains(t, logs.String(), "secret")
}

func TestFailureCauseIsLogged(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	var logs bytes.Buffer
	f := n.fetcher(t, func(cfg *runbook.Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(&logs, nil))
		cfg.Resolve = answering("10.9.8.7")
	})

	_, err := f.Fetch(t.Context(), page)

	require.NotContains(t, err.Error(), "10.9.8.7")
	f.Close()
	require.Contains(t, logs.String(), "10.9.8.7")
}
