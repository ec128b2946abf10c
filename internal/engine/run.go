package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// maxFutile is how often the database may refuse what a session came to, without the session having come further,
// before it is given up: a step that can never be stored would be tried, and its LLM call be paid for, without end. A
// database that is down or full is no reason to give up.
const maxFutile = 5

// sessionRun is the work on one session under one lease. Its goroutine plans and waits; the executions of a stage
// and the engine's loops reach it only through the methods that lock.
type sessionRun struct {
	engine    *Engine
	lease     postgres.Lease
	uncounted bool

	// reached is where the journal was when the session was last loaded again. Since then, without having come further,
	// it has failed so often, and so often because its step can never be stored. They belong to the run's goroutine.
	reached  int64
	failures int
	futile   int

	// soft is cancelled when the work should stop at the next safe point.
	soft     context.Context //nolint:containedctx // lives as long as the run
	softStop context.CancelCauseFunc

	noting sync.Mutex

	mu     sync.Mutex
	holder *postgres.Holder
	state  *progress.State
	// sequence is the last sequence number of the timeline.
	sequence int64
	until    time.Time
	// last is the step submitted last; the ones before it are committed before it.
	last *postgres.Pending
	// stopRound interrupts what is being done now; interrupted is why the next round must not begin.
	stopRound   context.CancelCauseFunc
	interrupted error
}

func newSessionRun(e *Engine, c postgres.Claim) *sessionRun {
	r := &sessionRun{engine: e, lease: c.Lease, uncounted: c.Uncounted, until: c.Until}
	r.soft, r.softStop = context.WithCancelCause(context.Background())
	r.adopt(&c.State)

	return r
}

// adopt takes over what the database holds.
func (r *sessionRun) adopt(state *progress.State) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.state, r.holder, r.last = state, r.engine.DB.Hold(r.lease), nil
	r.sequence = 0

	for _, e := range state.Timeline {
		r.sequence = max(r.sequence, e.SequenceNumber)
	}
}

// yield asks the work to stop at the next safe point.
func (r *sessionRun) yield(cause error) { r.softStop(cause) }

// interrupt stops the work at once.
func (r *sessionRun) interrupt(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if errors.Is(cause, postgres.ErrFenceLost) || errors.Is(cause, errHandOver) {
		r.interrupted = cause
	}

	if r.stopRound != nil {
		r.stopRound(cause)
	}
}

func (r *sessionRun) setUntil(until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()

	// Renewals overtake each other: the one that is told last need not be the one that holds longest.
	if until.After(r.until) {
		r.until = until
	}
}

// noteRequests reads what is asked and acts on a cancellation at once: people see "cancelling", the work stops, and
// the next plan cancels. One reads at a time, or what was read first could come to stand last.
func (r *sessionRun) noteRequests(ctx context.Context) {
	r.noting.Lock()
	defer r.noting.Unlock()

	requests, err := r.engine.DB.OpenRequests(ctx, r.lease.SessionID)
	if err != nil {
		if ctx.Err() == nil {
			r.engine.Logger.Warn("could not read requests; they are read again with the next renewal", "session_id", r.lease.SessionID, "error", err)
		}

		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.state.Requests = requests
	if !hasRequest(r.state, tarsy.RequestCancel) || r.state.Session.Status.Terminal() && openChat(r.state) < 0 {
		return
	}

	if r.state.Session.Status == tarsy.SessionInProgress {
		session := r.state.Session
		session.Status = tarsy.SessionCancelling
		r.submitLocked(progress.Step{
			Session: &session,
			Events:  []tarsy.Event{tarsy.SessionStatusChanged(session, r.engine.now())},
		})
	}

	if r.stopRound != nil {
		r.stopRound(errCancelRequested)
	}
}

// run does what is planned until the lease is given back or lost.
func (r *sessionRun) run() {
	defer r.softStop(context.Canceled)

	log := r.engine.Logger.With("session_id", r.lease.SessionID, "fence", r.lease.Fence)

	next := r.round

	for {
		released, err := next()
		next = r.round

		switch {
		case released:
			return
		case err == nil || errors.Is(err, errCancelRequested) || errors.Is(err, errSessionTimeout):
			// Plan again.
		case errors.Is(err, postgres.ErrFenceLost):
			log.Warn("lost the lease; another server goes on")

			return
		case errors.Is(err, errHandOver):
			r.handOver()

			return
		default:
			log.Error("a step failed; loading the session again", "error", err)

			newer, certain := r.newerSchema(err)
			if newer {
				r.leaveToNewer()

				return
			}

			if !r.reload(certain && postgres.Unstorable(err)) {
				return
			}

			if r.futile >= maxFutile {
				next = r.giveUp
			}
		}
	}
}

// giveUp ends a session that does not come any further, or the answer to a question, unless another reason to stop
// came first.
func (r *sessionRun) giveUp() (released bool, err error) {
	if r.soft.Err() != nil {
		return r.round()
	}

	const message = "what the session came to could not be stored"

	return r.finish(context.Background(), func() progress.Step {
		switch {
		case !r.state.Session.Status.Terminal():
			return r.closeStep(tarsy.SessionFailed, string(tarsy.CodeInternal), message)
		case openChat(r.state) >= 0:
			return r.closeChatStep(tarsy.StatusFailed, message)
		default:
			return progress.Step{Answered: r.answer(tarsy.RequestRefused)}
		}
	})
}

// handOver gives the lease back with work undone.
func (r *sessionRun) handOver() {
	const patience = 5 * time.Second

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	r.settle(ctx)

	if err := r.engine.DB.HandOver(ctx, r.lease); err != nil {
		r.engine.Logger.Warn("could not hand the session over; its lease will run out", "session_id", r.lease.SessionID, "error", err)
	}
}

// newerSchemaPause is how long a session is left to newer servers before this one tries again.
const newerSchemaPause = 30 * time.Second

// newerSchema reports whether the database refused a step and has a schema that only a newer release knows: that release
// may be able to store what this one cannot. It also reports whether it could find out.
func (r *sessionRun) newerSchema(err error) (newer, certain bool) {
	if !postgres.SchemaRefused(err) {
		return false, true
	}

	ctx, cancel := context.WithTimeout(context.Background(), databasePatience)
	defer cancel()

	newer, err = r.engine.DB.NewerSchema(ctx)

	return newer, err == nil
}

// leaveToNewer gives the lease back to a server of a newer release.
func (r *sessionRun) leaveToNewer() {
	ctx, cancel := context.WithTimeout(context.Background(), databasePatience)
	defer cancel()

	r.settle(ctx)
	r.engine.Logger.Warn("the database has a newer schema, which refused a step; leaving the session to a newer server",
		"session_id", r.lease.SessionID, "retry_after", newerSchemaPause)

	if err := r.engine.DB.Defer(ctx, r.lease, r.engine.now().Add(newerSchemaPause)); err != nil {
		r.engine.Logger.Warn("could not hand the session over; its lease will run out", "session_id", r.lease.SessionID, "error", err)
	}
}

// settle waits for steps that are still on their way.
func (r *sessionRun) settle(ctx context.Context) {
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()

	if last != nil {
		// Its error, if any, was or will be met by a Commit.
		_, _ = last.Wait(ctx)
	}
}

// reload forgets what is in memory and loads the session under its fence, after a pause that grows while the session
// does not come any further. Steps that can never be stored are counted. It reports whether to go on.
func (r *sessionRun) reload(unstorable bool) bool {
	for {
		r.settle(context.Background())

		state, err := r.load()
		if errors.Is(err, postgres.ErrFenceLost) {
			return false
		}

		if err != nil {
			r.engine.Logger.Error("could not load the session; trying again", "session_id", r.lease.SessionID, "error", err)
			r.failures++

			if !r.rest() {
				r.handOver()

				return false
			}

			continue
		}

		if state.LastSeq > r.reached {
			r.reached, r.failures, r.futile = state.LastSeq, 0, 0
		}

		if unstorable {
			r.futile++
		}

		r.failures++
		r.adopt(state)
		r.rest()

		return true
	}
}

func (r *sessionRun) load() (*progress.State, error) {
	ctx, cancel := context.WithTimeout(context.Background(), databasePatience)
	defer cancel()

	return r.engine.DB.Load(ctx, r.lease)
}

// rest lets some time pass, none after a first failure. It reports false at once when the work should stop.
func (r *sessionRun) rest() bool {
	const firstPause, longestPause, doublings = 50 * time.Millisecond, 5 * time.Second, 7

	if r.failures <= 1 {
		return true
	}

	select {
	case <-r.soft.Done():
		return false
	case <-time.After(min(firstPause<<min(r.failures-2, doublings), longestPause)):
		return true
	}
}

func commitError(err error) error {
	if errors.Is(err, postgres.ErrFenceLost) {
		return err
	}

	return fmt.Errorf("%w: %w", errCommitFailed, err)
}
