package watch

import (
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

const (
	// excerptLines limits how much of a tool's result is shown unless it is expanded, and alertLines how much of the alert.
	excerptLines = 5
	alertLines   = 6
	// textWidth is the maximum width of prose: longer lines are hard to read.
	textWidth = 110

	margin = "  "
	inset  = "    "
	bar    = "│ "
)

// body renders the items of a session. It caches a rendered item until the item changes. When the view changes (size,
// expanded), a new body is made.
type body struct {
	palette  terminal.Palette
	width    int
	room     int // how many lines are visible
	expanded bool
	cache    map[*live.Item]rendered
}

type rendered struct {
	revision int
	width    int
	lines    []string
}

func newBody(palette terminal.Palette, width, room int, expanded bool) *body {
	return &body{palette: palette, width: width, room: room, expanded: expanded, cache: map[*live.Item]rendered{}}
}

// moment is the time of a frame and its progress indicator.
type moment struct {
	now  time.Time
	spin string
}

// lines returns the whole session.
func (b *body) lines(s *live.Session, now time.Time, spin string) []string {
	at := moment{now, spin}
	lines := b.alert(s)
	ended := false

	for _, item := range s.Items {
		// Questions come after the end of the session.
		if item.Question > 0 && !ended {
			lines, ended = append(apart(lines), b.ending(s)...), true
		}

		switch {
		case item.IsStage:
			lines = append(apart(lines), b.stage(item, at)...)
		case item.Parent == nil && item.Call == nil:
			lines = append(apart(lines), b.event(item, at)...)
		}
	}

	if ended {
		return lines
	}

	return append(apart(lines), b.ending(s)...)
}

// apart ends lines with one empty line.
func apart(lines []string) []string {
	if lines[len(lines)-1] == "" {
		return lines
	}

	return append(lines, "")
}

func (b *body) alert(s *live.Session) []string {
	lines := []string{b.title("Alert", terminal.Line(s.AlertType), "")}

	if s.Alert != nil {
		clock := func(at time.Time) string { return at.Local().Format(time.DateTime) }
		lines = append(lines, margin+b.palette.Paint(terminal.Dim, terminal.Truncate(s.Alert.Describe(clock), b.width-len(margin))))
	}

	data := strings.Split(strings.TrimSpace(terminal.Clean(s.AlertData)), "\n")
	for _, line := range b.excerpt(data, alertLines) {
		lines = append(lines, margin+line)
	}

	return lines
}

// title returns the first line of a part, with right at its right end.
func (b *body) title(name, what, right string) string {
	left := b.palette.Paint(terminal.Bold.With(terminal.Cyan), "▌"+name)
	if what != "" {
		left += b.palette.Paint(terminal.Bold, " · "+what)
	}

	return b.spread(left, right)
}

// spread puts text at both ends of a line. The left one is truncated if necessary.
func (b *body) spread(left, right string) string { return terminal.Spread(left, right, b.width) }

// running formats a duration, in whole seconds while it is still running: fractions would flicker.
func running(began, ended, now time.Time) string {
	if ended.IsZero() {
		return fmt.Sprintf("%d s", max(0, int(now.Sub(began).Seconds())))
	}

	return terminal.Duration(ended.Sub(began))
}

func (b *body) sign(status, spin string) string {
	switch status {
	case string(tarsy.StatusCompleted):
		return b.palette.Paint(terminal.Green, "✓")
	case string(tarsy.StatusFailed), string(tarsy.StatusTimedOut):
		return b.palette.Paint(terminal.Red, "✗")
	case string(tarsy.StatusCancelled):
		return b.palette.Paint(terminal.Yellow, "■")
	default:
		return b.palette.Paint(terminal.Cyan, spin)
	}
}

// excerpt renders the first lines of text that is not prose, without wrapping, and how many lines are left out.
func (b *body) excerpt(text []string, limit int) []string {
	shown := text
	if !b.expanded && len(text) > limit+1 {
		shown = text[:limit]

		for len(shown) > 1 && strings.TrimSpace(shown[len(shown)-1]) == "" {
			shown = shown[:len(shown)-1]
		}
	}

	lines := make([]string, 0, len(shown)+1)
	for _, line := range shown {
		lines = append(lines, b.palette.Paint(terminal.Dim, terminal.Truncate(line, b.width-len(inset))))
	}

	if left := len(text) - len(shown); left > 0 {
		lines = append(lines, b.palette.Paint(terminal.Dim, fmt.Sprintf("… %s", count(left, "more line"))))
	}

	return lines
}

// verdict renders the conclusion of a session, if there is one.
func (b *body) verdict(s *live.Session) []string {
	if s.Verdict == nil {
		return nil
	}

	lines := []string{b.title("Verdict", "", "")}

	for _, line := range (VerdictLayout{Palette: b.palette, Width: min(b.width, textWidth) - len(margin)}).Lines(*s.Verdict) {
		if line != "" {
			line = margin + line
		}

		lines = append(lines, line)
	}

	return append(lines, "")
}

// ending renders what follows the last item.
func (b *body) ending(s *live.Session) []string {
	if !s.Status.Terminal() {
		return nil
	}

	style, text := outcome(s)

	return append(b.verdict(s), b.palette.Wrap([]terminal.Span{{Text: text, Style: style}}, b.width, "", "")...)
}
