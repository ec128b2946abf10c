package engine

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// fetchRunbook reads the runbook that the alert named and begins the first stage with it. One that cannot be read is
// replaced by the default, visibly.
func (r *sessionRun) fetchRunbook(ctx context.Context, recipe chain.Chain) error {
	r.mu.Lock()
	pending, url := r.state.Session.Status == tarsy.SessionPending, r.state.Session.RunbookURL
	r.mu.Unlock()

	// People see that the session has begun while the runbook is read, and its time counts: that is a round of its own.
	if pending {
		r.submit(r.startStep)

		return nil
	}

	callCtx, done, err := r.outside(ctx)
	if err != nil {
		return err
	}
	defer done()

	text, err := r.engine.FetchRunbook(callCtx, url)
	if err != nil && callCtx.Err() != nil {
		return context.Cause(callCtx)
	}

	r.submit(func() progress.Step { return r.runbookStep(recipe, text, err) })

	return nil
}

// startStep begins a session before its first stage. The caller holds r.mu.
func (r *sessionRun) startStep() progress.Step {
	step, session := r.startSession(r.engine.now())
	step.Session = &session

	return step
}

// runbookStep begins the first stage with the runbook, or with the default and the reason for it. The caller holds r.mu.
func (r *sessionRun) runbookStep(recipe chain.Chain, text string, failure error) progress.Step {
	step := r.createStageStep(recipe.Stages[0])
	step.Session.Runbook = tarsy.CleanText(text)

	if failure != nil {
		event := r.event(tarsy.EventError,
			"The runbook could not be read: "+failure.Error()+". The default runbook is used instead.", r.engine.now())
		event.Metadata = map[string]any{"code": tarsy.ErrorRunbookUnavailable}
		step.Session.Runbook = r.engine.DefaultRunbook
		step.Timeline = append(step.Timeline, event)
		step.Events = append([]tarsy.Event{tarsy.TimelineCreated(event)}, step.Events...)
	}

	return step
}

// outside prepares a call to the outside that costs only its repetition when it is cut off, so that a stopping server
// does not wait for it.
func (r *sessionRun) outside(ctx context.Context) (context.Context, func(), error) {
	if err := r.Outside(ctx); err != nil {
		return nil, nil, err
	}

	callCtx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.soft, func() { cancel(context.Cause(r.soft)) })

	return callCtx, func() {
		stop()
		cancel(nil)
	}, nil
}
