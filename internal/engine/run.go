package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/engine/plan"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// sessionRun is the work on one session under one lease. Its goroutine plans, executes the plan and waits for it; state shared with others
// is in its memory.
type sessionRun struct {
	engine    *Engine
	lease     postgres.Lease
	uncounted bool
	// recipe is the recipe that the session follows; nil means the configuration of this server.
	recipe *chain.Recipe
	// settings are the settings from when the session was claimed.
	settings *Settings

	memory   memory
	setbacks setbacks

	// soft is cancelled when the work should stop at the next safe point.
	soft     context.Context //nolint:containedctx // lives as long as the run
	softStop context.CancelCauseFunc

	// reading serializes reading requests, so that an older result does not replace a newer one.
	reading sync.Mutex
}

func newSessionRun(e *Engine, c postgres.Claim, recipe *chain.Recipe, settings *Settings) *sessionRun {
	r := &sessionRun{engine: e, lease: c.Lease, uncounted: c.Uncounted, recipe: recipe, settings: settings}
	r.soft, r.softStop = context.WithCancelCause(context.Background())
	r.memory.extendLease(c.Until, false)
	r.memory.setAnnounce(e.Announce)
	r.memory.load(&c.State, e.DB.Hold(c.Lease).Submit)

	return r
}

// yield asks the work to stop at the next safe point.
func (r *sessionRun) yield(cause error) { r.softStop(cause) }

// readRequests reads the open requests to the session. A cancel request takes effect immediately.
func (r *sessionRun) readRequests(ctx context.Context) {
	r.reading.Lock()
	defer r.reading.Unlock()

	requests, err := r.engine.DB.OpenRequests(ctx, r.lease.SessionID)
	if err != nil {
		if ctx.Err() == nil {
			r.engine.Logger.Warn("could not read requests; retrying with the next renewal", "session_id", r.lease.SessionID, "error", err)
		}

		return
	}

	r.memory.setRequests(requests, r.engine.now())
}

// run executes rounds until the lease is released or lost.
func (r *sessionRun) run() {
	defer r.softStop(context.Canceled)

	log := r.engine.Logger.With("session_id", r.lease.SessionID, "fence", r.lease.Fence)

	next := r.round

	for {
		released, err := r.contained(next)
		next = r.round

		switch {
		case released:
			return
		case err == nil || errors.Is(err, errCancelRequested) || errors.Is(err, errSessionTimeout):
			// Plan again.
		case errors.Is(err, postgres.ErrFenceLost):
			r.engine.LeaseLost()
			log.Warn("lost the lease; another server continues")

			return
		case errors.Is(err, errHandOver):
			r.handOver()

			return
		default:
			log.Error("a step failed; reloading the session", "error", err)

			newer, certain := r.newerSchema(err)
			if newer {
				r.deferToNewer()

				return
			}

			panicked := errors.Is(err, errPanicked)
			if !r.reload(panicked || certain && postgres.Unstorable(err)) {
				return
			}

			if r.setbacks.exhausted() {
				next = func() (bool, error) { return r.giveUp(panicked) }
			}
		}
	}
}

// contained calls next and turns a panic into an error, so that it crashes neither this process nor that of the next holder: like a step
// that can never be stored, it is retried a few times and then the session is given up.
func (r *sessionRun) contained(next func() (bool, error)) (released bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			released, err = false, fmt.Errorf("%w: %v\n%s", errPanicked, cause, debug.Stack())
		}
	}()

	return next()
}

// giveUp fails a session that makes no progress, or the current answer to a question, unless the server is stopping.
func (r *sessionRun) giveUp(panicked bool) (released bool, err error) {
	if r.soft.Err() != nil {
		return r.round()
	}

	reason := "the results of the session could not be stored"
	if panicked {
		reason = "something went wrong in the server"
	}

	return r.record(context.Background(), chain.Chain{}, func(s plan.Steps) progress.Step { return s.GiveUp(reason) })
}

// reload discards the memory and loads the session under its fence, with a pause that grows while the session makes no progress. It reports
// whether to continue. unstorable means that the failed step can never be stored.
func (r *sessionRun) reload(unstorable bool) bool {
	for {
		r.memory.waitCommitted(context.Background())

		state, err := r.load()
		if errors.Is(err, postgres.ErrFenceLost) {
			r.engine.LeaseLost()

			return false
		}

		if postgres.IsUnloadable(err) {
			r.engine.deferUnloadable(r.lease, err)

			return false
		}

		if err != nil {
			r.engine.Logger.Error("could not load the session; retrying", "session_id", r.lease.SessionID, "error", err)
			r.setbacks.notLoaded()

			if !r.backOff() {
				r.handOver()

				return false
			}

			continue
		}

		r.setbacks.loaded(state.LastSeq, unstorable)
		r.memory.load(state, r.engine.DB.Hold(r.lease).Submit)
		r.backOff()

		return true
	}
}

func (r *sessionRun) load() (*progress.State, error) {
	ctx, cancel := context.WithTimeout(context.Background(), databasePatience)
	defer cancel()

	return r.engine.DB.Load(ctx, r.lease)
}

// backOff waits for a time that grows with the number of failures. It returns false immediately when the work should stop.
func (r *sessionRun) backOff() bool {
	pause := r.setbacks.pause()
	if pause == 0 {
		return true
	}

	select {
	case <-r.soft.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

func commitError(err error) error {
	if errors.Is(err, postgres.ErrFenceLost) {
		return err
	}

	return fmt.Errorf("%w: %w", errCommitFailed, err)
}
