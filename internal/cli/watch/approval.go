package watch

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

// approval is the approval of a tool call, decided or waiting, cleaned for display.
type approval struct {
	tarsy.Approval

	// id is the end of the approval's id, which commands accept, and whole the whole id.
	id    string
	whole string
	// exact are the arguments, exact to the digit.
	exact []string
}

// approvalOf returns the approval of a tool call, or nil if the call needs none.
func approvalOf(i *live.Item) *approval {
	metadata := tarsy.MetadataAs[tarsy.ToolCallMetadata](i.Metadata)
	if metadata.Approval == nil {
		return nil
	}

	const idLength = 12

	arguments := metadata.Arguments
	if metadata.Approval.Arguments != nil {
		arguments = metadata.Approval.Arguments
	}

	var text bytes.Buffer

	if json.Indent(&text, arguments, "", "  ") != nil {
		text.Reset()
		text.Write(arguments)
	}

	return &approval{
		Approval: *metadata.Approval, whole: metadata.ApprovalID, id: terminal.Line(metadata.ApprovalID[max(0, len(metadata.ApprovalID)-idLength):]),
		exact: strings.Split(terminal.Clean(text.String()), "\n"),
	}
}

// waits reports whether the call is waiting for a decision.
func (a *approval) waits() bool { return a != nil && a.Status == tarsy.ApprovalWaiting }

// notMade reports whether the call was not made for a reason other than an error.
func (a *approval) notMade() bool {
	return a != nil && a.Status != tarsy.ApprovalApproved && !a.waits()
}

// commands returns the commands that decide.
func (a *approval) commands() []string {
	return []string{"tarsy approvals approve " + a.id, "tarsy approvals reject " + a.id + " --reason TEXT"}
}

// decision describes who decided and why. It is empty while the call waits.
func (a *approval) decision() string {
	text := string(a.Status)

	switch a.Status {
	case tarsy.ApprovalWaiting:
		return ""
	case tarsy.ApprovalApproved, tarsy.ApprovalRejected:
		text += " by " + terminal.Line(a.DecidedBy)
	case tarsy.ApprovalExpired:
		text = "no decision in time"
	case tarsy.ApprovalWithdrawn:
		text = "withdrawn without a decision"
	}

	if a.Approval.Arguments != nil {
		text += " with changed arguments"
	}

	if a.Reason != "" {
		text += ": " + terminal.Line(a.Reason)
	}

	return text
}

// approval renders what is shown below a call that needs an approval.
func (b *body) approval(item *live.Item, at moment) []string {
	a := approvalOf(item)
	if a == nil {
		return nil
	}

	if !a.waits() {
		return []string{inset + terminal.Truncate(b.palette.Paint(terminal.Dim, a.decision()), b.width-len(inset))}
	}

	// Nothing is cut: what cannot be seen cannot be decided.
	var lines []string

	for _, argument := range a.exact {
		for _, line := range terminal.Fold(argument, b.width-len(inset)) {
			lines = append(lines, inset+b.palette.Paint(terminal.Dim, line))
		}
	}

	left := "expired; the agent continues without the call"
	if a.Open(at.now) {
		left = "expires in " + terminal.Age(a.ExpiresAt.Sub(at.now))
	}

	lines = append(lines, inset+b.palette.Paint(terminal.Yellow, "waits for approval, "+left))
	for _, command := range a.commands() {
		lines = append(lines, inset+b.palette.Paint(terminal.Bold, command))
	}

	return lines
}

// approval writes an approval request or its decision.
func (l *Lines) approval(item *live.Item, at time.Time) {
	a := approvalOf(item)
	if a == nil {
		return
	}

	call := toolCallOf(item)
	text := l.who(item) + strings.TrimSpace(call.number+" "+call.name)

	if !a.waits() {
		l.line(at, "approval", text+" → "+a.decision())

		return
	}

	text += " waits for approval until " + a.ExpiresAt.In(l.Location).Format(time.DateTime)
	l.line(at, "approval", strings.Join(append(append([]string{text}, a.exact...), a.commands()...), "\n"))
}
