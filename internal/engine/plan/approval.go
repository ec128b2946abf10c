package plan

import (
	"encoding/json"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// waitingCall is the call of an execution about which somebody can decide, or nil.
func waitingCall(state *progress.State, execution string, now time.Time) *tarsy.MCPInteraction {
	for i := range state.MCPInteractions {
		c := &state.MCPInteractions[i]
		if c.ExecutionID == execution && c.Status == tarsy.CallWaiting && c.Approval.Open(now) {
			return c
		}
	}

	return nil
}

// IsWaiting reports whether an execution can do nothing before somebody decides about one of its calls.
func IsWaiting(state *progress.State, execution string, now time.Time) bool {
	return waitingCall(state, execution, now) != nil
}

// DecideBefore is until when somebody can decide about the call that an execution waits for. It reports false if it waits for none.
func DecideBefore(state *progress.State, execution string, now time.Time) (time.Time, bool) {
	if c := waitingCall(state, execution, now); c != nil {
		return c.Approval.ExpiresAt, true
	}

	return time.Time{}, false
}

// wait gives the lease back until somebody decides, or the first request expires.
func (s Steps) wait(index int) progress.Step {
	var first *time.Time

	for _, e := range executionsOf(s.State, s.State.Stages[index].ID) {
		if c := waitingCall(s.State, e.ID, s.Now); c != nil && (first == nil || c.Approval.ExpiresAt.Before(*first)) {
			first = &c.Approval.ExpiresAt
		}
	}

	// Requests were applied before, so an expiry was found if there is none left.
	if first == nil {
		first = &s.Now
	}

	step := releasing(progress.Step{})
	step.RunAt = first

	return step
}

// Decide applies what people decided about calls. It returns nil if they decided nothing. A decision that came while the request was
// open counts, also if it expired meanwhile.
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

// decided is the call of a request with what was decided about it, or nil if nothing waits for that decision.
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

// eventsOf is the timeline event of a call with its approval as it is now.
func eventsOf(state *progress.State, call tarsy.MCPInteraction, now time.Time) []tarsy.TimelineEvent {
	for _, e := range state.Timeline {
		if e.ID == call.TimelineEventID {
			e.Metadata, e.UpdatedAt = e.Metadata.WithApproval(call.Approval), now

			return []tarsy.TimelineEvent{e}
		}
	}

	return nil
}

// withdraw closes the requests for approvals of one execution, or of all if none is named, whose calls are no longer wanted. Their
// timeline events are closed after it, with the metadata that it returns by the event's id.
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

// waited is for how long the work that began at a time has waited for people: the time in which at least one call did. It does not
// count against the time limit.
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
