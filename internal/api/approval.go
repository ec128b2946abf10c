package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// callArguments are the arguments that an approver sets: an object, kept as is.
type callArguments json.RawMessage

// Schema implements huma.SchemaProvider.
func (*callArguments) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true,
		Description: "All arguments for the call, instead of those of the model. If absent, the call is made with those of the model.",
	}
}

// readValue implements valueReader.
func (a *callArguments) readValue(v value) error {
	if v.kind() != kindObject {
		return v.wrong(kindObject)
	}

	*a = callArguments(v.raw)

	return nil
}

// approveRequest is the body that approves a call.
type approveRequest struct {
	Arguments callArguments `json:"arguments,omitempty"`
	Reason    string        `doc:"The reason, at most 2,000 characters." json:"reason,omitempty"`
}

// rejectRequest is the body that rejects a call.
type rejectRequest struct {
	Reason string `doc:"The reason, at most 2,000 characters. The agent gets the reason." json:"reason"`
}

type approvalsInput struct {
	SessionID identifier `doc:"Only approvals of this session." query:"session_id"`
	Status    string     `doc:"Calls that wait, which is the default, or requests that were approved, rejected, expired or withdrawn." enum:"waiting,decided" query:"status"`
	Limit     integer    `doc:"Maximum number of decided requests per page." query:"limit"`
	Cursor    cursor     `doc:"The next_cursor of the previous page of decided requests." query:"cursor"`
}

// approvalFilter is what remains of the parameters after the check.
type approvalFilter struct {
	SessionID string
	Status    string
	Limit     int
}

// approvalCursor is a position in the list of decided requests.
type approvalCursor struct {
	ID string `json:"id"`
}

type approvalListOutput struct{ Body approvalList }

type approvalList struct {
	Approvals  []tarsy.ApprovalRequest `json:"approvals"`
	NextCursor string                  `doc:"Cursor of the next page; absent on the last page, and in the list of calls that wait." json:"next_cursor,omitempty"`
}

type approvalInput struct {
	ID string `doc:"The id of an approval." path:"id"`
}

type approvalOutput struct{ Body tarsy.ApprovalRequest }

type decisionOutput struct{ Body decisionAccepted }

type decisionAccepted struct {
	ID        string               `doc:"The id of the approval." json:"id"`
	SessionID string               `doc:"The id of its session." json:"session_id"`
	Status    tarsy.ApprovalStatus `doc:"The decision: approved or rejected." json:"status"`
}

func (d *desk) listApprovals(ctx context.Context, in *approvalsInput) (*approvalListOutput, error) {
	var filter approvalFilter
	if err := readParameters(in, &filter); err != nil {
		return nil, err
	}

	after, err := readCursor(in.Cursor, func(place approvalCursor) bool { return filter.Status == "decided" && ident.Valid(place.ID) })
	if err != nil {
		return nil, err
	}

	var (
		out   = &approvalListOutput{}
		found []tarsy.ApprovalRequest
	)

	if filter.Status == "decided" {
		found, err = d.decidedApprovals(ctx, filter, after, out)
	} else {
		found, err = d.people.Approvals(ctx, filter.SessionID, callerOf(ctx).visible)
	}

	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}

	out.Body.Approvals = append([]tarsy.ApprovalRequest{}, found...)

	return out, nil
}

// decidedApprovals returns a page, and sets the cursor of the next one.
func (d *desk) decidedApprovals(ctx context.Context, filter approvalFilter, after *approvalCursor, out *approvalListOutput) ([]tarsy.ApprovalRequest, error) {
	if after == nil {
		after = &approvalCursor{}
	}

	// One more than the page shows, to detect another page.
	found, err := d.people.DecidedApprovals(ctx, filter.SessionID, after.ID, filter.Limit+1, callerOf(ctx).visible)
	if err != nil || len(found) <= filter.Limit {
		return found, err
	}

	found = found[:filter.Limit]
	out.Body.NextCursor, err = encodeCursor(approvalCursor{ID: found[filter.Limit-1].ID})

	return found, err
}

func (d *desk) getApproval(ctx context.Context, in *approvalInput) (*approvalOutput, error) {
	found, err := d.people.Approval(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("show approval: %w", err)
	}

	found.Earlier, err = d.people.EarlierDecisions(ctx, found, callerOf(ctx).visible)
	if err != nil {
		return nil, fmt.Errorf("show approval: %w", err)
	}

	return &approvalOutput{Body: found}, nil
}

func (d *desk) approve(ctx context.Context, in *approvalInput) (*decisionOutput, error) {
	var (
		who     = callerOf(ctx)
		request approveRequest
		err     error
	)

	if who.body != nil {
		request, err = readRequest[approveRequest](who.body)
		if err != nil {
			return nil, err
		}
	}

	decided, err := d.people.Approve(ctx, in.ID, who.author, json.RawMessage(request.Arguments), request.Reason)
	if err != nil {
		return nil, fmt.Errorf("approve tool call: %w", err)
	}

	return accepted(decided, tarsy.ApprovalApproved), nil
}

func (d *desk) reject(ctx context.Context, in *approvalInput) (*decisionOutput, error) {
	who := callerOf(ctx)

	request, err := readRequest[rejectRequest](who.body)
	if err != nil {
		return nil, err
	}

	decided, err := d.people.Reject(ctx, in.ID, who.author, request.Reason)
	if err != nil {
		return nil, fmt.Errorf("reject tool call: %w", err)
	}

	return accepted(decided, tarsy.ApprovalRejected), nil
}

func accepted(decided tarsy.ApprovalRequest, status tarsy.ApprovalStatus) *decisionOutput {
	return &decisionOutput{Body: decisionAccepted{ID: decided.ID, SessionID: decided.SessionID, Status: status}}
}
