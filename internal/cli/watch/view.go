package watch

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// inputRow is the row of the input line, counted from the bottom: the footer is below it.
const inputRow = 2

// View implements tea.Model.
func (m *model) View() tea.View {
	view := tea.NewView(m.screen())
	view.AltScreen = true
	view.WindowTitle = "tarsy watch"

	if _, cursor := m.inputLine(); cursor >= 0 && m.height > chrome {
		view.Cursor = tea.NewCursor(cursor, m.height-inputRow)
	}

	return view
}

// screen returns the whole screen, exactly as high as the terminal.
func (m *model) screen() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}

	var head, middle []string

	foot := m.listFoot()

	if m.browsing {
		head, middle = m.listHead(), m.listBody()
	} else {
		head, middle, foot = m.head(), m.visible(), m.foot()
	}

	for len(middle) < m.bodyHeight() {
		middle = append(middle, "")
	}

	rule := m.palette.Paint(terminal.Dim, strings.Repeat("─", m.width))
	input, _ := m.inputLine()
	lines := slices.Concat(head, []string{rule}, middle[:m.bodyHeight()], []string{rule, input, foot})

	for i, line := range lines {
		lines[i] = terminal.Truncate(line, m.width)
	}

	return strings.Join(lines[:min(len(lines), m.height)], "\n")
}

// across puts text at both ends of a line.
func (m *model) across(left, right string) string {
	b := body{palette: m.palette, width: m.width - 1}

	return b.spread(" "+left, right)
}

func (m *model) brand() string { return m.palette.Paint(terminal.Bold.With(terminal.Cyan), "TARSy") }

func (m *model) head() []string {
	if m.session == nil {
		return []string{m.across(m.brand(), m.spin()), m.across(m.palette.Paint(terminal.Dim, m.id), "")}
	}

	s := m.session
	style := StatusStyle(s.Status)
	sign := statusSign(s.Status, m.spin())
	right := m.palette.Paint(style, sign+" "+words(string(s.Status))) + "  " + terminal.Clock(s.Elapsed(m.now))
	facts := []string{s.ID, terminal.Line(s.ChainID), "by " + terminal.Line(s.Author), terminal.Age(m.now.Sub(s.CreatedAt)) + " ago"}

	if place := s.Facts.Place(); place != "" {
		facts = append([]string{terminal.Line(place)}, facts...)
	}

	title := m.palette.Paint(terminal.Bold, sessionTitle(s))
	if severity := s.Facts.Severity; severity != tarsy.SeverityUnknown {
		title = m.palette.Paint(SeverityStyle(severity), string(severity)) + "  " + title
	}

	return []string{
		m.across(m.brand()+"  "+title, right),
		m.across(m.palette.Paint(terminal.Dim, strings.Join(facts, " · ")), ""),
	}
}

// SeverityStyle returns the style of an alert's severity.
func SeverityStyle(severity tarsy.Severity) terminal.Style {
	switch severity {
	case tarsy.SeverityCritical, tarsy.SeverityHigh:
		return terminal.Red
	case tarsy.SeverityWarning:
		return terminal.Yellow
	case tarsy.SeverityInfo, tarsy.SeverityUnknown:
	}

	return terminal.Plain
}

// StatusStyle returns the style of a session's status.
func StatusStyle(status tarsy.SessionStatus) terminal.Style {
	switch status {
	case tarsy.SessionCompleted:
		return terminal.Green
	case tarsy.SessionFailed, tarsy.SessionTimedOut:
		return terminal.Red
	case tarsy.SessionCancelled, tarsy.SessionCancelling:
		return terminal.Yellow
	case tarsy.SessionInProgress:
		return terminal.Cyan
	case tarsy.SessionPending:
	}

	return terminal.Dim
}

func statusSign(status tarsy.SessionStatus, spin string) string {
	switch status {
	case tarsy.SessionCompleted:
		return "✓"
	case tarsy.SessionFailed, tarsy.SessionTimedOut:
		return "✗"
	case tarsy.SessionCancelled:
		return "■"
	case tarsy.SessionInProgress, tarsy.SessionCancelling:
		return spin
	case tarsy.SessionPending:
	}

	return "○"
}

// visible returns the lines of the session that fit.
func (m *model) visible() []string {
	if m.session == nil {
		return []string{"", m.palette.Paint(terminal.Dim, " loading…")}
	}

	lines := m.lines()
	last := max(0, len(lines)-m.bodyHeight())

	if m.follow || m.top > last {
		m.top = last
	}

	shown := make([]string, 0, m.bodyHeight())
	for _, line := range lines[m.top:min(len(lines), m.top+m.bodyHeight())] {
		shown = append(shown, " "+line)
	}

	return shown
}

func (m *model) foot() string {
	if m.asking {
		return m.across(m.palette.Paint(terminal.Bold.With(terminal.Yellow), m.cancelQuestion()+" y yes · any other key no"), "")
	}

	if m.decision.id != "" {
		return m.across(m.palette.Paint(terminal.Bold.With(terminal.Yellow), m.decision.question()), "")
	}

	left := m.notice

	switch {
	case m.lost != nil:
		left = m.palette.Paint(terminal.Yellow, m.spin()+" connection lost, reconnecting…")
	case left != "":
		left = m.palette.Paint(terminal.Yellow, left)
	case m.session != nil && !m.follow:
		left = m.palette.Paint(terminal.Yellow, m.below()+" · end to follow")
	case m.session != nil && m.session.Busy():
		left = m.palette.Paint(terminal.Cyan, "● live")
	}

	help := m.help()
	if m.notice != "" && terminal.Width(left)+terminal.Width(help)+len("    ") > m.width {
		help = "" // the notice matters more
	}

	return m.across(left, help)
}

// cancelQuestion asks about what would be cancelled: once the session is over, only the answer.
func (m *model) cancelQuestion() string {
	if m.session.Status.Terminal() {
		return "Cancel this answer?"
	}

	return "Cancel this session?"
}

func (m *model) help() string {
	if m.typing() {
		keys := []string{"PgUp PgDn scroll", "↑↓ history", "tab keys"}
		if m.answeringHere() {
			return m.palette.Paint(terminal.Dim, strings.Join(append(keys, "ctrl+c cancel"), "  "))
		}

		return m.palette.Paint(terminal.Dim, strings.Join(append(keys, "ctrl+c quit"), "  "))
	}

	keys := []string{"↑↓ scroll", "e expand"}
	if m.expanded {
		keys[1] = "e collapse"
	}

	if a, _ := m.waiting(); a != nil {
		keys = append(keys, "a approve", "r reject")
	}

	if m.session != nil && m.session.Busy() {
		keys = append(keys, "c cancel")
	}

	if m.entered {
		keys = append(keys, "esc list")
	}

	return m.palette.Paint(terminal.Dim, strings.Join(append(keys, "q quit"), "  "))
}

// shortID returns the end of an id, which distinguishes ids of about the same time. Commands accept it in place of the whole id.
func shortID(id string) string { return id[max(0, len(id)-12):] }
