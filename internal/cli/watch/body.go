package watch

import (
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

const (
	// excerptLines is how much of a tool's result is shown unless it is expanded, alertLines of the alert.
	excerptLines = 5
	alertLines   = 6
	// textWidth is the widest that prose is set: longer lines are hard to read.
	textWidth = 110

	margin = "  "
	inset  = "    "
)

// body renders a session's items. It keeps what it rendered of each item until the item or the view changes.
type body struct {
	palette  terminal.Palette
	width    int
	expanded bool
	cache    map[*Item]rendered
}

type rendered struct {
	revision int
	lines    []string
}

func newBody(palette terminal.Palette, width int, expanded bool) *body {
	return &body{palette: palette, width: width, expanded: expanded, cache: map[*Item]rendered{}}
}

// lines is the whole session. Spin is the sign of what is under way.
func (b *body) lines(s *Session, now time.Time, spin string) []string {
	lines := b.alert(s)
	agent := ""

	for i, item := range s.Items {
		switch {
		case item.kind == kindStage:
			lines = append(apart(lines), b.stage(item, now, spin))
			agent = ""
		case item.Agent != agent && item.Agent != "":
			agent = item.Agent
			lines = append(lines, margin+b.palette.Paint(terminal.Purple, terminal.Line(agent)))
		}

		if item.kind == kindEvent {
			lines = append(lines, b.event(item, now, spin, i == len(s.Items)-1)...)
		}
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

func (b *body) alert(s *Session) []string {
	lines := []string{b.title("Alert", terminal.Line(s.AlertType), "")}

	data := strings.Split(strings.TrimSpace(terminal.Clean(s.AlertData)), "\n")
	for _, line := range b.excerpt(data, alertLines) {
		lines = append(lines, margin+line)
	}

	return lines
}

// title is the first line of a part, with something at the right.
func (b *body) title(name, what, right string) string {
	left := b.palette.Paint(terminal.Bold.With(terminal.Cyan), "▌"+name)
	if what != "" {
		left += b.palette.Paint(terminal.Bold, " · "+what)
	}

	return b.spread(left, right)
}

// spread puts text at both ends of a line; the left gives way.
func (b *body) spread(left, right string) string {
	if right == "" {
		return terminal.Truncate(left, b.width)
	}

	room := b.width - terminal.Width(right) - 1

	return terminal.Pad(terminal.Truncate(left, room), room) + " " + right
}

func (b *body) stage(item *Item, now time.Time, spin string) string {
	took := now.Sub(item.Began)
	if !item.Ended.IsZero() {
		took = item.Ended.Sub(item.Began)
	}

	sign := b.sign(item.Status, spin)

	return b.title(fmt.Sprintf("Stage %d", item.Index), terminal.Line(item.Stage), running(took, item)+" "+sign)
}

// running shows how long an item has taken, in whole seconds while it goes on: more would flicker.
func running(took time.Duration, item *Item) string {
	if item.Ended.IsZero() {
		return fmt.Sprintf("%d s", max(0, int(took.Seconds())))
	}

	return terminal.Duration(took)
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

// event is a timeline event; the last one shows that more is to come.
func (b *body) event(item *Item, now time.Time, spin string, last bool) []string {
	if kept, ok := b.cache[item]; ok && kept.revision == item.revision && !item.Ended.IsZero() {
		return kept.lines
	}

	var lines []string

	switch item.Type {
	case tarsy.EventToolCall:
		lines = b.tool(item, now, spin)
	case tarsy.EventThinking:
		lines = b.prose(item.Content, terminal.Dim.With(terminal.Italic))
	case tarsy.EventFinalAnalysis:
		lines = append([]string{b.title("Analysis", "", "")}, b.prose(item.Content, terminal.Plain)...)
	case tarsy.EventExecutiveSummary:
		lines = append([]string{b.title("Summary", "", "")}, b.prose(item.Content, terminal.Bold)...)
	case tarsy.EventError:
		lines = b.prose("✗ "+item.Content, terminal.Red)
	case tarsy.EventUserQuestion:
		lines = b.prose("? "+item.Content, terminal.Cyan)
	default:
		lines = b.prose(item.Content, terminal.Plain)
	}

	if last && item.Status == string(tarsy.EventStreaming) && item.Type != tarsy.EventToolCall {
		lines[len(lines)-1] += b.palette.Paint(terminal.Cyan, " "+spin)
	}

	lines = append(lines, "")
	b.cache[item] = rendered{revision: item.revision, lines: lines}

	return lines
}

func (b *body) prose(text string, style terminal.Style) []string {
	lines := b.palette.Markdown(terminal.Clean(text), min(b.width, textWidth)-len(margin)-len(" ◐"), style)
	for i, line := range lines {
		if line != "" {
			lines[i] = margin + line
		}
	}

	if len(lines) == 0 {
		return []string{margin}
	}

	return lines
}

func (b *body) tool(item *Item, now time.Time, spin string) []string {
	call := item.toolCall()
	sign := b.sign(item.Status, spin)
	right := running(now.Sub(item.Began), item)

	if call.measured {
		right = terminal.Duration(call.duration)
	}

	switch {
	case call.unknown:
		sign = b.palette.Paint(terminal.Yellow, "?")
		right = "outcome unknown"
	case call.failed:
		sign = b.palette.Paint(terminal.Red, "✗")
	}

	left := margin + sign + " " + b.palette.Paint(terminal.Bold, call.name)
	if call.arguments != "" {
		left += "  " + b.palette.Paint(terminal.Dim, call.arguments)
	}

	lines := []string{b.spread(left, b.palette.Paint(terminal.Dim, right))}

	result := strings.TrimRight(terminal.Clean(item.Content), "\n ")
	if result == "" {
		return lines
	}

	for _, line := range b.excerpt(strings.Split(result, "\n"), excerptLines) {
		lines = append(lines, inset+line)
	}

	return lines
}

// excerpt shows the first lines of text that is not prose, each on one line, and says how much is left out.
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
		lines = append(lines, b.palette.Paint(terminal.Dim, fmt.Sprintf("… %d more lines", left)))
	}

	return lines
}

// ending is what is said after the last item.
func (b *body) ending(s *Session) []string {
	if !s.Status.Terminal() {
		return nil
	}

	style, text := outcome(s)

	return b.palette.Wrap([]terminal.Span{{Text: text, Style: style}}, b.width, "", "")
}

// Outcome says on one line where the session stands.
func (s *Session) Outcome(palette terminal.Palette) string {
	if !s.Status.Terminal() {
		return words(string(s.Status))
	}

	style, text := outcome(s)

	return palette.Paint(style, text)
}

// outcome says how a session ended.
func outcome(s *Session) (terminal.Style, string) {
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

	if s.ErrorMessage != "" && s.Status != tarsy.SessionCompleted {
		text += ": " + terminal.Line(s.ErrorMessage)
	}

	return style, text
}
