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
	"tarsy.dev/tarsy/internal/engine/plan"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// runExecutions runs the executions of a stage concurrently and waits for all of them; a failure of one does not stop the others. It
// returns an error if the work on the session cannot continue.
func (r *sessionRun) runExecutions(ctx context.Context, c chain.Chain, tasks []plan.Task) error {
	var (
		group sync.WaitGroup
		errs  = make([]error, len(tasks))
		crew  = newCrew(len(tasks))
	)

	for i, t := range tasks {
		group.Go(func() {
			defer crew.leave()

			errs[i] = r.runUntilDone(ctx, c, t, crew)
		})
	}

	group.Wait()

	// The reason why the round was stopped is more useful than the errors of its executions.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return errors.Join(errs...)
}

// runUntilDone runs an execution. If one of its calls waits for a person, it waits as long as other executions of the stage are working.
// Once none is, it returns too, and the next plan releases the lease.
func (r *sessionRun) runUntilDone(ctx context.Context, c chain.Chain, t plan.Task, crew *crew) error {
	for {
		decision := r.memory.nextDecision()

		err := r.runExecution(ctx, c, t)
		if !errors.Is(err, agent.ErrWaiting) {
			return err
		}

		for waiting := true; waiting; {
			crew.rest()

			var expiry <-chan time.Time

			r.memory.read(func(state *progress.State) {
				if at, ok := plan.DecideBefore(state, t.Execution, r.engine.Clock.Now()); ok {
					expiry = r.engine.Clock.After(at.Sub(r.engine.Clock.Now()))
				}
			})

			select {
			case <-crew.idle:
			case <-ctx.Done():
				err = context.Cause(ctx)
			case <-r.soft.Done():
				err = context.Cause(r.soft)
			case <-decision:
				decision = r.memory.nextDecision()
			case <-expiry:
			}

			if !crew.work() {
				return nil
			}

			if !errors.Is(err, agent.ErrWaiting) {
				return err
			}

			r.memory.read(func(state *progress.State) { waiting = plan.IsWaiting(state, t.Execution, r.engine.Clock.Now()) })
		}
	}
}

func (r *sessionRun) runExecution(ctx context.Context, c chain.Chain, t plan.Task) (err error) {
	// The output of a model or a tool must not crash the process: the next server would crash on it too.
	defer func() {
		if cause := recover(); cause != nil {
			r.engine.Logger.Error("an execution panicked", "session_id", r.lease.SessionID, "execution_id", t.Execution,
				"panic", fmt.Sprint(cause), "stack", string(debug.Stack()))

			err = r.failExecution(ctx, t, string(tarsy.CodeInternal), "something went wrong in the server")
		}
	}()

	ctx = r.engine.Trace(ctx, r.lease.SessionID, t.Execution)

	in, err := r.input(c, t)
	if err != nil {
		return r.failExecution(ctx, t, string(tarsy.CodeOf(err)), err.Error())
	}

	if c.Past.Prompt {
		in.Past = r.pastSessions(ctx, in)
	}

	err = agent.Run(ctx, r.settings.Agent, in)

	switch {
	case err == nil || ctx.Err() != nil || r.soft.Err() != nil || errors.Is(err, agent.ErrWaiting):
		return err
	case errors.Is(err, errCommitFailed) || errors.Is(err, postgres.ErrFenceLost):
		return err
	default:
		return r.failExecution(ctx, t, "internal", err.Error())
	}
}

// failExecution records the failure of an execution that could not run.
func (r *sessionRun) failExecution(ctx context.Context, t plan.Task, code, message string) error {
	_, pending := r.submit(chain.Chain{}, func(s plan.Steps) progress.Step { return s.FailExecution(t.Execution, code, message) })

	return recorder{r}.wait(context.WithoutCancel(ctx), pending)
}

// input builds the input of an execution: what it works on, and its connections to this server.
func (r *sessionRun) input(c chain.Chain, t plan.Task) (in agent.Input, err error) {
	var equipped chain.Agent

	setup := plan.Setup{Chain: c, Server: r.server, ConcludeAfter: r.settings.SessionTimeout - r.settings.WrapUp, Timeout: r.settings.SessionTimeout, Now: r.engine.Clock.Now()}

	r.memory.read(func(state *progress.State) { in, equipped, err = plan.Input(state, setup, t) })

	if err != nil {
		return in, err
	}

	in.Recorder, in.Fence, in.Yield = recorder{r}, r.lease.Fence, r.soft

	in.ConcludeReason = r.budgetReached
	if in.Question == nil {
		in.ConcludeReason = r.concludeReason
	}

	if len(equipped.Servers) > 0 {
		in.OpenTools = func(ctx context.Context) (agent.Tools, error) {
			return r.engine.OpenTools(ctx, t.Execution, equipped.Servers, equipped.ToolRules)
		}
	}

	if c.Past.Tool {
		in.OpenTools = agent.WithPastSearch(in.OpenTools, func(ctx context.Context, query string, limit int) ([]tarsy.SimilarSession, error) {
			return r.engine.DB.SearchPast(ctx, r.lease.SessionID, query, r.pastVisible(), limit)
		})
	}

	return in, nil
}
