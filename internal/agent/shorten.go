package agent

import (
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// shorten makes room in a conversation that has become too long for the model: from here on tool results are given
// to it shortened, once in an execution. The messages themselves stay as they are. It reports whether that makes
// any difference.
func (r *run) shorten(step *progress.Step) bool {
	if r.Execution.ShortenedThrough > 0 {
		return false
	}

	// The results that the model has not seen yet are spared, unless it is they that are too long.
	through := r.lastAnswer()

	results, saved := r.savings(through)
	if all, most := r.savings(len(r.Messages)); saved < most-saved {
		through, results = len(r.Messages), all
	}

	if results == 0 {
		return false
	}

	r.Execution.ShortenedThrough = through
	step.Executions = append(step.Executions, r.Execution)

	count := "one tool result"
	if results > 1 {
		count = fmt.Sprintf("%d tool results", results)
	}

	event := r.event(tarsy.EventContextShortened, tarsy.EventCompleted,
		"The conversation had become too long for the model. It goes on with "+count+" shortened.")
	event.Metadata = tarsy.NewMetadata(tarsy.ContextShortenedMetadata{Results: results, Through: through})
	create(step, event)

	return true
}

// lastAnswer is the number of the model's last message.
func (r *run) lastAnswer() int {
	last := 0

	for _, m := range r.Messages {
		if m.Role == tarsy.RoleAssistant {
			last = m.SequenceNumber
		}
	}

	return last
}

// savings counts the results up to a message that would be shorter, and by how many bytes they would.
func (r *run) savings(through int) (results, saved int) {
	for _, m := range r.Messages {
		if less := len(m.Content) - len(m.ContentFor(through)); less > 0 {
			results++
			saved += less
		}
	}

	return results, saved
}
