package people

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Approvals returns the open approvals, the first to expire first. If sessionID is not empty, only those of that session.
func (d *Desk) Approvals(ctx context.Context, sessionID string, visible tarsy.Visibility) ([]tarsy.ApprovalRequest, error) {
	return d.cfg.DB.Approvals(ctx, sessionID, visible)
}

// DecidedApprovals returns a page of the approvals that no longer wait, the last request first; after is the last one of the previous page.
func (d *Desk) DecidedApprovals(ctx context.Context, sessionID, after string, limit int, visible tarsy.Visibility) ([]tarsy.ApprovalRequest, error) {
	return d.cfg.DB.DecidedApprovals(ctx, sessionID, after, limit, visible)
}

// EarlierDecisions returns what people decided about earlier calls of the same tool; nil if nothing.
func (d *Desk) EarlierDecisions(ctx context.Context, of tarsy.ApprovalRequest, visible tarsy.Visibility) (*tarsy.EarlierDecisions, error) {
	return d.cfg.DB.EarlierDecisions(ctx, of, visible)
}

// Approval returns one approval, decided or not.
func (d *Desk) Approval(ctx context.Context, id string) (tarsy.ApprovalRequest, error) {
	return d.cfg.DB.Approval(ctx, id)
}

// Approve approves a call, with arguments instead of the model's if it is not nil. When it returns without error, the decision
// is durable.
func (d *Desk) Approve(ctx context.Context, id, by string, arguments json.RawMessage, reason string) (tarsy.ApprovalRequest, error) {
	reason, err := d.reason(reason)
	if err != nil {
		return tarsy.ApprovalRequest{}, err
	}

	decision := tarsy.ApprovalDecision{ApprovalID: id, Status: tarsy.ApprovalApproved, Reason: reason}

	if arguments != nil {
		decision.Arguments, err = d.arguments(arguments)
		if err != nil {
			return tarsy.ApprovalRequest{}, err
		}
	}

	return d.decide(ctx, by, decision)
}

// Reject rejects a call. The model gets the reason, which must not be empty.
func (d *Desk) Reject(ctx context.Context, id, by, reason string) (tarsy.ApprovalRequest, error) {
	reason, err := d.reason(reason)

	switch {
	case err != nil:
		return tarsy.ApprovalRequest{}, err
	case reason == "":
		return tarsy.ApprovalRequest{}, tarsy.FieldErrorf(tarsy.CodeMissingField, "reason", "reason is missing; the agent needs the reason for the rejection")
	}

	return d.decide(ctx, by, tarsy.ApprovalDecision{ApprovalID: id, Status: tarsy.ApprovalRejected, Reason: reason})
}

func (d *Desk) reason(text string) (string, error) {
	text = strings.TrimSpace(plaintext.Clean(text))
	if utf8.RuneCountInString(text) > tarsy.MaxApprovalReason {
		return "", tarsy.FieldErrorf(tarsy.CodeInvalidField, "reason", "reason is longer than %d characters", tarsy.MaxApprovalReason)
	}

	return d.cfg.Mask(text), nil
}

func (d *Desk) decide(ctx context.Context, by string, decision tarsy.ApprovalDecision) (tarsy.ApprovalRequest, error) {
	found, err := d.cfg.DB.Approval(ctx, decision.ApprovalID)
	if err != nil {
		return tarsy.ApprovalRequest{}, err
	}

	decision.ApprovalID = found.ID
	audit.Target(ctx, found.ID)

	added, err := d.cfg.DB.AddDecision(ctx, tarsy.Request{
		ID: ident.New(), SessionID: found.SessionID, Kind: tarsy.RequestApproval, Author: plaintext.Clean(by), CreatedAt: calendar.Time(d.cfg.Clock.Now()),
	}, decision)
	if err != nil {
		return tarsy.ApprovalRequest{}, fmt.Errorf("decide about a tool call: %w", err)
	}

	if !added {
		return tarsy.ApprovalRequest{}, d.closed(ctx, found.ID)
	}

	return found, nil
}

// closed returns why a call can no longer be decided.
func (d *Desk) closed(ctx context.Context, id string) error {
	found, err := d.cfg.DB.Approval(ctx, id)
	if err != nil {
		return err
	}

	requests, err := d.cfg.DB.OpenRequests(ctx, found.SessionID)
	if err != nil {
		return err
	}

	for _, r := range requests {
		var decision tarsy.ApprovalDecision

		if r.Kind == tarsy.RequestApproval && json.Unmarshal(r.Payload, &decision) == nil && decision.ApprovalID == id {
			return notOpenf("%s has already %s this call", r.Author, decision.Status)
		}
	}

	switch a := found.Approval; a.Status {
	case tarsy.ApprovalApproved, tarsy.ApprovalRejected:
		return notOpenf("%s has already %s this call", a.DecidedBy, a.Status)
	case tarsy.ApprovalExpired:
		return expired(a)
	case tarsy.ApprovalWaiting:
		if !a.Open(d.cfg.Clock.Now()) {
			return expired(a)
		}
	case tarsy.ApprovalWithdrawn:
	}

	return notOpenf("the call is no longer wanted: its session was cancelled, or the agent had to conclude")
}

func expired(a tarsy.Approval) error {
	return notOpenf("the request expired at %s, and the agent continued without the call", a.ExpiresAt.UTC().Format("2006-01-02 15:04:05 MST"))
}

func notOpenf(format string, args ...any) error {
	return tarsy.Errorf(tarsy.CodeApprovalNotOpen, format, args...)
}
