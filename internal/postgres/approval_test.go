package postgres_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func (f *fixture) decide(t *testing.T, db *postgres.DB, call tarsy.MCPInteraction, status tarsy.ApprovalStatus) bool {
	t.Helper()

	added, err := db.AddDecision(t.Context(), storetest.NewRequest(call.SessionID, tarsy.RequestApproval, f.Clock.Now()),
		tarsy.ApprovalDecision{ApprovalID: call.ID, Status: status, Reason: "because"})
	require.NoError(t, err)

	return added
}

// A server of a release without approvals ends a session without knowing about the calls that wait in it.
func TestSessionEndedByEarlierReleaseWithdrawsItsWaitingCalls(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	call, other := f.Wait(t, db, storetest.Expiry), f.Wait(t, db, storetest.Expiry)
	now := f.Clock.Now()

	f.Exec(t, `UPDATE sessions SET status = 'cancelled', completed_at = $2, runnable_at = NULL WHERE id = $1`, call.SessionID, now)

	got := storetest.Value[[]byte](t, f.Admin, `SELECT to_jsonb(c) FROM mcp_interactions c WHERE id = $1`, call.ID)

	var closed tarsy.MCPInteraction

	require.NoError(t, json.Unmarshal(got, &closed))
	require.Equal(t, tarsy.CallFailed, closed.Status)
	require.True(t, closed.IsError)
	require.Equal(t, "the call was not made", closed.ErrorMessage)
	require.Equal(t, now, closed.CompletedAt.UTC())

	want := *call.Approval
	want.Status, want.DecidedAt = tarsy.ApprovalWithdrawn, &now

	for place, sql := range map[string]string{
		"approvals": `SELECT approval FROM approvals WHERE id = $1`,
		"timeline":  `SELECT e.metadata -> 'approval' FROM timeline_events e JOIN mcp_interactions c ON c.timeline_event_id = e.id WHERE c.id = $1`,
	} {
		var approval tarsy.Approval

		require.NoError(t, json.Unmarshal(storetest.Value[[]byte](t, f.Admin, sql, call.ID), &approval), place)
		require.Equal(t, want, approval, place)
	}

	require.Empty(t, approvalIDs(t, db, call.SessionID))
	require.Equal(t, []string{other.ID}, approvalIDs(t, db, other.SessionID), "the calls of others wait")
}

func approvalIDs(t *testing.T, db *postgres.DB, sessionID string) []string {
	t.Helper()

	open, err := db.Approvals(t.Context(), sessionID, tarsy.Visibility{})
	require.NoError(t, err)

	ids := make([]string, len(open))
	for i, approval := range open {
		ids[i] = approval.ID
	}

	return ids
}

func TestOpenApprovalsAreListedFirstToExpireFirst(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	require.Empty(t, approvalIDs(t, db, ""))

	// Compared as text, the time without a fraction of a second would come last.
	late, soon, sooner := f.Wait(t, db, 3*storetest.Expiry), f.Wait(t, db, storetest.Expiry+500*time.Millisecond), f.Wait(t, db, storetest.Expiry)

	require.Equal(t, []string{sooner.ID, soon.ID, late.ID}, approvalIDs(t, db, ""))
	require.Equal(t, []string{soon.ID}, approvalIDs(t, db, soon.SessionID))
	require.Empty(t, approvalIDs(t, db, ident.New()))

	_, err := db.Approvals(t.Context(), "none", tarsy.Visibility{})
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))

	open, err := db.Approvals(t.Context(), sooner.SessionID, tarsy.Visibility{})
	require.NoError(t, err)
	storetest.RequireSame(t, []tarsy.ApprovalRequest{{
		ID: sooner.ID, SessionID: sooner.SessionID, ExecutionID: sooner.ExecutionID, TimelineEventID: sooner.TimelineEventID,
		AlertType: "test", AgentName: "agent", Call: "1.1.1", ServerName: sooner.ServerName, ToolName: sooner.ToolName,
		ToolArguments: sooner.ToolArguments, Approval: *sooner.Approval, CreatedAt: sooner.CreatedAt,
	}}, open)
	require.Contains(t, string(open[0].ToolArguments), "12345678901234567890", "numbers keep their digits")

	f.Clock.Advance(storetest.Expiry)
	require.Equal(t, []string{soon.ID, late.ID}, approvalIDs(t, db, ""), "nobody can decide from the time of expiry on")

	f.Exec(t, `UPDATE sessions SET deleted_at = $2 WHERE id = $1`, late.SessionID, f.Clock.Now())
	require.Equal(t, []string{soon.ID}, approvalIDs(t, db, ""))

	_, err = db.Approval(t.Context(), late.ID)
	require.Equal(t, tarsy.CodeApprovalNotFound, tarsy.CodeOf(err))
	_, err = db.Approval(t.Context(), "none")
	require.Equal(t, tarsy.CodeApprovalNotFound, tarsy.CodeOf(err))

	found, err := db.Approval(t.Context(), sooner.ID)
	require.NoError(t, err)
	require.Equal(t, sooner.ID, found.ID, "an expired one is shown, too")
}

func TestDecisionIsRequestThatMakesSessionRunnable(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	call := f.Wait(t, db, storetest.Expiry)
	other := f.Wait(t, db, storetest.Expiry)

	require.Empty(t, f.Claim(t, db, storetest.ServerA, 10), "a session that waits for an approval is not claimed")
	require.True(t, f.decide(t, db, call, tarsy.ApprovalApproved))
	require.Equal(t, []string{other.ID}, approvalIDs(t, db, ""), "a decision that is not applied yet is one")

	claims := f.Claim(t, db, storetest.ServerA, 10)
	require.Len(t, claims, 1)
	require.Equal(t, call.SessionID, claims[0].SessionID)
	require.Len(t, claims[0].State.Requests, 1)

	request := claims[0].State.Requests[0]
	require.Equal(t, tarsy.RequestApproval, request.Kind)
	require.JSONEq(t, `{"approval_id": "`+call.ID+`", "status": "approved", "reason": "because"}`, string(request.Payload))

	// A release waits for open requests; once they are applied, it releases the lease.
	holder := db.Hold(claims[0].Lease)
	committed, err := holder.Commit(t.Context(), progress.Step{Release: true})
	require.NoError(t, err)
	require.False(t, committed.Released)

	committed, err = holder.Commit(t.Context(), progress.Step{Answered: []tarsy.Request{storetest.Closed(request, f.Clock.Now())}, Release: true})
	require.NoError(t, err)
	require.True(t, committed.Released)
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT open_requests FROM sessions WHERE id = $1`, call.SessionID))
	require.True(t, storetest.Value[bool](t, f.Admin, `SELECT runnable_at IS NULL FROM sessions WHERE id = $1`, call.SessionID))
}

func TestReleasedSessionIsClaimedAgainAtItsTime(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	call := f.Wait(t, db, storetest.Expiry)

	load, err := db.Workload(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.Workload{InProgress: 1, WaitingApprovals: 1}, load, "it waits for a person, not for a worker")

	counts, err := db.Queue(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.QueueCounts{}, counts)

	f.Clock.Advance(storetest.Expiry - time.Millisecond)
	require.Empty(t, f.Claim(t, db, storetest.ServerA, 1))

	f.Clock.Advance(time.Millisecond)

	load, err = db.Workload(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, []int{load.Waiting, load.WaitingApprovals})

	claims := f.Claim(t, db, storetest.ServerA, 1)
	require.Len(t, claims, 1)
	require.Equal(t, call.SessionID, claims[0].SessionID)
}

func TestFirstOfTwoConcurrentDecisionsWins(t *testing.T) {
	t.Parallel()

	const people = 8

	f := newFixture(t)
	db := f.Server(t)
	call := f.Wait(t, db, storetest.Expiry)
	unlock := f.Lock(t, call.SessionID)

	var (
		deciding sync.WaitGroup
		added    [people]bool
	)

	for i := range people {
		deciding.Go(func() {
			status := []tarsy.ApprovalStatus{tarsy.ApprovalApproved, tarsy.ApprovalRejected}[i%2]
			added[i] = f.decide(t, db, call, status)
		})
	}

	f.AwaitBlocked(t, 2)
	unlock()
	deciding.Wait()

	won := 0

	for _, ok := range added {
		if ok {
			won++
		}
	}

	require.Equal(t, 1, won)
	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM requests`))
	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT open_requests FROM sessions`))
}

func TestDecisionOnClosedApprovalIsRefusedAndNotStored(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	expired, decided, ended, deleted := f.Wait(t, db, time.Minute), f.Wait(t, db, storetest.Expiry), f.Wait(t, db, storetest.Expiry), f.Wait(t, db, storetest.Expiry)
	f.Clock.Advance(time.Minute)

	f.Exec(t, `UPDATE mcp_interactions SET status = 'failed' WHERE id = $1`, decided.ID)
	f.Exec(t, `UPDATE approvals SET approval = approval || '{"status": "rejected"}' WHERE id = $1`, decided.ID)
	f.Exec(t, `UPDATE executions SET status = 'cancelled', completed_at = $2 WHERE id = $1`, ended.ExecutionID, f.Clock.Now())
	f.Exec(t, `UPDATE sessions SET deleted_at = $2 WHERE id = $1`, deleted.SessionID, f.Clock.Now())

	strange := expired
	strange.ID = decided.ID

	for name, call := range map[string]tarsy.MCPInteraction{
		"expired": expired, "decided": decided, "ended": ended, "deleted": deleted, "of another session": strange,
		"unknown": {ID: ident.New(), SessionID: expired.SessionID}, "of no session": {ID: expired.ID, SessionID: ident.New()},
	} {
		require.False(t, f.decide(t, db, call, tarsy.ApprovalApproved), name)
	}

	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM requests`))
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT sum(open_requests) FROM sessions`))
}

func TestSessionsWithOpenApprovalsAreCountedFilteredAndListedFirst(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	first := f.Wait(t, db, storetest.Expiry)
	second := f.Wait(t, db, 2*storetest.Expiry)
	f.Clock.Advance(time.Second)
	asked := f.Wait(t, db, 2*storetest.Expiry) // the answer to a question about a finished session waits, too
	f.Exec(t, `UPDATE sessions SET status = 'completed', completed_at = $2, outcome = 'needs_human' WHERE id = $1`, asked.SessionID, f.Clock.Now())
	failed := f.put(t, db, tarsy.SessionFailed, unchanged)
	running := f.put(t, db, tarsy.SessionInProgress, unchanged)

	waiting := tarsy.SessionFilter{Approvals: tarsy.ApprovalWaiting}
	ids := func(calls ...tarsy.MCPInteraction) []string {
		found := make([]string, len(calls))
		for i, call := range calls {
			found[i] = call.SessionID
		}

		return found
	}
	older, newer := ids(first, second), ids(second, first)
	open := append(ids(asked), newer...)

	if first.SessionID > second.SessionID { // created at the same time
		open = append(ids(asked), older...)
	}

	require.Equal(t, append(append([]string{}, open...), running, failed), listed(t, db, tarsy.SessionFilter{Order: tarsy.OrderAttention}))
	require.Equal(t, append([]string{running, failed}, open...), listed(t, db, tarsy.SessionFilter{}), "the newest first")
	require.Equal(t, open, listed(t, db, waiting))

	for _, order := range []tarsy.SessionOrder{tarsy.OrderNewest, tarsy.OrderAttention} {
		filter := tarsy.SessionFilter{Order: order, Approvals: tarsy.ApprovalWaiting}
		require.Equal(t, open, listed(t, db, filter))

		filter.Statuses = []tarsy.SessionStatus{tarsy.SessionInProgress}
		require.Equal(t, open[1:], listed(t, db, filter))

		filter.Statuses = []tarsy.SessionStatus{tarsy.SessionCompleted}
		require.Equal(t, open[:1], listed(t, db, filter))

		filter.Statuses, filter.Outcomes = nil, []tarsy.Outcome{tarsy.OutcomeNeedsHuman}
		require.Equal(t, open[:1], listed(t, db, filter))

		filter.Outcomes = []tarsy.Outcome{tarsy.OutcomeFalseAlarm}
		require.Empty(t, listed(t, db, filter))

		filter.Outcomes, filter.AlertType = nil, "another"
		require.Empty(t, listed(t, db, filter))
	}

	require.ElementsMatch(t, open, listed(t, db, tarsy.SessionFilter{Approvals: tarsy.ApprovalWaiting, Search: "disk"}))
	require.Len(t, listed(t, db, tarsy.SessionFilter{Search: "disk"}), 5)

	// Page by page, in both orders.
	for order, want := range map[tarsy.SessionOrder][]string{
		tarsy.OrderAttention: append(append([]string{}, open...), running, failed), tarsy.OrderNewest: append([]string{running, failed}, open...),
	} {
		var (
			met   []string
			after *tarsy.SessionCursor
		)

		for {
			items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Order: order, Limit: 1, After: after})
			require.NoError(t, err)

			if len(items) == 0 {
				break
			}

			met = append(met, items[0].ID)
			after = &tarsy.SessionCursor{CreatedAt: items[0].CreatedAt, ID: items[0].ID}

			if order == tarsy.OrderAttention {
				after.Rank = new(items[0].Rank())
			}
		}

		require.Equal(t, want, met, order)
	}

	detail, err := db.SessionDetail(t.Context(), first.SessionID)
	require.NoError(t, err)
	require.Equal(t, 1, detail.WaitingApprovals)

	items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Order: tarsy.OrderAttention, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, []int{1, 1, 1, 0, 0}, []int{
		items[0].WaitingApprovals, items[1].WaitingApprovals, items[2].WaitingApprovals, items[3].WaitingApprovals, items[4].WaitingApprovals,
	})

	active, err := db.ActiveSessions(t.Context(), tarsy.Visibility{}, 10)
	require.NoError(t, err)
	require.Len(t, active.Active, 3)
	require.Equal(t, 1, active.Active[1].WaitingApprovals)

	// Once decided or expired, they are ordinary sessions.
	f.Clock.Advance(storetest.Expiry)
	require.True(t, f.decide(t, db, second, tarsy.ApprovalRejected))
	require.Equal(t, ids(asked), listed(t, db, waiting))
	require.Equal(t, asked.SessionID, listed(t, db, tarsy.SessionFilter{Order: tarsy.OrderAttention})[0])
	require.Len(t, listed(t, db, tarsy.SessionFilter{Order: tarsy.OrderAttention}), 5)

	detail, err = db.SessionDetail(t.Context(), first.SessionID)
	require.NoError(t, err)
	require.Zero(t, detail.WaitingApprovals)
}

// Few calls wait, however many sessions and calls there are.
func TestOpenApprovalsAreFoundByTheIndexOfWaitingCalls(t *testing.T) {
	t.Parallel()

	db := newFixture(t).Server(t)

	for _, order := range []tarsy.SessionOrder{tarsy.OrderNewest, tarsy.OrderAttention} {
		plan, err := db.ListPlan(t.Context(), tarsy.SessionFilter{Order: order, Approvals: tarsy.ApprovalWaiting, Limit: 50})
		require.NoError(t, err)
		require.Contains(t, plan, "using mcp_interactions_waiting on mcp_interactions", plan)
		require.NotContains(t, plan, "Seq Scan", plan)
		require.NotContains(t, plan, "session_list_status", "sessions are looked up one by one: "+plan)
	}

	plan, err := db.ListPlan(t.Context(), tarsy.SessionFilter{Order: tarsy.OrderAttention, Limit: 50})
	require.NoError(t, err)
	require.NotContains(t, plan, "Seq Scan", plan)
	require.Equal(t, 6, strings.Count(plan, "hashed SubPlan"), plan)
}
