package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"tarsy.dev/tarsy"
)

// Decision is the answer to a decision about a tool call.
type Decision struct {
	ID        string               `json:"id"`
	SessionID string               `json:"session_id"`
	Status    tarsy.ApprovalStatus `json:"status"`
}

func approvalPath(id string) string { return "/api/v1/approvals/" + url.PathEscape(id) }

// Approvals lists the tool calls that wait for an approval, the first to expire first. If sessionID is not empty, only those of one session.
func (c *Client) Approvals(ctx context.Context, sessionID string) ([]tarsy.ApprovalRequest, error) {
	query := url.Values{}
	if sessionID != "" {
		query.Set("session_id", sessionID)
	}

	var body struct {
		Approvals []tarsy.ApprovalRequest `json:"approvals"`
	}

	err := c.call(ctx, http.MethodGet, "/api/v1/approvals", query, nil, &body)

	return body.Approvals, err
}

// Approval shows an approval, decided or not.
func (c *Client) Approval(ctx context.Context, id string) (tarsy.ApprovalRequest, error) {
	var found tarsy.ApprovalRequest

	err := c.call(ctx, http.MethodGet, approvalPath(id), nil, nil, &found)

	return found, err
}

// Approve lets a tool call be made, with other arguments than those of the model if arguments is not nil.
func (c *Client) Approve(ctx context.Context, id string, arguments json.RawMessage, reason string) (Decision, error) {
	var decided Decision

	err := c.call(ctx, http.MethodPost, approvalPath(id)+"/approve", nil, struct {
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Reason    string          `json:"reason,omitempty"`
	}{arguments, reason}, &decided)

	return decided, err
}

// Reject decides against a tool call. The agent is told the reason.
func (c *Client) Reject(ctx context.Context, id, reason string) (Decision, error) {
	var decided Decision

	err := c.call(ctx, http.MethodPost, approvalPath(id)+"/reject", nil, struct {
		Reason string `json:"reason"`
	}{reason}, &decided)

	return decided, err
}

// ResolveApproval finds the approval that a part of an id means, at its beginning or end, among those that wait. A whole id need not wait.
func (c *Client) ResolveApproval(ctx context.Context, part string) (string, error) {
	digits := idDigits(part)

	if id := withDashes(digits); tarsy.ValidID(id) {
		return id, nil
	}

	if len(digits) < shortest {
		return "", tarsy.Errorf(tarsy.CodeApprovalNotFound, "%q is too short: use at least %d characters of the approval's id", part, shortest)
	}

	open, err := c.Approvals(ctx, "")
	if err != nil {
		return "", err
	}

	var found []string

	for _, approval := range open {
		if id := idDigits(approval.ID); strings.HasSuffix(id, digits) || strings.HasPrefix(id, digits) {
			found = append(found, approval.ID)
		}
	}

	switch len(found) {
	case 0:
		return "", tarsy.Errorf(tarsy.CodeApprovalNotFound, "no tool call that waits for an approval matches %q; tarsy approvals list shows those that wait", part)
	case 1:
		return found[0], nil
	default:
		return "", tarsy.Errorf(tarsy.CodeInvalidParameter, "%q matches %d approvals: use more of the id", part, len(found))
	}
}
