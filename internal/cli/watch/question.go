package watch

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/prompt"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

// question is the input line of the screen. Once the session is over it receives the keys, until Tab returns them to the commands.
type question struct {
	line *prompt.Line
	keys bool // keys are commands even though the session is over

	sending     bool         // the server has not responded yet
	text        string       // the last question asked here
	asked       client.Asked // the same question as accepted by the server
	interrupted bool         // its answer is to be cancelled
}

func newQuestion() question { return question{line: prompt.NewLine(nil)} }

// typing reports whether keys go to the input line.
func (m *model) typing() bool {
	return !m.browsing && m.session != nil && m.session.Status.Terminal() && !m.question.keys
}

// answeringHere reports whether a question from this screen is being answered.
func (m *model) answeringHere() bool {
	if m.question.sending {
		return true
	}

	return m.question.asked.StageID != "" && m.session != nil && !m.session.StageStatus(m.question.asked.StageID).Terminal()
}

// pressInterrupt cancels the answer to a question from this screen, or else leaves. Other users' answers are not touched.
func (m *model) pressInterrupt() tea.Cmd {
	if m.browsing || m.question.interrupted || !m.answeringHere() {
		return tea.Quit
	}

	m.question.interrupted = true
	m.notice = "cancelling the answer; press Ctrl-C again to leave"

	if m.question.sending {
		return nil // cancelled once it is accepted
	}

	return m.cancel()
}

func (m *model) pressQuestion(key tea.KeyPressMsg) tea.Cmd {
	m.notice = ""

	switch name := key.String(); name {
	case "tab":
		m.question.keys = true
	case "enter":
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

// questions returns the questions about the session, in order.
func (m *model) questions() []string {
	var all []string

	for _, item := range m.session.Items {
		if item.Type == tarsy.EventUserQuestion {
			all = append(all, item.Content)
		}
	}

	return all
}

// ask sends the typed question. The answer arrives like every other event of the session.
func (m *model) ask() tea.Cmd {
	if m.session.Answering() || m.question.sending {
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

	m.question.sending, m.question.text, m.question.asked, m.question.interrupted = true, text, client.Asked{}, false
	m.follow = true
	id, ask := m.id, m.actions.Ask

	return func() tea.Msg {
		asked, err := ask(id, text)

		return askedMsg{id, asked, err}
	}
}

// accepted handles the server's response to a question.
func (m *model) accepted(msg askedMsg) tea.Cmd {
	if msg.id != m.id {
		return nil
	}

	m.question.sending, m.question.asked = false, msg.asked

	if msg.err != nil {
		m.takeBack(msg.err.Error())
	}

	m.checkRefusal()

	if m.question.interrupted {
		return m.cancel()
	}

	return nil
}

// checkRefusal takes back a question that the server accepted but refused later. The journal may report this before the response arrives.
func (m *model) checkRefusal() {
	if m.session == nil {
		return
	}

	if reason := m.session.Refusal(m.question.asked.MessageID); reason != "" {
		m.takeBack(reason)
	}
}

// takeBack ends a refused question. The user can edit it and send it again.
func (m *model) takeBack(reason string) {
	m.notice = "not asked: " + terminal.Line(reason)
	m.question.asked, m.question.interrupted = client.Asked{}, false

	if m.question.line.Text() == "" {
		m.question.line.Insert(m.question.text)
	}
}

// inputLine returns the line at the bottom and the cell of the cursor, which is negative if keys do not go there.
func (m *model) inputLine() (line string, cursor int) {
	switch {
	case m.browsing || m.session == nil:
		return "", -1
	case m.decision.reason != nil:
		text, at := m.decision.reason.View(m.width - len(reasonMark) - len("  "))

		return " " + reasonMark + text, 1 + len(reasonMark) + at
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
