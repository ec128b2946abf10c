package watch

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// View implements tea.Model.
func (m *Model) View() tea.View {
	view := tea.NewView(m.screen())
	view.AltScreen = true
	view.WindowTitle = "tarsy watch"

	return view
}

// screen is everything that is shown, exactly as high as the terminal.
func (m *Model) screen() string {
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

	for len(middle) < m.room() {
		middle = append(middle, "")
	}

	rule := m.palette.Paint(terminal.Dim, strings.Repeat("─", m.width))
	lines := slices.Concat(head, []string{rule}, middle[:m.room()], []string{rule, foot})

	for i, line := range lines {
		lines[i] = terminal.Truncate(line, m.width)
	}

	return strings.Join(lines[:min(len(lines), m.height)], "\n")
}

// across puts text at both ends of the screen.
func (m *Model) across(left, right string) string {
	b := body{palette: m.palette, width: m.width - 1}

	return b.spread(" "+left, right)
}

func (m *Model) head() []string {
	brand := m.palette.Paint(terminal.Bold.With(terminal.Cyan), "TARSy")

	if m.session == nil {
		return []string{m.across(brand, m.spin()), m.across(m.palette.Paint(terminal.Dim, m.id), "")}
	}

	s := m.session
	style := statusStyle(s.Status)
	sign := statusSign(s.Status, m.spin())
	right := m.palette.Paint(style, sign+" "+words(string(s.Status))) + "  " + terminal.Clock(s.Elapsed(m.now))
	facts := []string{s.ID, terminal.Line(s.ChainID), "by " + terminal.Line(s.Author), terminal.Age(m.now.Sub(s.CreatedAt)) + " ago"}

	return []string{
		m.across(brand+"  "+m.palette.Paint(terminal.Bold, terminal.Line(s.AlertType)), right),
		m.across(m.palette.Paint(terminal.Dim, strings.Join(facts, " · ")), ""),
	}
}

func statusStyle(status tarsy.SessionStatus) terminal.Style {
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

// visible is the part of the session that fits.
func (m *Model) visible() []string {
	if m.session == nil {
		return []string{"", m.palette.Paint(terminal.Dim, " loading…")}
	}

	lines := m.lines()
	last := max(0, len(lines)-m.room())

	if m.follow || m.top > last {
		m.top = last
	}

	shown := make([]string, 0, m.room())
	for _, line := range lines[m.top:min(len(lines), m.top+m.room())] {
		shown = append(shown, " "+line)
	}

	return shown
}

func (m *Model) foot() string {
	if m.asking {
		return m.across(m.palette.Paint(terminal.Bold.With(terminal.Yellow), m.cancelQuestion()+" y yes · any other key no"), "")
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
	case m.session != nil:
		left = m.askHint()
	}

	return m.across(left, m.help())
}

// askHint says how to ask about a session that is over, where there is room for it.
func (m *Model) askHint() string {
	hint := `ask: tarsy ask ` + shortID(m.id) + ` "…"`
	if terminal.Width(hint)+terminal.Width(m.help())+len("    ") > m.width {
		return ""
	}

	return m.palette.Paint(terminal.Dim, hint)
}

// cancelQuestion names what would be cancelled: of a session that is over, only the answer.
func (m *Model) cancelQuestion() string {
	if m.session.Status.Terminal() {
		return "Cancel this answer?"
	}

	return "Cancel this session?"
}

func (m *Model) help() string {
	keys := []string{"↑↓ scroll", "e expand"}
	if m.expanded {
		keys[1] = "e collapse"
	}

	if m.session != nil && m.session.Busy() {
		keys = append(keys, "c cancel")
	}

	if m.entered {
		keys = append(keys, "esc list")
	}

	return m.palette.Paint(terminal.Dim, strings.Join(append(keys, "q quit"), "  "))
}

func (m *Model) listHead() []string {
	brand := m.palette.Paint(terminal.Bold.With(terminal.Cyan), "TARSy")
	count := fmt.Sprintf("%d sessions", len(m.list))

	switch {
	case !m.listed:
		count = "loading…"
	case len(m.list) == 1:
		count = "1 session"
	}

	return []string{
		m.across(brand+"  "+count, m.palette.Paint(terminal.Dim, m.server)),
		m.across(m.palette.Paint(terminal.Dim, "choose a session to watch"), ""),
	}
}

func (m *Model) listBody() []string {
	if m.listed && len(m.list) == 0 {
		return []string{"", ` There are no sessions yet: submit one with  tarsy submit -m "what happened"`}
	}

	const perItem = 2

	first := max(0, m.cursor-m.room()/perItem+1)

	var lines []string

	for i, item := range m.list[min(first, len(m.list)):] {
		lines = append(lines, m.entry(item, first+i == m.cursor)...)
	}

	return lines
}

func (m *Model) entry(item tarsy.SessionItem, chosen bool) []string {
	const nameWidth = 28

	mark, name := "  ", terminal.Pad(terminal.Truncate(terminal.Line(item.AlertType), nameWidth), nameWidth)
	if chosen {
		mark = m.palette.Paint(terminal.Cyan, "▌ ")
		name = m.palette.Paint(terminal.Bold, name)
	}

	status := m.palette.Paint(statusStyle(item.Status), terminal.Pad(statusSign(item.Status, m.spin())+" "+words(string(item.Status)), len("○ in progress ")))
	when := terminal.Age(m.now.Sub(item.CreatedAt)) + " ago"
	said := terminal.Line(item.ExecutiveSummary)

	if said == "" {
		said = terminal.Line(item.ErrorMessage)
	}

	row := body{palette: m.palette, width: m.width - len("  ") - 1}

	return []string{
		mark + row.spread(name+" "+status+" "+m.palette.Paint(terminal.Dim, when), m.palette.Paint(terminal.Dim, shortID(item.ID))),
		"  " + m.palette.Paint(terminal.Dim, terminal.Truncate(said, m.width-len("    "))),
	}
}

// shortID is the part of an id in which neighbours differ; commands take it for the whole.
func shortID(id string) string { return id[max(0, len(id)-12):] }

func (m *Model) listFoot() string {
	return m.across(m.palette.Paint(terminal.Yellow, m.notice), m.palette.Paint(terminal.Dim, "↑↓ choose  enter watch  q quit"))
}
