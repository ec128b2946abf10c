package engine

import (
	"context"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// leaseMargin is the fraction of a lease, as 1/leaseMargin, that must be left before an external call.
const leaseMargin = 4

// recorder is an execution's view of its session. It implements agent.Recorder.
type recorder struct{ run *sessionRun }

// Submit implements agent.Recorder.
func (r recorder) Submit(step progress.Step) { r.submit(step) }

// Commit implements agent.Recorder.
func (r recorder) Commit(ctx context.Context, step progress.Step) error {
	err := r.wait(ctx, r.submit(step))
	if err == nil {
		r.run.engine.ledger.add(step)
	}

	return err
}

// Sequence implements agent.Recorder.
func (r recorder) Sequence() int64 { return r.run.memory.nextSequence() }

// CheckLease implements agent.Recorder. It renews a lease that is about to end, and fails if the lease is lost. A server that was frozen
// fails here before it does anything.
func (r recorder) CheckLease(ctx context.Context) error {
	engine := r.run.engine
	if left := r.run.memory.leaseEnd().Sub(engine.Clock.Now()); left > engine.Lease/leaseMargin {
		return nil
	}

	err := engine.renewLeases(ctx, []*sessionRun{r.run})

	// The reason why the work was stopped is more useful than the error of the renewal that this interrupted.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if err != nil {
		return commitError(err)
	}

	return nil
}

func (r recorder) submit(step progress.Step) *postgres.Pending {
	return r.run.memory.submit(func(*progress.State, func() int64) progress.Step { return step })
}

// wait waits for a step. After a failure it stops everything that runs for this session, because the memory may be wrong.
func (r recorder) wait(ctx context.Context, pending *postgres.Pending) error {
	if _, err := pending.Wait(ctx); err != nil {
		err = commitError(err)
		r.run.memory.interrupt(err)

		return err
	}

	return nil
}
