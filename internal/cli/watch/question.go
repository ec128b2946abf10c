package watch

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/prompt"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// question is the input line of the screen. It takes the keys when the session is over, until Tab gives them back.
type question struct {
	line *prompt.Line
	keys bool // keys are commands, although the session is over

	sending     bool   // the server has not responded yet
	stageID     string // of the answer to what was asked here last
	interrupted bool   // that answer is to be cancelled
}

func newQuestion() question { return question{line: prompt.NewLine(nil)} }

// typing tells whether keys go to the input line.
func (m *model) typing() bool {
	return !m.browsing && m.session != nil && m.session.Status.Terminal() && !m.question.keys
}

// answeringHere tells whether the answer to a question that was asked on this screen is in progress.
func (m *model) answeringHere() bool {
	if m.question.sending {
		return true
	}

	return m.question.stageID != "" && m.session != nil && !m.session.StageStatus(m.question.stageID).Terminal()
}

// pressInterrupt cancels the answer that was asked for here, then leaves. The answers of others are not touched.
func (m *model) pressInterrupt() tea.Cmd {
	if m.browsing || m.question.interrupted || !m.answeringHere() {
		return tea.Quit
	}

	m.question.interrupted = true
	m.notice = "cancelling the answer; Ctrl-C again leaves"

	if m.question.sending {
		return nil // it is cancelled when it is accepted
	}

	return m.cancel()
}

func (m *model) pressQuestion(key tea.KeyPressMsg) tea.Cmd {
	m.notice = ""

	switch name := key.String(); name {
	case "tab":
		m.question.keys = true
	case "enter", "kp_enter":
		return m.ask()
	case "esc":
		if m.question.line.Text() == "" {
			return m.pressSession(name)
		}

		m.question.line.Clear()
	case "ctrl+d":
		if m.question.line.Text() == "" {
			return tea.Quit
		}

		m.question.line.Press(key)
	case "pgup":
		m.scroll(-m.bodyHeight())
	case "pgdown":
		m.scroll(m.bodyHeight())
	default:
		if !m.question.line.Recalling() {
			m.question.line.SetHistory(m.questions())
		}

		m.question.line.Press(key)
	}

	return nil
}

// questions are what was asked about the session, in order.
func (m *model) questions() []string {
	var all []string

	for _, item := range m.session.Items {
		if item.Type == tarsy.EventUserQuestion {
			all = append(all, item.Content)
		}
	}

	return all
}

// ask sends what was typed. The answer comes as everything else that happens in the session.
func (m *model) ask() tea.Cmd {
	if m.session.answering() || m.question.sending {
		m.notice = "an answer is in progress; ask when it has ended"

		return nil
	}

	text := strings.TrimSpace(m.question.line.Text())
	if text == "" {
		return nil
	}

	m.question.line.Take()

	if text == "q" || text == "/exit" {
		return tea.Quit
	}

	m.question.sending, m.question.stageID, m.question.interrupted = true, "", false
	m.follow = true
	id, ask := m.id, m.actions.Ask

	return func() tea.Msg {
		stageID, err := ask(id, text)

		return askedMsg{id, text, stageID, err}
	}
}

// asked takes the server's response to a question. One that was refused can be changed and sent again.
func (m *model) asked(msg askedMsg) tea.Cmd {
	if msg.id != m.id {
		return nil
	}

	m.question.sending, m.question.stageID = false, msg.stageID

	if msg.err != nil {
		m.notice = "not asked: " + terminal.Line(msg.err.Error())
		m.question.stageID, m.question.interrupted = "", false

		if m.question.line.Text() == "" {
			m.question.line.Insert(msg.question)
		}

		return nil
	}

	if m.question.interrupted {
		return m.cancel()
	}

	return nil
}

// inputLine is the line at the bottom, and the cell of the cursor; negative if keys do not go there.
func (m *model) inputLine() (line string, cursor int) {
	switch {
	case m.browsing || m.session == nil:
		return "", -1
	case m.typing():
		text, at := m.question.line.View(m.width - len(prompt.Mark) - len("  "))
		if m.question.line.Text() == "" {
			text = m.palette.Paint(terminal.Dim, "Ask a question about this session")
		}

		return " " + prompt.Mark + text, 1 + len(prompt.Mark) + at
	case m.session.Status.Terminal():
		return m.palette.Paint(terminal.Dim, " "+prompt.Mark+"Tab to ask a question"), -1
	default:
		return m.palette.Paint(terminal.Dim, " "+prompt.Mark+"Questions can be asked when the session has ended"), -1
	}
}
