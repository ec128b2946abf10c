package agent

import (
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/progress"
)

// shorten makes room in a conversation that has become too long for the model: from here on tool results are given
// to it shortened, once in an execution. The messages themselves stay as they are. It reports whether that makes
// any difference.
func (x *execution) shorten(step *progress.Step) bool {
	if x.Execution.ShortenedThrough > 0 {
		return false
	}

	// The results that the model has not seen yet are spared, unless it is they that are too long.
	through := lastAnswer(x.Messages)

	results, saved := savings(x.Messages, through)
	if all, most := savings(x.Messages, len(x.Messages)); saved < most-saved {
		through, results = len(x.Messages), all
	}

	if results == 0 {
		return false
	}

	x.Execution.ShortenedThrough = through
	step.Executions = append(step.Executions, x.Execution)

	count := "one tool result"
	if results > 1 {
		count = fmt.Sprintf("%d tool results", results)
	}

	x.reportContextShortened(step, "The conversation was too long for the model. It continues with "+count+" shortened.", results, through)

	return true
}

// recompose makes room in a prompt that is too long for the model: what it says of others' work is shortened further, once
// with a provider. It reports whether that makes any difference. The call that failed keeps what it was given, for the
// trace.
func (x *execution) recompose(step *progress.Step) bool {
	if x.refusedForLength() > min(x.Execution.ShortenedThrough, 1) {
		return false // it was the shorter prompt that was refused
	}

	prompt := x.Messages[1] // after the instructions

	text, shortened := userPrompt(x.Input, min(x.Spec.contextTokens()/tightShare, quote.Tokens(prompt.Content)/2))
	if len(text) >= len(prompt.Content) {
		return false
	}

	failed := &step.LLMInteractions[len(step.LLMInteractions)-1]
	failed.LLMRequest = encodeMessages(newRequest(&x.Input, nil, failed.InteractionType).Messages)

	prompt.Content = text
	step.Messages = append(step.Messages, prompt)
	x.reportShortened(step, "The prompt was too long for the model", shortened, prompt.SequenceNumber)

	return true
}

// refusedForLength counts the earlier calls that the provider refused because they were too long.
func (x *execution) refusedForLength() int {
	refused := 0

	for _, c := range x.LLMInteractions {
		if c.ErrorCode == CodeContextTooLong && c.Provider == x.Spec.Provider {
			refused++
		}
	}

	return refused
}

// reportShortened tells people that parts of a prompt are shortened.
func (x *execution) reportShortened(step *progress.Step, why string, parts, through int) {
	count := "one part"
	if parts > 1 {
		count = fmt.Sprintf("%d parts", parts)
	}

	x.reportContextShortened(step, why+": "+count+" of it shortened, the oldest first.", parts, through)
}

func (x *execution) reportContextShortened(step *progress.Step, text string, results, through int) {
	event := x.newEvent(tarsy.EventContextShortened, tarsy.EventCompleted, text)
	event.Metadata = tarsy.NewMetadata(tarsy.ContextShortenedMetadata{Results: results, Through: through})
	create(step, event)
}

// lastAnswer is the number of the model's last message.
func lastAnswer(messages []tarsy.Message) int {
	last := 0

	for _, m := range messages {
		if m.Role == tarsy.RoleAssistant {
			last = m.SequenceNumber
		}
	}

	return last
}

// savings counts the results up to a message that would be shorter, and by how many bytes they would.
func savings(messages []tarsy.Message, through int) (results, saved int) {
	for _, m := range messages {
		if less := len(m.Content) - len(m.ContentFor(through)); less > 0 {
			results++
			saved += less
		}
	}

	return results, saved
}
