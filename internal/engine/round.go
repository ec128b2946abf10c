package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/engine/plan"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// round plans once and executes the plan.
func (r *sessionRun) round() (released bool, err error) {
	ctx, stop := context.WithCancelCause(r.engine.Trace(context.Background(), r.lease.SessionID, r.lease.SessionID))
	defer stop(nil)

	if r.soft.Err() != nil {
		return false, context.Cause(r.soft)
	}

	var (
		followed chain.Chain
		missing  []string
		tasks    []plan.Task
		began    time.Time
		limited  bool
	)

	err = r.memory.beginRound(stop, func(state *progress.State) {
		followed, missing = r.resolveChain(state.Session)
		tasks = plan.Next(state, followed, missing, r.engine.Clock.Now(), r.settings.SessionTimeout)
		began, limited = plan.Began(state, r.engine.Clock.Now())
	})
	if err != nil {
		return false, err
	}

	if limited {
		left := began.Add(r.settings.SessionTimeout).Sub(r.engine.Clock.Now())
		timer := r.engine.Clock.AfterFunc(left, func() { stop(errSessionTimeout) })

		defer timer.Stop()
	}

	switch task := tasks[0]; task.Kind {
	case plan.RunExecution:
		return false, r.runExecutions(ctx, followed, tasks)
	case plan.FetchRunbook:
		return r.fetchRunbook(ctx, followed)
	case plan.Conclude:
		return r.conclude(ctx, followed)
	default:
		return r.record(ctx, followed, func(s plan.Steps) progress.Step {
			s.Missing = missing

			return s.For(task)
		})
	}
}

// submit builds a step from the current state and submits it.
func (r *sessionRun) submit(c chain.Chain, build func(plan.Steps) progress.Step) (progress.Step, *postgres.Pending) {
	var step progress.Step

	pending := r.memory.submit(func(state *progress.State, sequence func() int64) progress.Step {
		step = build(plan.Steps{State: state, Chain: c, Now: r.engine.now(), Timeout: r.settings.SessionTimeout, Sequence: sequence})

		return step
	})

	return step, pending
}

// record submits the step of a task. It waits for a step that releases the lease. If a request arrived in the meantime the lease is kept,
// and the next plan sees the request.
func (r *sessionRun) record(ctx context.Context, c chain.Chain, build func(plan.Steps) progress.Step) (released bool, err error) {
	step, pending := r.submit(c, build)
	if !step.Release {
		return false, nil
	}

	committed, err := pending.Wait(context.WithoutCancel(ctx))
	if err != nil {
		return false, commitError(err)
	}

	r.engine.ledger.add(step)

	if !committed.Released {
		r.readRequests(context.WithoutCancel(ctx))
	}

	return committed.Released, nil
}

// fetchRunbook reads the runbook that the alert refers to and begins the first stage with it, or with the default.
func (r *sessionRun) fetchRunbook(ctx context.Context, c chain.Chain) (released bool, err error) {
	callCtx, done, err := r.beginCall(ctx)
	if err != nil {
		return false, err
	}
	defer done()

	var url string

	r.memory.read(func(state *progress.State) { url = state.Session.RunbookURL })

	text, err := r.engine.FetchRunbook(callCtx, url)
	if err != nil && callCtx.Err() != nil {
		return false, context.Cause(callCtx)
	}

	return r.record(ctx, c, func(s plan.Steps) progress.Step { return s.Runbook(text, err, r.settings.DefaultRunbook) })
}

// summaryMargin is the fraction of the wrap-up time, as 1/summaryMargin, that must be left after the executive summary, to store it.
const summaryMargin = 60

// conclude writes the executive summary and the verdict concurrently and completes the session, in one step. If one of them fails the
// session completes without it.
func (r *sessionRun) conclude(ctx context.Context, c chain.Chain) (released bool, err error) {
	callCtx, done, err := r.beginCall(ctx)
	if err != nil {
		return false, err
	}
	defer done()

	var (
		analysis string
		calls    []tarsy.Citation
		began    time.Time
	)

	r.memory.read(func(state *progress.State) {
		analysis, calls = plan.FinalAnalysis(state), plan.Calls(state)
		began, _ = plan.Began(state, r.engine.Clock.Now())
	})

	input := func(how chain.Summary) agent.ClosingInput {
		return agent.ClosingInput{
			SessionID: r.lease.SessionID, Analysis: analysis, Models: how.Models, Limit: how.Limit, Instructions: how.Instructions,
			Deadline: began.Add(r.settings.SessionTimeout - r.settings.WrapUp/summaryMargin),
		}
	}

	var (
		summary   agent.Summary
		judgement agent.Judgement
		group     sync.WaitGroup
	)

	group.Go(func() { summary = agent.Summarise(callCtx, r.settings.Agent, input(c.Summary)) })

	if c.Verdict != nil {
		judgement = agent.Judge(callCtx, r.settings.Agent, agent.VerdictInput{ClosingInput: input(*c.Verdict), Calls: calls})
	}

	group.Wait()

	if errors.Join(summary.Err, judgement.Err) != nil && callCtx.Err() != nil {
		return false, context.Cause(callCtx)
	}

	return r.record(ctx, c, func(s plan.Steps) progress.Step { return s.Complete(summary, judgement) })
}

// beginCall prepares an external call that can be repeated if it is interrupted, so that a stopping server does not wait for it.
func (r *sessionRun) beginCall(ctx context.Context) (context.Context, func(), error) {
	if err := (recorder{r}).CheckLease(ctx); err != nil {
		return nil, nil, err
	}

	callCtx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.soft, func() { cancel(context.Cause(r.soft)) })

	return callCtx, func() {
		stop()
		cancel(nil)
	}, nil
}
