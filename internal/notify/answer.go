package notify

import (
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

// lostAfter is when a question that is neither queued nor being answered counts as lost: its server was killed before storing
// it.
const lostAfter = 30 * time.Second

// Markup formats the parts of an answer for a channel. All functions take untrusted text of models and tools.
type Markup struct {
	// Call formats a line about a tool call, Text a Markdown text, Failed the error of an answer.
	Call   func(tool string) string
	Text   func(markdown string) string
	Failed func(reason string) string
}

// Answer returns the visible part of an answer, given the age of the question, and whether it is complete. It is empty if there
// is nothing to show yet.
func (m Markup) Answer(answer *outbox.Answer, age time.Duration) (shown string, done bool) {
	shown, done = m.written(answer), answer.Status.Terminal()

	switch {
	case answer.Status == "" && !answer.Waiting && age > lostAfter:
		return "The question was not answered. Ask again.", true
	case done && shown == "":
		return "The answer is empty.", true
	}

	return shown, done
}

// written returns the answer written so far: a line for each tool call, and the texts.
func (m Markup) written(answer *outbox.Answer) string {
	var (
		parts        []string
		lastResponse string
		calls        bool
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
			// The final analysis of an answer repeats the last response.
			if text != "" && text != lastResponse {
				parts = append(parts, m.Text(text))
				lastResponse, calls = text, false
			}
		default: // shown in the dashboard only
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
