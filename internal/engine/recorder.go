package engine

import (
	"context"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// leaseMargin is the part of a lease that must be left before a call to the outside is made.
const leaseMargin = 4

// submitLocked hands a step over and keeps the state in line with it, in the same order. The caller holds r.mu.
func (r *sessionRun) submitLocked(step progress.Step) *postgres.Pending {
	r.state.Apply(step)
	r.last = r.holder.Submit(step)

	return r.last
}

// submit builds a step from the state and hands it over, with nothing in between: what noteRequests or another
// execution writes comes before or after, never amid.
func (r *sessionRun) submit(build func() progress.Step) *postgres.Pending {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.submitLocked(build())
}

// Submit implements agent.Recorder.
func (r *sessionRun) Submit(step progress.Step) {
	r.submit(func() progress.Step { return step })
}

// Commit implements agent.Recorder.
func (r *sessionRun) Commit(ctx context.Context, step progress.Step) error {
	err := r.wait(ctx, r.submit(func() progress.Step { return step }))
	if err == nil {
		r.engine.ledger.add(step)
	}

	return err
}

// wait waits for a step. After a failure everything that runs for this session is stopped: the memory of it may be
// wrong.
func (r *sessionRun) wait(ctx context.Context, pending *postgres.Pending) error {
	if _, err := pending.Wait(ctx); err != nil {
		err = commitError(err)

		r.mu.Lock()
		r.stopRound(err)
		r.mu.Unlock()

		return err
	}

	return nil
}

// Sequence implements agent.Recorder.
func (r *sessionRun) Sequence() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.nextSequence()
}

func (r *sessionRun) nextSequence() int64 {
	r.sequence++

	return r.sequence
}

// Outside implements agent.Recorder: with too little of the lease left it is renewed first, and a lost one stops
// the call. A server that was frozen meets this before it does anything.
func (r *sessionRun) Outside(ctx context.Context) error {
	r.mu.Lock()
	left := r.until.Sub(r.engine.Clock.Now())
	r.mu.Unlock()

	if left > r.engine.Lease/leaseMargin {
		return nil
	}

	err := r.engine.renewLeases(ctx, []*sessionRun{r})

	// Why the work is stopped says more than that the renewal was cut off by it.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if err != nil {
		return commitError(err)
	}

	return nil
}
