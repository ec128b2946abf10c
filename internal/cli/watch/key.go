package watch

import tea "charm.land/bubbletea/v2"

// press does what a key asks for.
func (m *Model) press(key string) tea.Cmd {
	if key == "ctrl+c" {
		return tea.Quit
	}

	switch {
	case m.asking:
		return m.answer(key)
	case m.browsing:
		return m.pressList(key)
	default:
		return m.pressSession(key)
	}
}

// answer is the reply to "cancel this session?"; everything but yes is no.
func (m *Model) answer(key string) tea.Cmd {
	m.asking = false

	if key == "y" || key == "Y" {
		return m.cancel()
	}

	return nil
}

func (m *Model) pressList(key string) tea.Cmd {
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

func (m *Model) pressSession(key string) tea.Cmd {
	m.notice = ""

	switch key {
	case "q":
		return tea.Quit
	case "esc", "left", "h":
		if m.entered {
			return m.back()
		}

		if key == "esc" {
			return tea.Quit
		}
	case "up", "k":
		m.scroll(-1)
	case "down", "j":
		m.scroll(1)
	case "pgup", "b":
		m.scroll(-m.room())
	case "pgdown", "space", " ":
		m.scroll(m.room())
	case "home", "g":
		m.top, m.follow = 0, false
	case "end", "G":
		m.follow = true
	case "e":
		m.expanded, m.body = !m.expanded, nil
	case "c":
		m.asking = m.session != nil && m.session.Busy()
	}

	return nil
}

// scroll moves the view. The end is followed only by whoever is at the end.
func (m *Model) scroll(lines int) {
	if m.session == nil || lines == 0 {
		return
	}

	last := max(0, len(m.lines())-m.room())
	if m.follow {
		m.top = last
	}

	m.top = max(0, min(last, m.top+lines))
	m.follow = m.top == last
}
