package watch

import (
	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

// Outcome describes the state of the session in one line.
func Outcome(s *live.Session, palette terminal.Palette) string {
	if !s.Status.Terminal() {
		return words(string(s.Status))
	}

	style, text := outcome(s)

	return palette.Paint(style, text)
}

// outcome describes how a session ended.
func outcome(s *live.Session) (terminal.Style, string) {
	took := " after " + terminal.Duration(s.Elapsed(s.EndedAt))
	if s.StartedAt.IsZero() {
		took = " before it began"
	}

	style, text := terminal.Green, "✓ completed"

	switch s.Status {
	case tarsy.SessionCancelled:
		style, text = terminal.Yellow, "■ cancelled"
	case tarsy.SessionFailed:
		style, text = terminal.Red, "✗ failed"
	case tarsy.SessionTimedOut:
		style, text = terminal.Red, "✗ timed out"
	case tarsy.SessionCompleted, tarsy.SessionPending, tarsy.SessionInProgress, tarsy.SessionCancelling:
	}

	text += took

	switch {
	case s.ErrorMessage != "" && s.Status != tarsy.SessionCompleted:
		text += ": " + terminal.Line(s.ErrorMessage)
	case s.ConcludedEarly != "" && s.Status == tarsy.SessionCompleted:
		style = terminal.Yellow
		text += ", " + early(s.ConcludedEarly)
	}

	return style, text
}

// early describes why a session ended before its agents were done.
func early(reason string) string {
	switch tarsy.ForcedConclusion(reason) {
	case tarsy.ForcedDeadline:
		return "concluded early: almost out of time"
	case tarsy.ForcedBudget:
		return "concluded early: its budget was used up"
	case tarsy.ForcedResolved:
		return "concluded early: its alert was resolved"
	case tarsy.ForcedRepeatedCalls:
		return "concluded early: an agent repeated the same tool calls"
	case tarsy.NotForced, tarsy.ForcedIterations:
	}

	return "concluded early: " + words(reason)
}
