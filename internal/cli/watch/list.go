package watch

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// load requests the list.
func (m *model) load() tea.Cmd {
	list := m.actions.List

	return func() tea.Msg {
		items, err := list()

		return listedMsg{items, err}
	}
}

// receive shows a loaded list. If the first one fails, there is nothing to show and the screen ends; later failures are retried.
func (m *model) receive(msg listedMsg) tea.Cmd {
	if msg.err != nil {
		if !m.listed {
			m.failure = msg.err

			return tea.Quit
		}

		m.notice = "the server does not answer; trying again"

		return nil
	}

	chosen := ""
	if m.cursor < len(m.list) {
		chosen = m.list[m.cursor].ID
	}

	m.list, m.listed, m.listedAt, m.notice = msg.items, true, m.now, ""

	// The cursor stays on its session when new ones arrive.
	for i, item := range m.list {
		if item.ID == chosen && m.cursor > 0 {
			m.cursor = i
		}
	}

	m.cursor = min(m.cursor, max(0, len(m.list)-1))

	return nil
}

func (m *model) pressList(key string) tea.Cmd {
	last := len(m.list) - 1

	switch key {
	case "q", "esc":
		return tea.Quit
	case "up", "k":
		m.cursor = max(0, m.cursor-1)
	case "down", "j":
		m.cursor = max(0, min(last, m.cursor+1))
	case "home", "g":
		m.cursor = 0
	case "end", "G":
		m.cursor = max(0, last)
	case "enter", "right", "l":
		if m.cursor <= last {
			m.open(m.list[m.cursor].ID)
		}
	}

	return nil
}

func (m *model) listHead() []string {
	count := fmt.Sprintf("%d sessions", len(m.list))

	switch {
	case !m.listed:
		count = "loading…"
	case len(m.list) == 1:
		count = "1 session"
	}

	return []string{
		m.across(m.brand()+"  "+count, m.palette.Paint(terminal.Dim, m.server)),
		m.across(m.palette.Paint(terminal.Dim, "choose a session to watch"), ""),
	}
}

func (m *model) listBody() []string {
	if m.listed && len(m.list) == 0 {
		return []string{"", ` There are no sessions yet: submit one with  tarsy submit -m "what happened"`}
	}

	const perItem = 2

	first := max(0, m.cursor-m.bodyHeight()/perItem+1)

	var lines []string

	for i, item := range m.list[min(first, len(m.list)):] {
		lines = append(lines, m.entry(item, first+i == m.cursor)...)
	}

	return lines
}

func (m *model) entry(item tarsy.SessionItem, chosen bool) []string {
	const nameWidth = 28

	mark, name := "  ", terminal.Pad(terminal.Truncate(terminal.Line(item.TitleOr(item.AlertType)), nameWidth), nameWidth)
	if chosen {
		mark = m.palette.Paint(terminal.Cyan, "▌ ")
		name = m.palette.Paint(terminal.Bold, name)
	}

	status := m.palette.Paint(StatusStyle(item.Status), terminal.Pad(statusSign(item.Status, m.spin())+" "+words(string(item.Status)), len("○ in progress ")))
	when := terminal.Age(m.now.Sub(item.CreatedAt)) + " ago"
	summary := terminal.Line(cmp.Or(Headline(item.Outcome, item.Cause), item.ExecutiveSummary, item.ErrorMessage))

	row := body{palette: m.palette, width: m.width - len("  ") - 1}

	return []string{
		mark + row.spread(name+" "+status+" "+m.palette.Paint(terminal.Dim, when), m.palette.Paint(terminal.Dim, shortID(item.ID))),
		"  " + m.palette.Paint(terminal.Dim, terminal.Truncate(summary, m.width-len("    "))),
	}
}

func (m *model) listFoot() string {
	return m.across(m.palette.Paint(terminal.Yellow, m.notice), m.palette.Paint(terminal.Dim, "↑↓ choose  enter watch  q quit"))
}
