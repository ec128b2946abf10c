package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
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
}

type approvalListOutput struct{ Body approvalList }

type approvalList struct {
	Approvals []tarsy.ApprovalRequest `json:"approvals"`
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
	if err := checkParameters(in); err != nil {
		return nil, err
	}

	found, err := d.people.Approvals(ctx, string(in.SessionID), callerOf(ctx).visible)
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}

	return &approvalListOutput{Body: approvalList{Approvals: append([]tarsy.ApprovalRequest{}, found...)}}, nil
}

func (d *desk) getApproval(ctx context.Context, in *approvalInput) (*approvalOutput, error) {
	found, err := d.people.Approval(ctx, in.ID)
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
