package watch

import (
	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy/internal/cli/prompt"
)

// press handles a key.
func (m *model) press(pressed tea.KeyPressMsg) tea.Cmd {
	key := pressed.String()

	if key == "ctrl+c" {
		return m.pressInterrupt()
	}

	switch {
	case m.asking:
		return m.answer(key)
	case m.decision.id != "":
		return m.pressDecision(pressed)
	case m.browsing:
		return m.pressList(key)
	case m.typing():
		return m.pressQuestion(pressed)
	default:
		return m.pressSession(key)
	}
}

// answer handles the reply to "cancel this session?". Anything but yes means no.
func (m *model) answer(key string) tea.Cmd {
	m.asking = false

	if key == "y" || key == "Y" {
		return m.cancel()
	}

	return nil
}

func (m *model) pressSession(key string) tea.Cmd {
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
		m.scroll(-m.bodyHeight())
	case "pgdown", "space", " ":
		m.scroll(m.bodyHeight())
	case "home", "g":
		m.top, m.follow = 0, false
	case "end", "G":
		m.follow = true
	case "e":
		m.expanded, m.body = !m.expanded, nil
	case "a":
		m.begin(nil)
	case "r":
		m.begin(prompt.NewLine(nil))
	case "enter":
		m.notice = "the session has not ended yet"
	case "tab":
		m.question.keys = false
	case "c":
		m.asking = m.session != nil && m.session.Busy()
	}

	return nil
}

// scroll moves the view. The view follows new lines only while it is at the end.
func (m *model) scroll(lines int) {
	if m.session == nil || lines == 0 {
		return
	}

	last := max(0, len(m.lines())-m.bodyHeight())
	if m.follow {
		m.top = last
	}

	m.top = max(0, min(last, m.top+lines))
	m.follow = m.top == last
}
