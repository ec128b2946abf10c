package engine

import (
	"context"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// round plans once and does what was planned.
func (r *sessionRun) round() (released bool, err error) {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)

	if r.soft.Err() != nil {
		return false, context.Cause(r.soft)
	}

	r.mu.Lock()
	if r.interrupted != nil {
		r.mu.Unlock()

		return false, r.interrupted
	}

	r.stopRound = stop
	recipe, known := r.engine.Chain(r.state.Session.ChainID)
	tasks := plan(r.state, recipe, known, r.engine.Clock.Now(), r.engine.SessionTimeout)
	started := begun(r.state)
	r.mu.Unlock()

	if started != nil {
		left := started.Add(r.engine.SessionTimeout).Sub(r.engine.Clock.Now())
		timer := r.engine.Clock.AfterFunc(left, func() { stop(errSessionTimeout) })

		defer timer.Stop()
	}

	if tasks[0].kind == taskRunExecution {
		return false, r.runExecutions(ctx, recipe, tasks)
	}

	return r.do(ctx, recipe, tasks[0])
}

// do does a task that is not an execution.
func (r *sessionRun) do(ctx context.Context, recipe chain.Chain, t task) (released bool, err error) {
	switch t.kind {
	case taskConclude:
		return r.conclude(ctx, recipe)
	case taskFetchRunbook:
		return false, r.fetchRunbook(ctx, recipe)
	case taskCreateStage, taskSynthesise, taskAsk:
		r.submit(func() progress.Step { return r.taskStep(recipe, t) })

		return false, nil
	case taskFinishStage:
		return r.finishStage(ctx, t)
	case taskRelease, taskCancel, taskTimeOut, taskNoChain, taskFail, taskCancelChat, taskTimeOutChat:
		return r.finish(ctx, func() progress.Step { return r.taskStep(recipe, t) })
	case taskRunExecution:
	}

	panic("engine: an execution is not done alone")
}

// begun is when what is being done began, by which its time limit counts: the investigation, or the answer to a
// question.
func begun(state *progress.State) *time.Time {
	if open := openChat(state); open >= 0 {
		return &state.Stages[open].CreatedAt
	}

	if state.Session.Status.Terminal() {
		return nil
	}

	return state.Session.StartedAt
}

// finishStage ends a stage. With the answer to a question there is nothing left to do.
func (r *sessionRun) finishStage(ctx context.Context, t task) (released bool, err error) {
	r.mu.Lock()
	chat := r.state.Stages[t.stage].StageType == tarsy.StageChat
	r.mu.Unlock()

	if chat {
		return r.finish(ctx, func() progress.Step { return r.finishChatStep(t.stage) })
	}

	r.submit(func() progress.Step { return r.finishStageStep(t.stage) })

	return false, nil
}

// finish commits the last step of a session and gives the lease back. If somebody asked for something meanwhile the
// lease stays, and the next plan sees the request.
func (r *sessionRun) finish(ctx context.Context, build func() progress.Step) (released bool, err error) {
	var last progress.Step

	pending := r.submit(func() progress.Step {
		last = build()
		last.Release = true

		return last
	})

	committed, err := pending.Wait(context.WithoutCancel(ctx))
	if err != nil {
		return false, commitError(err)
	}

	r.engine.ledger.add(last)

	if !committed.Released {
		r.noteRequests(context.WithoutCancel(ctx))
	}

	return committed.Released, nil
}
