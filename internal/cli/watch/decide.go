package watch

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy/internal/cli/prompt"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// decision is a decision about a waiting call that the user is making. It stays with the call for which it was begun.
type decision struct {
	id   string // of the approval; empty if no decision is being made
	call string
	// reason is the line for the reason of a rejection; nil for an approval.
	reason *prompt.Line
}

const reasonMark = "Reason: "

// waiting returns the approval of the first call that can be decided, with the name of the call, or nil.
func (m *model) waiting() (*approval, string) {
	if m.session == nil {
		return nil, ""
	}

	for _, item := range m.session.Items {
		if a := approvalOf(item); a.waits() && a.Open(m.now) {
			call := toolCallOf(item)

			return a, strings.TrimSpace(call.number + " " + call.name)
		}
	}

	return nil, ""
}

// begin asks the user to confirm an approval, or for the reason of a rejection.
func (m *model) begin(reason *prompt.Line) {
	if a, call := m.waiting(); a != nil {
		m.decision = decision{id: a.whole, call: call, reason: reason}
	}
}

// pressDecision handles a key while a decision is being made. Only y approves, and only Enter after a reason rejects.
func (m *model) pressDecision(key tea.KeyPressMsg) tea.Cmd {
	making := m.decision

	if making.reason == nil {
		m.decision = decision{}

		if name := key.String(); name != "y" && name != "Y" {
			return nil
		}

		approve := m.actions.Approve

		return func() tea.Msg { return decidedMsg{"approved " + making.call, approve(making.id)} }
	}

	switch key.String() {
	case "esc":
		m.decision = decision{}
	case "enter":
		reason := strings.TrimSpace(making.reason.Text())
		if reason == "" {
			return nil
		}

		m.decision = decision{}
		reject := m.actions.Reject

		return func() tea.Msg { return decidedMsg{"rejected " + making.call, reject(making.id, reason)} }
	default:
		making.reason.Press(key)
	}

	return nil
}

// decided reports what the server answered to a decision.
func (m *model) decided(msg decidedMsg) {
	m.notice = msg.text
	if msg.err != nil {
		m.notice = "not decided: " + terminal.Line(msg.err.Error())
	}
}

// question asks what the user is about to decide.
func (d decision) question() string {
	if d.reason == nil {
		return "Approve " + d.call + "? y yes · any other key no"
	}

	return "Reject " + d.call + ": enter sends the reason · esc does not reject"
}
