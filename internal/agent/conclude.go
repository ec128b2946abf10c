package agent

import (
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/react"
	"tarsy.dev/tarsy/internal/progress"
)

// notMade is the result of a call that was requested when it was time to conclude.
const notMade = "This call was not made because the investigation is ending."

// notRepeated is the result of an interrupted read-only call that is not worth repeating.
const notRepeated = "This call was interrupted and not repeated because the investigation is ending."

// conclude returns the step that tells the model to conclude. From then on the execution's row has the reason. Calls that were
// requested and not begun get a result, because a conversation with unanswered calls is invalid.
func (x *execution) conclude(why tarsy.ForcedConclusion, detail string) progress.Step {
	if why == tarsy.NotForced {
		why = tarsy.ForcedIterations
	}

	x.Execution.ForcedConclusion = why

	step := progress.Step{Executions: []tarsy.Execution{x.Execution}}

	for _, call := range pendingCalls(x.Messages) {
		x.addMessage(&step, resultMessage(x.Spec, call, "", notMade))
	}

	x.addMessage(&step, tarsy.Message{Role: tarsy.RoleUser, Content: concludePrompt(&x.Input, detail)})

	return step
}

// concludePrompt asks for the conclusion, in the form that the strategy requires. The detail names the limit of the budget that was
// reached.
func concludePrompt(in *Input, detail string) string {
	var why string

	switch in.Execution.ForcedConclusion {
	case tarsy.ForcedDeadline:
		why = "Time is almost up"
	case tarsy.ForcedBudget:
		why = fmt.Sprintf("The budget is spent (%s)", detail)
	case tarsy.ForcedResolved:
		why = "The alert is resolved"
	case tarsy.ForcedRepeatedCalls:
		why = "You repeat the same tool calls"
	case tarsy.ForcedIterations, tarsy.NotForced:
		why = fmt.Sprintf("You have used all %d iterations", in.Spec.MaxIterations)
	}

	why += ", and tools are no longer available. "

	what := "Give your final analysis now, "
	if in.Question != nil {
		what = "Answer the question now, "
	}

	state := "State what is certain, what is likely, and what you could not check."
	if in.Execution.ForcedConclusion == tarsy.ForcedResolved {
		state = "State what is certain, what is likely, what you could not check, and whether the problem may come back."
	}

	text := why + what + "based on what you have found so far. " + state

	if in.Spec.Strategy == React {
		text += "\n\n" + react.ConclusionFormat
	}

	return text
}
