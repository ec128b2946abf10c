package agent

import (
	"context"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// The time between Input.ConcludeAt and Input.Deadline is divided into these parts. With three minutes, a call that runs when it is
// time to conclude has 30 seconds left, the conclusion ends a minute before the deadline (or has a minute if a tool call took longer),
// and a synthesis half a minute before it; the rest is for the executive summary.
const (
	runningShare    = 6
	conclusionShare = 3
	synthesisShare  = 6
)

// callLimit returns how long an LLM call can take, and the cause when it ends. Without it a call that begins just before it is time to
// conclude would leave too little time for the conclusion, and the session would time out without a result.
func (r *run) callLimit(purpose tarsy.InteractionType) (time.Duration, error) {
	if r.ConcludeAt.IsZero() || !r.Deadline.After(r.ConcludeAt) {
		return r.Spec.IterationTimeout, errIterationTimeout
	}

	now, wrapUp := r.Clock.Now(), r.Deadline.Sub(r.ConcludeAt)
	left := r.Deadline.Sub(now)

	switch purpose {
	case tarsy.InteractionForcedConclusion:
		left = min(left, max(left-wrapUp/conclusionShare, wrapUp/conclusionShare))
	case tarsy.InteractionSynthesis:
		left = min(left, max(left-wrapUp/synthesisShare, wrapUp/synthesisShare))
	default:
		left = r.ConcludeAt.Add(wrapUp / runningShare).Sub(now)
	}

	if left < r.Spec.IterationTimeout {
		return left, errDeadline
	}

	return r.Spec.IterationTimeout, errIterationTimeout
}

// noSynthesisTime replaces a synthesis for which there was no time.
const noSynthesisTime = "There was no time left for a synthesis. The agents' analyses follow unchanged."

// takeDeadline handles a call that was cut off because the session's time is nearly up. An investigation concludes next; a synthesis
// ends with the analyses that it should have combined.
func (r *run) takeDeadline(ctx context.Context, step progress.Step, purpose tarsy.InteractionType) (bool, error) {
	switch {
	case purpose == tarsy.InteractionIteration:
		return false, r.commit(ctx, step)
	case hasAnalysis(r.Investigations):
		return true, r.keepAnalyses(ctx, step, CodeDeadline, noSynthesisTime)
	default:
		return true, r.fail(ctx, step, tarsy.StatusTimedOut, CodeDeadline, errDeadline.Error())
	}
}
