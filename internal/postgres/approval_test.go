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
	"tarsy.dev/tarsy/internal/progress"
)

const expiry = time.Hour

// waitingCall is a tool call that waits for an approval, with the event that its step stores.
func waitingCall(execution tarsy.Execution, call string, at, expires time.Time) (tarsy.MCPInteraction, tarsy.TimelineEvent) {
	approval := tarsy.Approval{Status: tarsy.ApprovalWaiting, Scope: tarsy.ScopeCall, Rule: "approvals.rules[0]", ExpiresAt: expires}

	event := newTimelineEvent(execution.SessionID, 1, at)
	event.StageID, event.ExecutionID, event.EventType = &execution.StageID, &execution.ID, tarsy.EventToolCall

	interaction := newMCPInteraction(execution, call, 1)
	interaction.Status, interaction.Approval, interaction.CreatedAt, interaction.CompletedAt = tarsy.CallWaiting, &approval, at, nil
	interaction.TimelineEventID, interaction.ToolArguments = event.ID, json.RawMessage(`{"replicas": 3, "id": 12345678901234567890}`)

	event.Metadata = tarsy.NewMetadata(tarsy.ToolCallMetadata{
		Call: call, ServerName: interaction.ServerName, ToolName: interaction.ToolName, Arguments: interaction.ToolArguments,
		ApprovalID: interaction.ID, Approval: &approval,
	})

	return interaction, event
}

// wait stores a session with a call that waits for an approval, and releases it.
func (f *fixture) wait(t *testing.T, db *postgres.DB, expires time.Duration) tarsy.MCPInteraction {
	t.Helper()

	claim := f.hold(t, db)
	now := f.clock.Now()
	session := claim.State.Session
	session.Status, session.StartedAt = tarsy.SessionInProgress, &now
	stage := newStage(session.ID, 1, now)
	execution := newExecution(stage, 1, now)
	call, event := waitingCall(execution, "1.1.1", now, now.Add(expires))

	committed, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{
		Session: &session, Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, Timeline: []tarsy.TimelineEvent{event},
		MCPInteractions: []tarsy.MCPInteraction{call}, Events: []tarsy.Event{tarsy.ApprovalChanged(call, now)},
		Release: true, RunAt: new(now.Add(expires)),
	})
	require.NoError(t, err)
	require.True(t, committed.Released)

	return call
}

func (f *fixture) decide(t *testing.T, db *postgres.DB, call tarsy.MCPInteraction, status tarsy.ApprovalStatus) bool {
	t.Helper()

	added, err := db.AddDecision(t.Context(), newRequest(call.SessionID, tarsy.RequestApproval, f.clock.Now()),
		tarsy.ApprovalDecision{ApprovalID: call.ID, Status: status, Reason: "because"})
	require.NoError(t, err)

	return added
}

// A server of a release without approvals ends a session without knowing about the calls that wait in it.
func TestSessionEndedByEarlierReleaseWithdrawsItsWaitingCalls(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	call, other := f.wait(t, db, expiry), f.wait(t, db, expiry)
	now := f.clock.Now()

	f.exec(t, `UPDATE sessions SET status = 'cancelled', completed_at = $2, runnable_at = NULL WHERE id = $1`, call.SessionID, now)

	got := value[[]byte](t, f, `SELECT to_jsonb(c) FROM mcp_interactions c WHERE id = $1`, call.ID)

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

		require.NoError(t, json.Unmarshal(value[[]byte](t, f, sql, call.ID), &approval), place)
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
	db := f.server(t)

	require.Empty(t, approvalIDs(t, db, ""))

	// Compared as text, the time without a fraction of a second would come last.
	late, soon, sooner := f.wait(t, db, 3*expiry), f.wait(t, db, expiry+500*time.Millisecond), f.wait(t, db, expiry)

	require.Equal(t, []string{sooner.ID, soon.ID, late.ID}, approvalIDs(t, db, ""))
	require.Equal(t, []string{soon.ID}, approvalIDs(t, db, soon.SessionID))
	require.Empty(t, approvalIDs(t, db, ident.New()))

	_, err := db.Approvals(t.Context(), "none", tarsy.Visibility{})
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))

	open, err := db.Approvals(t.Context(), sooner.SessionID, tarsy.Visibility{})
	require.NoError(t, err)
	requireSame(t, []tarsy.ApprovalRequest{{
		ID: sooner.ID, SessionID: sooner.SessionID, ExecutionID: sooner.ExecutionID, TimelineEventID: sooner.TimelineEventID,
		AlertType: "test", AgentName: "agent", Call: "1.1.1", ServerName: sooner.ServerName, ToolName: sooner.ToolName,
		ToolArguments: sooner.ToolArguments, Approval: *sooner.Approval, CreatedAt: sooner.CreatedAt,
	}}, open)
	require.Contains(t, string(open[0].ToolArguments), "12345678901234567890", "numbers keep their digits")

	f.clock.Advance(expiry)
	require.Equal(t, []string{soon.ID, late.ID}, approvalIDs(t, db, ""), "nobody can decide from the time of expiry on")

	f.exec(t, `UPDATE sessions SET deleted_at = $2 WHERE id = $1`, late.SessionID, f.clock.Now())
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
	db := f.server(t)
	call := f.wait(t, db, expiry)
	other := f.wait(t, db, expiry)

	require.Empty(t, f.claim(t, db, serverA, 10), "a session that waits for an approval is not claimed")
	require.True(t, f.decide(t, db, call, tarsy.ApprovalApproved))
	require.Equal(t, []string{other.ID}, approvalIDs(t, db, ""), "a decision that is not applied yet is one")

	claims := f.claim(t, db, serverA, 10)
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

	committed, err = holder.Commit(t.Context(), progress.Step{Answered: []tarsy.Request{closed(request, f.clock.Now())}, Release: true})
	require.NoError(t, err)
	require.True(t, committed.Released)
	require.Zero(t, value[int](t, f, `SELECT open_requests FROM sessions WHERE id = $1`, call.SessionID))
	require.True(t, value[bool](t, f, `SELECT runnable_at IS NULL FROM sessions WHERE id = $1`, call.SessionID))
}

func TestReleasedSessionIsClaimedAgainAtItsTime(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	call := f.wait(t, db, expiry)

	load, err := db.Workload(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.Workload{InProgress: 1, WaitingApprovals: 1}, load, "it waits for a person, not for a worker")

	counts, err := db.Queue(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.QueueCounts{}, counts)

	f.clock.Advance(expiry - time.Millisecond)
	require.Empty(t, f.claim(t, db, serverA, 1))

	f.clock.Advance(time.Millisecond)

	load, err = db.Workload(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, []int{load.Waiting, load.WaitingApprovals})

	claims := f.claim(t, db, serverA, 1)
	require.Len(t, claims, 1)
	require.Equal(t, call.SessionID, claims[0].SessionID)
}

func TestFirstOfTwoConcurrentDecisionsWins(t *testing.T) {
	t.Parallel()

	const people = 8

	f := newFixture(t)
	db := f.server(t)
	call := f.wait(t, db, expiry)
	unlock := f.lock(t, call.SessionID)

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

	f.awaitBlocked(t, 2)
	unlock()
	deciding.Wait()

	won := 0

	for _, ok := range added {
		if ok {
			won++
		}
	}

	require.Equal(t, 1, won)
	require.Equal(t, 1, value[int](t, f, `SELECT count(*) FROM requests`))
	require.Equal(t, 1, value[int](t, f, `SELECT open_requests FROM sessions`))
}

func TestDecisionOnClosedApprovalIsRefusedAndNotStored(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	expired, decided, ended, deleted := f.wait(t, db, time.Minute), f.wait(t, db, expiry), f.wait(t, db, expiry), f.wait(t, db, expiry)
	f.clock.Advance(time.Minute)

	f.exec(t, `UPDATE mcp_interactions SET status = 'failed' WHERE id = $1`, decided.ID)
	f.exec(t, `UPDATE approvals SET approval = approval || '{"status": "rejected"}' WHERE id = $1`, decided.ID)
	f.exec(t, `UPDATE executions SET status = 'cancelled', completed_at = $2 WHERE id = $1`, ended.ExecutionID, f.clock.Now())
	f.exec(t, `UPDATE sessions SET deleted_at = $2 WHERE id = $1`, deleted.SessionID, f.clock.Now())

	strange := expired
	strange.ID = decided.ID

	for name, call := range map[string]tarsy.MCPInteraction{
		"expired": expired, "decided": decided, "ended": ended, "deleted": deleted, "of another session": strange,
		"unknown": {ID: ident.New(), SessionID: expired.SessionID}, "of no session": {ID: expired.ID, SessionID: ident.New()},
	} {
		require.False(t, f.decide(t, db, call, tarsy.ApprovalApproved), name)
	}

	require.Zero(t, value[int](t, f, `SELECT count(*) FROM requests`))
	require.Zero(t, value[int](t, f, `SELECT sum(open_requests) FROM sessions`))
}

func TestSessionsWithOpenApprovalsAreCountedFilteredAndListedFirst(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	first := f.wait(t, db, expiry)
	second := f.wait(t, db, 2*expiry)
	f.clock.Advance(time.Second)
	asked := f.wait(t, db, 2*expiry) // the answer to a question about a finished session waits, too
	f.exec(t, `UPDATE sessions SET status = 'completed', completed_at = $2, outcome = 'needs_human' WHERE id = $1`, asked.SessionID, f.clock.Now())
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
	f.clock.Advance(expiry)
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

	db := newFixture(t).server(t)

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

func TestOpenApprovalIsAnnouncedOnceInChannel(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	call := f.wait(t, db, expiry)

	waiting, err := db.UnannouncedApprovals(t.Context(), tarsy.ChannelDiscord)
	require.NoError(t, err)
	require.Equal(t, []postgres.UnannouncedApproval{{ID: call.ID, SessionID: call.SessionID}}, waiting)

	announce := func() (tarsy.Announcement, bool) {
		a := newAnnouncement(call.SessionID, f.clock.Now())
		a.Subject, a.ApprovalID = tarsy.SubjectApproval, &call.ID
		added, err := db.AddAnnouncement(t.Context(), a)
		require.NoError(t, err)

		return a, added
	}

	first, added := announce()
	require.True(t, added)

	_, added = announce()
	require.False(t, added)

	waiting, err = db.UnannouncedApprovals(t.Context(), tarsy.ChannelDiscord)
	require.NoError(t, err)
	require.Empty(t, waiting)

	first.MessageIDs, first.ThreadID, first.State = []string{"77"}, "77", tarsy.AnnouncementSent
	require.NoError(t, db.UpdateAnnouncement(t.Context(), first))

	session, err := db.ThreadSession(t.Context(), tarsy.ChannelDiscord, "77")
	require.NoError(t, err)
	require.Equal(t, call.SessionID, session)

	session, err = db.ThreadSession(t.Context(), tarsy.ChannelDiscord, "78")
	require.NoError(t, err)
	require.Empty(t, session)
}
