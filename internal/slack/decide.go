package slack

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/slack-go/slack"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Names of the buttons, and of the modal for a reason with its input.
const (
	approveAction = "tarsy_approve"
	rejectAction  = "tarsy_reject"
	rejectModal   = "tarsy_reject"
	reasonBlock   = "reason"

	notAllowed   = "You are not allowed to approve or reject tool calls here."
	argumentsCut = "The arguments are longer than what is shown here. Open the session in TARSy, read all of them, and approve the call there."
)

// about is the private metadata of the modal: the call, and the location of its message.
type about struct {
	ApprovalID string `json:"approval_id"`
	Channel    string `json:"channel"`
	Thread     string `json:"thread"`
}

// handleInteraction handles a click or a submitted modal. It returns the payload of the acknowledgement.
func (b *Bot) handleInteraction(ctx context.Context, i slack.InteractionCallback) any {
	switch {
	case i.Type == slack.InteractionTypeBlockActions:
		for _, action := range i.ActionCallback.BlockActions {
			b.click(ctx, i, action.ActionID, about{ApprovalID: action.Value, Channel: i.Channel.ID, Thread: thread(i)})
		}
	case i.Type == slack.InteractionTypeViewSubmission && i.View.CallbackID == rejectModal:
		return b.submit(ctx, i)
	}

	return nil
}

// thread returns the thread of the message with the button.
func thread(i slack.InteractionCallback) string {
	if i.Message.ThreadTimestamp != "" {
		return i.Message.ThreadTimestamp
	}

	return i.Container.MessageTs
}

// click approves a call immediately, or opens the modal for the reason of a rejection.
func (b *Bot) click(ctx context.Context, i slack.InteractionCallback, action string, call about) {
	if action != approveAction && action != rejectAction {
		return
	}

	where := place{channel: call.Channel, thread: call.Thread}

	if !slices.Contains(b.cfg.Approve, i.User.ID) {
		b.logRefusedDecision(i)
		b.tell(ctx, where, i.User.ID, notAllowed)

		return
	}

	if action == rejectAction {
		b.askReason(ctx, i, where, call)

		return
	}

	// A button can predate the rule, or be forged.
	if asked, err := b.cfg.Desk.Approval(ctx, call.ApprovalID); err == nil {
		if _, cut := codeBlock(asked.ToolArguments); cut {
			b.tell(ctx, where, i.User.ID, argumentsCut)

			return
		}
	}

	clicked := b.clicked(ctx, i, call)

	err := b.people.Approve(ctx, clicked, call.ApprovalID, "")
	if err != nil && !b.decidedBy(ctx, call.ApprovalID, clicked, tarsy.ApprovalApproved) {
		b.explain(ctx, where, i.User.ID, err)
	}
}

// askReason opens the modal. If a click is delivered twice, the modal opens once, because a trigger can be used only once.
func (b *Bot) askReason(ctx context.Context, i slack.InteractionCallback, where place, call about) {
	remembered, err := json.Marshal(call)
	if err == nil {
		err = b.cfg.Client.openModal(ctx, i.TriggerID, reasonModal(string(remembered)))
	}

	if known := code(err); err == nil || known == "exchanged_trigger_id" {
		return
	}

	b.cfg.Logger.Warn("could not open the modal for a rejection", "approval_id", plaintext.Clean(call.ApprovalID), "error", err)
	b.tell(ctx, where, i.User.ID, "The form for the reason could not be opened. Try again.")
}

// submit rejects a call with the reason in the modal. Errors are shown in the modal.
func (b *Bot) submit(ctx context.Context, i slack.InteractionCallback) any {
	var call about

	if json.Unmarshal([]byte(i.View.PrivateMetadata), &call) != nil {
		return nil
	}

	if !slices.Contains(b.cfg.Approve, i.User.ID) {
		b.logRefusedDecision(i)

		return slack.NewErrorsViewSubmissionResponse(map[string]string{reasonBlock: notAllowed})
	}

	reason := ""
	if i.View.State != nil {
		reason = i.View.State.Values[reasonBlock][reasonBlock].Value
	}

	clicked := b.clicked(ctx, i, call)

	err := b.people.Reject(ctx, clicked, call.ApprovalID, reason)
	if err != nil && !b.decidedBy(ctx, call.ApprovalID, clicked, tarsy.ApprovalRejected) {
		return slack.NewErrorsViewSubmissionResponse(map[string]string{reasonBlock: b.people.Reason(err)})
	}

	return nil
}

// decidedBy reports whether this person already made this decision: then their input was delivered twice.
func (b *Bot) decidedBy(ctx context.Context, approvalID string, by notify.Message, status tarsy.ApprovalStatus) bool {
	call, err := b.cfg.Desk.Approval(ctx, approvalID)
	if err != nil {
		return false
	}

	d, err := decisionOf(ctx, b.cfg, call)

	return err == nil && d.status == status && d.author == b.people.Author(by.UserName)
}

// logRefusedDecision logs an attempt by a person who is not allowed to decide.
func (b *Bot) logRefusedDecision(i slack.InteractionCallback) {
	b.cfg.Logger.Warn("refused a decision from Slack", "operation", "approve", "channel_id", i.Channel.ID, "user_id", i.User.ID)
}

// clicked converts a click to a message of its author.
func (b *Bot) clicked(ctx context.Context, i slack.InteractionCallback, call about) notify.Message {
	return notify.Message{
		UserID: i.User.ID, UserName: b.cfg.Client.userName(ctx, i.User.ID), Details: map[string]string{"user_id": i.User.ID, "channel_id": call.Channel},
	}
}

// decision is the decision about a call, or its expiry.
type decision struct {
	status tarsy.ApprovalStatus
	author string
	reason string
}

// decisionOf returns the decision about a call. A stored decision counts even before a server has applied it.
func decisionOf(ctx context.Context, cfg Config, call tarsy.ApprovalRequest) (decision, error) {
	if call.Approval.Status.Final() {
		return decision{status: call.Approval.Status, author: call.Approval.DecidedBy, reason: call.Approval.Reason}, nil
	}

	requests, err := cfg.DB.OpenRequests(ctx, call.SessionID)
	if err != nil {
		return decision{}, err
	}

	for _, r := range requests {
		var made tarsy.ApprovalDecision

		if r.Kind == tarsy.RequestApproval && json.Unmarshal(r.Payload, &made) == nil && made.ApprovalID == call.ID {
			return decision{status: made.Status, author: r.Author, reason: made.Reason}, nil
		}
	}

	if !call.Approval.Open(cfg.Clock.Now()) {
		return decision{status: tarsy.ApprovalExpired}, nil
	}

	return decision{status: tarsy.ApprovalWaiting}, nil
}
