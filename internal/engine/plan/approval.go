package plan

import (
	"encoding/json"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// waitingCall returns the call of an execution that waits for a decision, or nil.
func waitingCall(state *progress.State, execution string, now time.Time) *tarsy.MCPInteraction {
	for i := range state.MCPInteractions {
		c := &state.MCPInteractions[i]
		if c.ExecutionID == execution && c.Status == tarsy.CallWaiting && c.Approval.Open(now) {
			return c
		}
	}

	return nil
}

// IsWaiting reports whether an execution waits for a decision on one of its calls.
func IsWaiting(state *progress.State, execution string, now time.Time) bool {
	return waitingCall(state, execution, now) != nil
}

// DecideBefore returns when the approval that an execution waits for expires. It returns false if it waits for none.
func DecideBefore(state *progress.State, execution string, now time.Time) (time.Time, bool) {
	if c := waitingCall(state, execution, now); c != nil {
		return c.Approval.ExpiresAt, true
	}

	return time.Time{}, false
}

// wait releases the lease until someone decides, or the first approval expires.
func (s Steps) wait(index int) progress.Step {
	var first *time.Time

	for _, e := range executionsOf(s.State, s.State.Stages[index].ID) {
		if c := waitingCall(s.State, e.ID, s.Now); c != nil && (first == nil || c.Approval.ExpiresAt.Before(*first)) {
			first = &c.Approval.ExpiresAt
		}
	}

	// Decisions have already been applied, so if no call is waiting, the last approval has just expired.
	if first == nil {
		first = &s.Now
	}

	step := releasing(progress.Step{})
	step.RunAt = first

	return step
}

// Decide applies people's decisions on calls. It returns nil if there are none. A decision that was made while the approval was open counts
// even if the approval has expired since.
func Decide(state *progress.State, now time.Time) *progress.Step {
	var step progress.Step

	for _, q := range state.Requests {
		if q.Kind != tarsy.RequestApproval {
			continue
		}

		q.Status, q.ClosedAt = tarsy.RequestRefused, &now

		if call := decided(state, q, now); call != nil {
			q.Status = tarsy.RequestDone
			step.MCPInteractions = append(step.MCPInteractions, *call)
			step.Timeline = append(step.Timeline, eventsOf(state, *call, now)...)
			step.Events = append(step.Events, tarsy.ApprovalChanged(*call, now))
		}

		step.Answered = append(step.Answered, q)
	}

	if len(step.Answered) == 0 {
		return nil
	}

	return &step
}

// decided returns the call of a request with the decision applied, or nil if no call waits for that decision.
func decided(state *progress.State, q tarsy.Request, now time.Time) *tarsy.MCPInteraction {
	var decision tarsy.ApprovalDecision
	if err := json.Unmarshal(q.Payload, &decision); err != nil {
		return nil
	}

	i := slices.IndexFunc(state.MCPInteractions, func(c tarsy.MCPInteraction) bool { return c.ID == decision.ApprovalID })
	if i < 0 || state.MCPInteractions[i].Status != tarsy.CallWaiting || !state.MCPInteractions[i].Approval.Open(q.CreatedAt) {
		return nil
	}

	call := state.MCPInteractions[i]
	approval := *call.Approval
	approval.Status, approval.Reason, approval.DecidedBy, approval.DecidedAt = decision.Status, decision.Reason, q.Author, &now

	if decision.Status == tarsy.ApprovalApproved {
		approval.Arguments = decision.Arguments
	}

	call.Approval = &approval

	return &call
}

// eventsOf returns the timeline event of a call with its current approval.
func eventsOf(state *progress.State, call tarsy.MCPInteraction, now time.Time) []tarsy.TimelineEvent {
	for _, e := range state.Timeline {
		if e.ID == call.TimelineEventID {
			e.Metadata, e.UpdatedAt = e.Metadata.WithApproval(call.Approval), now

			return []tarsy.TimelineEvent{e}
		}
	}

	return nil
}

// withdraw closes the approvals of calls that are no longer needed, of one execution, or of all if execution is empty. The caller closes
// their timeline events with the returned metadata, by event ID.
func withdraw(step *progress.Step, state *progress.State, now time.Time, execution string) map[string]tarsy.Metadata {
	changed := map[string]tarsy.Metadata{}

	for _, c := range state.MCPInteractions {
		if c.Status != tarsy.CallWaiting || execution != "" && c.ExecutionID != execution {
			continue
		}

		approval := *c.Approval
		if approval.Status == tarsy.ApprovalWaiting {
			approval.Status, approval.DecidedAt = tarsy.ApprovalWithdrawn, &now
		}

		c.Approval, c.Status, c.IsError, c.CompletedAt, c.ErrorMessage = &approval, tarsy.CallFailed, true, &now, "the call was not made"
		step.MCPInteractions = append(step.MCPInteractions, c)
		step.Events = append(step.Events, tarsy.ApprovalChanged(c, now))

		for _, e := range state.Timeline {
			if e.ID == c.TimelineEventID {
				changed[e.ID] = e.Metadata.WithApproval(c.Approval)
			}
		}
	}

	return changed
}

// waited returns how long the work that began at a time has waited for people: the time in which at least one call did. It does not count
// against the time limit.
func waited(state *progress.State, began, now time.Time) time.Duration {
	type interval struct{ from, to time.Time }

	var waits []interval

	for _, c := range state.MCPInteractions {
		if c.Approval == nil || c.CreatedAt.Before(began) {
			continue
		}

		wait := interval{c.CreatedAt, now}
		if c.Approval.DecidedAt != nil {
			wait.to = *c.Approval.DecidedAt
		}

		if wait.from.Before(wait.to) {
			waits = append(waits, wait)
		}
	}

	slices.SortFunc(waits, func(a, b interval) int { return a.from.Compare(b.from) })

	var (
		sum   time.Duration
		until time.Time
	)

	for _, w := range waits {
		if w.from.Before(until) {
			w.from = until
		}

		if w.from.Before(w.to) {
			sum, until = sum+w.to.Sub(w.from), w.to
		}
	}

	return sum
}
