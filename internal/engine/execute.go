package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// runExecutions runs the executions of a stage at once and waits for all of them: one that fails stops no other.
// It returns why the work could not go on, if so.
func (r *sessionRun) runExecutions(ctx context.Context, recipe chain.Chain, tasks []task) error {
	var (
		group sync.WaitGroup
		errs  = make([]error, len(tasks))
	)

	for i, t := range tasks {
		group.Go(func() { errs[i] = r.runExecution(ctx, recipe, t) })
	}

	group.Wait()

	// Why the round was stopped says more than what each execution made of it.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return errors.Join(errs...)
}

func (r *sessionRun) runExecution(ctx context.Context, recipe chain.Chain, t task) (err error) {
	// What a model or a tool said must not end the process: whoever takes the session over would meet it again.
	defer func() {
		if cause := recover(); cause != nil {
			r.engine.Logger.Error("an execution panicked", "session_id", r.lease.SessionID, "execution_id", t.execution,
				"panic", fmt.Sprint(cause), "stack", string(debug.Stack()))

			err = r.failExecution(ctx, t, string(tarsy.CodeInternal), "something went wrong in the server")
		}
	}()

	in, err := r.input(recipe, t)
	if err != nil {
		return r.failExecution(ctx, t, string(tarsy.CodeOf(err)), err.Error())
	}

	err = agent.Run(ctx, r.engine.Agent, in)

	switch {
	case err == nil || ctx.Err() != nil || r.soft.Err() != nil:
		return err
	case errors.Is(err, errCommitFailed) || errors.Is(err, postgres.ErrFenceLost):
		return err
	default:
		return r.failExecution(ctx, t, "internal", err.Error())
	}
}

// failExecution ends an execution that could not run.
func (r *sessionRun) failExecution(ctx context.Context, t task, code, message string) error {
	pending := r.submit(func() progress.Step { return r.failExecutionStep(t.execution, code, message) })

	return r.wait(context.WithoutCancel(ctx), pending)
}

// event makes a completed timeline event of the session. The caller holds r.mu.
func (r *sessionRun) event(eventType tarsy.EventType, content string, now time.Time) tarsy.TimelineEvent {
	return tarsy.TimelineEvent{
		ID: tarsy.NewID(), SessionID: r.lease.SessionID, SequenceNumber: r.nextSequence(), EventType: eventType,
		Status: tarsy.EventCompleted, Content: tarsy.CleanText(content), CreatedAt: now, UpdatedAt: now, CompletedAt: &now,
	}
}

// conclude writes the executive summary and finishes the session, in one step. A summary that fails leaves its
// reason on the session, which completes all the same.
func (r *sessionRun) conclude(ctx context.Context, recipe chain.Chain) (released bool, err error) {
	callCtx, done, err := r.outside(ctx)
	if err != nil {
		return false, err
	}
	defer done()

	r.mu.Lock()
	analysis := r.finalAnalysis()
	r.mu.Unlock()

	summary := agent.Summarise(callCtx, r.engine.Agent, agent.SummaryInput{
		SessionID: r.lease.SessionID, Analysis: analysis, Models: recipe.Summary.Models, Limit: recipe.Summary.Limit,
	})
	if summary.Err != nil && callCtx.Err() != nil {
		return false, context.Cause(callCtx)
	}

	return r.finish(ctx, func() progress.Step { return r.concludeStep(summary) })
}
