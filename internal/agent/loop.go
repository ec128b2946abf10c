package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// action is what an execution does next.
type action int

const (
	actCompose    action = iota // write the first messages
	actGenerate                 // ask the model, with tools
	actConclude                 // tell the model to conclude
	actAnswer                   // ask the model, without tools, for its conclusion
	actSynthesise               // ask the model, once and without tools
	actTool                     // make the next call that the model requested
	actDigest                   // summarise the last result
	actFallBack                 // too many timeouts: let another provider take over
	actFail                     // too many timeouts
)

// next decides what comes next from the rows alone, so that a new execution and one whose server was killed are handled alike. nearEnd
// means that the agent must conclude: the deadline is near, the budget is spent, the alert is resolved, or the agent repeats the same
// calls.
func next(in *Input, nearEnd bool) action {
	if len(in.Messages) == 0 {
		return actCompose
	}

	iterations, timeouts := countIterations(in.LLMInteractions, in.Spec.Provider)
	pending := pendingCalls(in.Messages)

	switch {
	case !nearEnd && hasPendingSummary(in):
		return actDigest
	case len(pending) > 0 && (!nearEnd || recordOf(in.MCPInteractions, pending[0].ID) >= 0):
		return actTool
	case timeouts >= maxConsecutiveTimeouts && len(in.Spec.Fallbacks) > 0:
		return actFallBack
	case timeouts >= maxConsecutiveTimeouts:
		return actFail
	case in.Spec.Strategy == Synthesis:
		return actSynthesise
	case in.Execution.ForcedConclusion != tarsy.NotForced:
		return actAnswer
	case nearEnd || iterations >= in.Spec.MaxIterations:
		return actConclude
	default:
		return actGenerate
	}
}

// countIterations returns how many LLM calls were made, and how many of this provider's last calls in a row timed out. Summaries of
// tool results do not count, nor do failed calls: the conversation simply continues, with the result as it is, with another provider or
// with less of the conversation.
func countIterations(calls []tarsy.LLMInteraction, provider string) (iterations, timeouts int) {
	for _, c := range calls {
		switch {
		case c.InteractionType == tarsy.InteractionSummarization:
			continue
		case c.ErrorCode == CodeIterationTimeout && c.Provider == provider:
			timeouts++
		case c.ErrorCode != "" && c.ErrorCode != CodeIterationTimeout:
			timeouts = 0

			continue
		default:
			timeouts = 0
		}

		if c.InteractionType == tarsy.InteractionIteration {
			iterations++
		}
	}

	return iterations, timeouts
}

// pendingCalls returns the tool calls that have no result yet. Any message that names a call is its result: for models without
// functions, results are user messages.
func pendingCalls(messages []tarsy.Message) []tarsy.ToolCall {
	answered := map[string]bool{}

	for _, m := range slices.Backward(messages) {
		if m.ToolCallID != "" {
			answered[m.ToolCallID] = true

			continue
		}

		if m.Role != tarsy.RoleAssistant {
			return nil
		}

		return slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c tarsy.ToolCall) bool { return answered[c.ID] })
	}

	return nil
}

// loop performs actions until the execution is over.
func (r *run) loop(ctx context.Context) error {
	r.started = map[string]bool{}

	if err := r.openTools(ctx); err != nil {
		return err
	}
	defer r.tools.close(r.Logger, r.Execution.ID)

	for {
		if err := r.stopped(ctx); err != nil && (ctx.Err() != nil || !r.callPending()) {
			return err
		}

		if done, err := r.do(ctx); done || err != nil {
			return err
		}
	}
}

// do performs the next action. It reports whether the execution is over.
func (r *run) do(ctx context.Context) (bool, error) {
	why, detail := r.nearEnd(ctx)

	switch next(&r.Input, why != tarsy.NotForced) {
	case actCompose:
		r.submit(r.compose())
	case actGenerate:
		if err := r.loadTools(ctx); err != nil {
			return false, err
		}

		return r.iterate(ctx, tarsy.InteractionIteration)
	case actConclude:
		r.submit(r.conclude(why, detail))
	case actAnswer:
		return r.iterate(ctx, tarsy.InteractionForcedConclusion)
	case actSynthesise:
		return r.iterate(ctx, tarsy.InteractionSynthesis)
	case actTool:
		return false, r.callNext(ctx)
	case actDigest:
		return false, r.digest(ctx)
	case actFallBack:
		var step progress.Step

		r.fallBack(&step, CodeIterationTimeout, tooSlow(r.Spec))
		r.submit(step)
	case actFail:
		return true, r.fail(ctx, progress.Step{}, tarsy.StatusTimedOut, CodeIterationTimeout, tooSlow(r.Spec))
	}

	return false, nil
}

// stopped returns why the execution must stop, or nil.
func (r *run) stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return context.Cause(r.Yield)
}

// callPending reports whether this run recorded a call that it has not made yet: if it stopped here, the call could not be
// distinguished from an interrupted one.
func (r *run) callPending() bool {
	pending := pendingCalls(r.Messages)

	return len(pending) > 0 && r.started[pending[0].ID]
}

func tooSlow(spec Spec) string {
	return fmt.Sprintf("%d LLM calls in a row took longer than %s", maxConsecutiveTimeouts, spec.IterationTimeout)
}

// nearEnd returns why the agent must conclude now, if it must, and for a budget which of its limits was reached.
func (r *run) nearEnd(ctx context.Context) (why tarsy.ForcedConclusion, detail string) {
	switch {
	case isLate(r.ConcludeAt, r.Clock.Now()):
		return tarsy.ForcedDeadline, ""
	case r.closing != tarsy.NotForced:
		return r.closing, r.closingDetail
	case r.repeatedTooOften():
		return tarsy.ForcedRepeatedCalls, ""
	}

	if r.ConcludeReason != nil {
		return r.ConcludeReason(ctx)
	}

	return tarsy.NotForced, ""
}

// mustConclude reports whether the agent must conclude now.
func (r *run) mustConclude(ctx context.Context) bool {
	why, _ := r.nearEnd(ctx)

	return why != tarsy.NotForced
}

// isLate reports whether the deadline is near.
func isLate(concludeAt, now time.Time) bool { return !concludeAt.IsZero() && !now.Before(concludeAt) }

// openTools connects the tools, unless no more calls will be made.
func (r *run) openTools(ctx context.Context) error {
	r.closing, r.closingDetail = r.nearEnd(ctx)

	concludes := r.closing != tarsy.NotForced || r.Execution.ForcedConclusion != tarsy.NotForced
	if r.OpenTools == nil || concludes || r.Spec.Strategy == Synthesis {
		return nil
	}

	if err := r.Recorder.CheckLease(ctx); err != nil {
		return err
	}

	opened, err := r.OpenTools(ctx)
	if err != nil {
		return fmt.Errorf("open tools: %w", err)
	}

	r.tools = toolset{open: opened}
	if err := r.loadTools(ctx); err != nil {
		r.tools.close(r.Logger, r.Execution.ID)

		return err
	}

	return nil
}

// loadTools lists the tools for the next calls. It must not run between the choice of a call and the call, which could then reach a
// tool other than the one that its policy was applied to.
func (r *run) loadTools(ctx context.Context) error {
	if r.tools.open == nil {
		return nil
	}

	// An execution that should yield does not wait for a server.
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.Yield, cancel)()

	if err := r.tools.load(limited, r.Spec.Approvals); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		return fmt.Errorf("list tools: %w", err)
	}

	return nil
}
