package agent

import (
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/progress"
)

// shorten reduces a conversation that has become too long for the model: from here on the model gets tool results shortened, once per
// execution. The messages themselves are unchanged. It reports whether that makes any difference.
func (x *execution) shorten(step *progress.Step) bool {
	if x.Execution.ShortenedThrough > 0 {
		return false
	}

	// Spare the results that the model has not seen yet, unless they are the ones that are too long.
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

// recompose reduces a prompt that is too long for the model by shortening others' work further, once per provider. It reports whether
// that makes any difference. The record of the failed call keeps its request, for the trace.
func (x *execution) recompose(step *progress.Step) bool {
	if x.refusedForLength() > min(x.Execution.ShortenedThrough, 1) {
		return false // the shorter prompt was refused already
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

// reportShortened adds an event that reports the shortened parts of a prompt.
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

// lastAnswer returns the sequence number of the model's last message.
func lastAnswer(messages []tarsy.Message) int {
	last := 0

	for _, m := range messages {
		if m.Role == tarsy.RoleAssistant {
			last = m.SequenceNumber
		}
	}

	return last
}

// savings counts the results up to a message that would be shortened, and the bytes that this would save.
func savings(messages []tarsy.Message, through int) (results, saved int) {
	for _, m := range messages {
		if less := len(m.Content) - len(m.ContentFor(through)); less > 0 {
			results++
			saved += less
		}
	}

	return results, saved
}
