package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	approveCommand = "!approve"
	rejectCommand  = "!reject"

	// maxArguments is the maximum length of the arguments in a message, in UTF-16 units.
	maxArguments = 1000

	decisionUsage = "Write !approve and the number of the call, or !reject, the number and the reason."
	notAllowed    = "You are not allowed to approve or reject tool calls here."
)

// decision is a command about a tool call.
type decision struct {
	approve bool
	// call is the number of the call in its session, or empty if omitted.
	call   string
	reason string
}

// parseDecision parses a command about a tool call; false if the message is not one.
func parseDecision(content string) (decision, bool) {
	words := strings.Fields(content)
	if len(words) == 0 || !strings.EqualFold(words[0], approveCommand) && !strings.EqualFold(words[0], rejectCommand) {
		return decision{}, false
	}

	d := decision{approve: strings.EqualFold(words[0], approveCommand)}

	if len(words) > 1 {
		d.call = words[1]
		_, rest, _ := strings.Cut(content, words[0])
		_, rest, _ = strings.Cut(rest, words[1])
		d.reason = strings.TrimSpace(rest)
	}

	return d, true
}

// decide executes a command about a call of a session and replies with the result.
func (b *Bot) decide(ctx context.Context, m discord.Message, sessionID string, d decision) {
	switch {
	case !slices.Contains(b.cfg.Approve, m.AuthorID) && !slices.ContainsFunc(m.RoleIDs, func(id string) bool { return slices.Contains(b.cfg.Approve, id) }):
		b.refuse(m, "approve")
		b.say(ctx, m, notAllowed)

		return
	case d.call == "" || !d.approve && d.reason == "":
		b.say(ctx, m, decisionUsage)

		return
	}

	open, err := b.cfg.Desk.Approvals(ctx, sessionID, tarsy.Visibility{})
	if err != nil {
		b.explain(ctx, m, err)

		return
	}

	at := slices.IndexFunc(open, func(a tarsy.ApprovalRequest) bool { return a.Call == d.call })
	if at < 0 {
		b.say(ctx, m, "No call with the number "+literal(plaintext.Cut(d.call, maxFact))+" waits for an approval: somebody decided already, or the request expired.")

		return
	}

	if _, cut := codeBlock(open[at].ToolArguments); cut && d.approve {
		b.say(ctx, m, argumentsCut)

		return
	}

	if d.approve {
		err = b.people.Approve(ctx, written(m), open[at].ID, d.reason)
	} else {
		err = b.people.Reject(ctx, written(m), open[at].ID, d.reason)
	}

	switch {
	case err != nil:
		b.explain(ctx, m, err)
	case d.approve:
		b.say(ctx, m, "Approved. The call "+literal(d.call)+" is made.")
	default:
		b.say(ctx, m, "Rejected. The agent gets the reason and continues without the call "+literal(d.call)+".")
	}
}

// sendApproval announces a waiting call, either in the thread of its session or in a channel with a new thread for the
// decision.
func (s *sender) sendApproval(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	call, err := s.cfg.Desk.Approval(ctx, *a.ApprovalID)
	if tarsy.CodeOf(err) == tarsy.CodeApprovalNotFound {
		return false, notify.ErrDeleted
	}

	if err != nil {
		return false, err
	}

	if len(a.MessageIDs) == 0 {
		if err := notify.CheckStillOpen(call.Approval, s.cfg.Clock.Now()); err != nil {
			return false, err
		}

		text, err := s.templated(ctx, a, &call)
		if err != nil {
			return false, err
		}

		if err := s.post(ctx, a, d, cmp.Or(text, s.approvalText(call))); err != nil {
			return false, err
		}
	}

	if !s.cfg.Routes.Has(a.Target) {
		return true, nil
	}

	name := tarsy.CutUTF16("Approval "+call.Call+": "+oneLine(call.ServerName+"."+call.ToolName), maxThreadName)

	a.ThreadID, err = s.cfg.Client.StartThread(ctx, a.Target, a.MessageIDs[0], name)
	if err != nil && !discord.IsPermanent(err) {
		return false, err
	}

	if err != nil {
		// The announcement is posted, and people can decide elsewhere.
		a.Error = plaintext.Clean(err.Error())
		s.cfg.Logger.Error("could not open a thread under a request for an approval; decisions are not possible there", "session_id", a.SessionID, "error", err)
	}

	return true, nil
}

func (s *sender) approvalText(call tarsy.ApprovalRequest) string {
	name := func(text string) string { return literal(plaintext.Cut(oneLine(text), maxThreadName)) }
	text, cut := codeBlock(call.ToolArguments)

	lines := []string{
		"**Approval needed:** " + name(tarsy.AlertFacts{Title: call.Title}.TitleOr(call.AlertType)),
		fmt.Sprintf("The agent %s wants to call %s (call %s):", name(call.AgentName), name(call.ServerName+"."+call.ToolName), name(call.Call)), text,
	}

	if cut {
		lines = append(lines, argumentsCut)
	}

	lines = append(lines, fmt.Sprintf("Expires <t:%d:R>.", call.Approval.ExpiresAt.Unix()))

	switch {
	case len(s.cfg.Approve) == 0:
	case cut:
		lines = append(lines, fmt.Sprintf("Reject in the thread: `%s %s reason`", rejectCommand, call.Call))
	default:
		lines = append(lines, fmt.Sprintf("Decide in the thread: `%s %s` or `%s %s reason`", approveCommand, call.Call, rejectCommand, call.Call))
	}

	return strings.Join(append(lines, s.link(call.SessionID)), "\n")
}

// codeBlock formats JSON as a code block that its content cannot end, and reports whether any of it is not shown.
func codeBlock(raw json.RawMessage) (block string, cut bool) {
	var text bytes.Buffer

	if json.Indent(&text, raw, "", "  ") != nil {
		text.Reset()
		text.Write(raw)
	}

	whole := codeText(string(plaintext.EscapeInvisible(text.Bytes())))
	shown := tarsy.CutUTF16(whole, maxArguments)

	return fence + "json\n" + shown + "\n" + fence, !message.ShowsAll(shown, whole)
}
