package notify

import (
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// lostAfter is when a question that is neither waiting nor being answered counts as lost: it was not stored before its server was killed.
const lostAfter = 30 * time.Second

// Markup is how a channel writes the parts of an answer. All take texts of models and tools, which are hostile.
type Markup struct {
	// Call is a line about a tool call, Text a Markdown text, Failed the error of an answer.
	Call   func(tool string) string
	Text   func(markdown string) string
	Failed func(reason string) string
}

// Answer is what people see of an answer to a question of some age, and whether that is all. It is empty while there is nothing to see.
func (m Markup) Answer(answer *postgres.Answer, age time.Duration) (shown string, done bool) {
	shown, done = m.written(answer), answer.Status.Terminal()

	switch {
	case answer.Status == "" && !answer.Waiting && age > lostAfter:
		return "The question was not answered. Ask again.", true
	case done && shown == "":
		return "The answer is empty.", true
	}

	return shown, done
}

// written is the answer as far as it is written: a line for each tool call, and the texts.
func (m Markup) written(answer *postgres.Answer) string {
	var (
		parts []string
		said  string
		calls bool
	)

	for _, e := range answer.Events {
		text := strings.TrimSpace(e.Content)

		switch e.EventType {
		case tarsy.EventToolCall:
			call := tarsy.MetadataAs[tarsy.ToolCallMetadata](e.Metadata)
			line := m.Call(call.ServerName + "." + call.ToolName)

			if calls {
				parts[len(parts)-1] += "\n" + line
			} else {
				parts = append(parts, line)
			}

			calls = true
		case tarsy.EventResponse, tarsy.EventFinalAnalysis:
			// The analysis of an answer repeats the last response.
			if text != "" && text != said {
				parts = append(parts, m.Text(text))
				said, calls = text, false
			}
		default: // only for the dashboard
		}
	}

	switch answer.Status {
	case tarsy.StatusFailed, tarsy.StatusTimedOut:
		parts = append(parts, m.Failed(answer.Error))
	case tarsy.StatusCancelled:
		parts = append(parts, "The answer was cancelled.")
	case tarsy.StatusCompleted, tarsy.StatusPending, tarsy.StatusActive:
	}

	return strings.Join(parts, "\n\n")
}
