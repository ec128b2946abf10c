package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tarsy.dev/tarsy/internal/config"
)

const (
	// minStopTime is the minimum time for a stop: sessions are handed over in it, even if no tool call is waited for.
	minStopTime = time.Second
	// maxReleaseTime limits what is reserved for everything after the tool calls.
	maxReleaseTime = 5 * time.Second
	// lateGrace is what each part gets when it is stopped after the time is up.
	lateGrace = 10 * time.Millisecond
)

var errStopTime = errors.New("did not stop in time; other servers take over its sessions when the leases expire")

// StopTime returns how long a stop takes at most.
func StopTime(cfg config.Queue) time.Duration { return max(cfg.GracefulShutdownTimeout, minStopTime) }

// releaseTime returns the part of StopTime that is left after tool calls are cut off, for handing sessions over and
// for jobs, requests and connections.
func releaseTime(cfg config.Queue) time.Duration {
	const share = 3

	return min(StopTime(cfg)/share, maxReleaseTime)
}

// toolGrace returns how long to wait for tool calls in flight.
func toolGrace(cfg config.Queue) time.Duration {
	return min(cfg.GracefulShutdownTimeout, StopTime(cfg)-releaseTime(cfg))
}

type cleanup struct {
	what string
	stop func(ctx context.Context) error
}

func (a *App) onStop(what string, stop func(ctx context.Context) error) {
	a.cleanups = append(a.cleanups, cleanup{what: what, stop: stop})
}

// Stop undoes everything, last in first out. Parts that have not stopped when ctx is done are abandoned: MCP processes are killed, and
// goroutines end with the process. It is idempotent and safe before Start.
func (a *App) Stop(ctx context.Context) error {
	a.stopOnce.Do(func() {
		a.ready.Store(false)

		// MCP processes must not outlive this one.
		defer context.AfterFunc(ctx, func() { close(a.abandoned) })()

		var errs []error

		for _, c := range slices.Backward(a.cleanups) {
			errs = append(errs, c.undo(ctx))
		}

		served := cleanup{what: "requests", stop: func(context.Context) error { a.serving.Wait(); return nil }}
		a.stopErr = errors.Join(append(errs, served.undo(ctx))...)
	})

	return a.stopErr
}

// undo stops one part. It returns when ctx is done even if the part has not stopped.
func (c cleanup) undo(ctx context.Context) error {
	stopped := make(chan error, 1)

	go func() { stopped <- c.stop(ctx) }()

	select {
	case err := <-stopped:
		return c.failed(err)
	case <-ctx.Done():
	}

	// Parts after the deadline still get a moment: most need no time.
	last := time.NewTimer(lateGrace)
	defer last.Stop()

	select {
	case err := <-stopped:
		return c.failed(err)
	case <-last.C:
		return c.failed(errStopTime)
	}
}

func (c cleanup) failed(err error) error {
	if err == nil {
		return nil
	}

	return fmt.Errorf("stop %s: %w", c.what, err)
}
