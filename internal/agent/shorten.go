package agent

import (
	"fmt"

	"tarsy.dev/tarsy"
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

	event := x.newEvent(tarsy.EventContextShortened, tarsy.EventCompleted,
		"The conversation had become too long for the model. It goes on with "+count+" shortened.")
	event.Metadata = tarsy.NewMetadata(tarsy.ContextShortenedMetadata{Results: results, Through: through})
	create(step, event)

	return true
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
