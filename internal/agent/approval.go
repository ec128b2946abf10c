package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/progress"
)

// ErrWaiting is returned by Run when the execution cannot continue before a person decides on a call. All state is stored: the next Run
// continues it, here or on another server.
var ErrWaiting = errors.New("a tool call waits for an approval")

// Results that the model gets for calls that were not made or were edited.
const (
	notAllowed      = "The configuration does not allow this call. It was not made. Continue without it."
	needsObject     = "This call needs a person's approval, which is only possible if its arguments are one JSON object. It was not made."
	approvalExpired = "Nobody approved this call in time, so it was not made. Do not repeat it: " +
		"continue without it and name it as a step for a person to take."
	approvalWithdrawn = "The call was not made, because it is time to conclude. Name it as a step for a person to take."
	approvalRejected  = "A person rejected this call, so it was not made. Do not repeat it unless the reason asks for a change. The reason was: "
	approvalEdited    = "A person changed the arguments of this call before approving it. It was made with: "
)

// requestApproval makes a call wait for a person if its policy requires it, and reports whether it does.
func (r *run) requestApproval(interaction *tarsy.MCPInteraction, call tarsy.ToolCall) bool {
	policy, rule := r.policyOf(call, interaction)
	if policy != PolicyAsk || !isObject(interaction.ToolArguments) {
		return false
	}

	// The server's own read-only hint is not trusted here: the call is not repeated.
	interaction.Status, interaction.ReadOnly = tarsy.CallWaiting, false
	interaction.Approval = &tarsy.Approval{
		Status: tarsy.ApprovalWaiting, Scope: tarsy.ScopeCall, Rule: rule.Name, RuleText: rule.text(),
		ExpiresAt: interaction.CreatedAt.Add(r.Spec.Approvals.ExpiresAfter),
	}

	return true
}

// policyOf returns the policy for a call, based on what the model wrote: the stored arguments have lost duplicate keys.
func (r *run) policyOf(call tarsy.ToolCall, interaction *tarsy.MCPInteraction) (Policy, *ApprovalRule) {
	return r.Spec.Approvals.policyFor(interaction.ServerName, interaction.ToolName, interaction.ReadOnly, json.RawMessage(call.Arguments))
}

func isObject(raw json.RawMessage) bool {
	var object map[string]any

	return json.Unmarshal(raw, &object) == nil && object != nil
}

// refused returns why a call that waits for no decision must not be made, or an empty string.
func (r *run) refused(call tarsy.ToolCall, interaction *tarsy.MCPInteraction) string {
	if interaction.Approval != nil {
		return ""
	}

	switch policy, _ := r.policyOf(call, interaction); policy {
	case PolicyNever:
		return notAllowed
	case PolicyAsk:
		return needsObject
	case PolicyAlways:
	}

	return ""
}

// resultOf makes a call, or returns why it is not made. An approved call is first recorded as started.
func (r *run) resultOf(ctx context.Context, call tarsy.ToolCall, interaction *tarsy.MCPInteraction) (Result, error) {
	if interaction.Status != tarsy.CallWaiting {
		result, err := r.callTool(ctx, call, interaction)

		return withEdit(result, interaction), err
	}

	approval := *interaction.Approval
	now := r.now()

	switch {
	case approval.Status == tarsy.ApprovalApproved && r.forbidsEdit(interaction):
		return Result{Content: notAllowed, IsError: true}, nil
	case approval.Status == tarsy.ApprovalApproved && r.tools.open != nil && !r.mustConclude(ctx):
		approval.StartedAt = &now
		interaction.Approval, interaction.Status = &approval, tarsy.CallStarted
		r.started[call.ID] = true

		if err := r.commit(ctx, progress.Step{MCPInteractions: []tarsy.MCPInteraction{*interaction}}); err != nil {
			return Result{}, err
		}

		result, err := r.callTool(ctx, call, interaction)

		return withEdit(result, interaction), err
	case approval.Status == tarsy.ApprovalRejected:
		return Result{Content: approvalRejected + quote.OneLine(approval.Reason), IsError: true}, nil
	case approval.Status == tarsy.ApprovalWaiting && !approval.Open(now):
		approval.Status, approval.DecidedAt = tarsy.ApprovalExpired, &now
		interaction.Approval = &approval

		return Result{Content: approvalExpired, IsError: true}, nil
	case approval.Status == tarsy.ApprovalWaiting:
		approval.Status, approval.DecidedAt = tarsy.ApprovalWithdrawn, &now
		interaction.Approval = &approval
	}

	return Result{Content: approvalWithdrawn, IsError: true}, nil
}

// forbidsEdit reports whether a person set arguments that the configuration never allows: people can only decide on calls for which the
// configuration asks.
func (r *run) forbidsEdit(interaction *tarsy.MCPInteraction) bool {
	policy, _ := r.Spec.Approvals.policyFor(interaction.ServerName, interaction.ToolName, interaction.ReadOnly, interaction.Approval.Arguments)

	return len(interaction.Approval.Arguments) > 0 && policy == PolicyNever
}

// argumentsToSend returns the arguments of a call: what the model wrote or, for an approved call, exactly what the approver saw or set.
func argumentsToSend(call tarsy.ToolCall, interaction *tarsy.MCPInteraction) string {
	switch {
	case interaction.Approval == nil:
		return call.Arguments
	case len(interaction.Approval.Arguments) > 0:
		return compact(interaction.Approval.Arguments)
	default:
		return compact(interaction.ToolArguments)
	}
}

// compact returns JSON without the spaces that the database adds, so that it is the same on every server.
func compact(raw json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return string(raw)
	}

	return out.String()
}

// withEdit adds to the result that the arguments were changed.
func withEdit(result Result, interaction *tarsy.MCPInteraction) Result {
	if interaction.Approval != nil && len(interaction.Approval.Arguments) > 0 {
		result.Content = strings.TrimRight(fmt.Sprintf("%s%s\n\n%s", approvalEdited, compact(interaction.Approval.Arguments), result.Content), "\n")
	}

	return result
}

// callDuration returns how long a call took, in milliseconds, without the time that it waited for an approval.
func callDuration(interaction *tarsy.MCPInteraction, now time.Time) int64 {
	switch {
	case interaction.Approval == nil:
		return elapsed(interaction.CreatedAt, now)
	case interaction.Approval.StartedAt == nil:
		return 0
	default:
		return elapsed(*interaction.Approval.StartedAt, now)
	}
}
