package agent

import (
	"fmt"

	"tarsy.dev/tarsy"
)

// notMade is the result of a call that was asked for when no time was left.
const notMade = "This call was not made: the time for the investigation is nearly up."

// notRepeated is the result of a call that only reads, was cut off, and is not worth the time to be made again.
const notRepeated = "This call was cut off, and was not made again: the time for the investigation is nearly up."

// conclude is the step that tells the model to conclude. From then on the execution's row says why; calls that were
// asked for and not begun are answered, for a conversation with open calls is none.
func (r *run) conclude(late bool) tarsy.Step {
	r.Execution.ForcedConclusion = tarsy.ForcedIterations
	if late {
		r.Execution.ForcedConclusion = tarsy.ForcedDeadline
	}

	step := tarsy.Step{Executions: []tarsy.Execution{r.Execution}}

	for _, call := range pendingCalls(r.Messages) {
		r.say(&step, r.resultMessage(call, notMade))
	}

	r.say(&step, tarsy.Message{Role: tarsy.RoleUser, Content: concludePrompt(&r.Input)})

	return step
}

// concludePrompt asks for the conclusion, in the form that the strategy wants.
func concludePrompt(in *Input) string {
	why := fmt.Sprintf("You have used all %d iterations and no tools are available any more. ", in.Spec.MaxIterations)
	if in.Execution.ForcedConclusion != tarsy.ForcedIterations {
		why = "The time for this is nearly up and no tools are available any more. "
	}

	what := "Give your final analysis now, "
	if in.Question != nil {
		what = "Answer the question now, "
	}

	text := why + what + "from what you have found so far. " +
		"Say what you are sure of, what is likely, and what you could not check."

	if in.Spec.Strategy == React {
		text += "\n\nWrite no further Action. Reply in this form:\n\n" +
			"Thought: what the findings come to\nFinal Answer: your answer, in Markdown"
	}

	return text
}
