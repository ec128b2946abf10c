package cli

import (
	"cmp"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/cli/watch"
)

// sessionEntry returns the two lines of a session in a list: what happened and how it stands, and why it happened.
func sessionEntry(layout entryLayout, s tarsy.SessionItem) []string {
	const gap = "  "

	status := sessionStatus(s)
	left := layout.palette.Paint(terminal.Dim, short(s.ID)) + gap

	if s.Severity != tarsy.SeverityUnknown {
		left += layout.palette.Paint(severityStyle(string(s.Severity)), string(s.Severity)) + gap
	}

	left += layout.palette.Paint(terminal.Bold, sessionTitle(s)) + occurrences(s)
	right := layout.palette.Paint(sessionStatusStyle(status), status) + gap + layout.palette.Paint(terminal.Dim, terminal.Age(time.Since(s.CreatedAt)))

	cause := terminal.Line(cmp.Or(s.Cause, s.ExecutiveSummary, s.ErrorMessage))

	switch {
	case s.Match != nil:
		cause = marked(s.Match.Snippet)
	case s.Outcome != tarsy.OutcomeNone:
		outcome := s.Outcome.Words()
		cause = layout.palette.Paint(watch.OutcomeStyle(s.Outcome), outcome) + strings.TrimPrefix(watch.Headline(s.Outcome, cause), outcome)
	}

	lines := []string{terminal.Spread(left, right, layout.width)}
	indent := strings.Repeat(" ", shortID) + gap

	facts := sessionFacts(s, layout.width-terminal.Width(indent+cause)-len(gap), layout.width/4)
	if second := terminal.Spread(indent+cause, layout.palette.Paint(terminal.Dim, facts), layout.width); strings.TrimSpace(second) != "" {
		lines = append(lines, second)
	}

	return lines
}

// sessionFacts returns as many facts about a session as fit the space that is left. Who handles it and where it happened get at least
// some space.
func sessionFacts(s tarsy.SessionItem, left, least int) string {
	const between = " · "

	text := ""

	for i, fact := range []string{handlingCell(s.Handling), s.Place(), tagsCell(s.Handling), cost(s.Usage), sessionTook(s)} {
		space := left
		if i < 2 {
			space = max(left, least)
		}

		with := terminal.Line(fact)
		if text != "" && with != "" {
			with = text + between + with
		}

		if with != "" && terminal.Width(with) <= space {
			text = with
		}
	}

	return text
}
