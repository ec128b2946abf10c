package postgres_test

import (
	"context"
	"fmt"
	"slices"
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

// handle changes the handling of a session.
func (f *fixture) handle(t require.TestingT, db *postgres.DB, id, author string, change tarsy.HandlingChange) tarsy.Handling {
	_, after, err := db.ChangeHandling(context.Background(), id, func(h tarsy.Handling) (tarsy.Handling, error) {
		return h.Change(change, author, f.Clock.Now())
	})
	require.NoError(t, err)

	return inUTC(after)
}

// inUTC makes times equal wherever the test runs.
func inUTC(h tarsy.Handling) tarsy.Handling {
	for _, at := range []**time.Time{&h.AcknowledgedAt, &h.ResolvedAt, &h.UpdatedAt} {
		if *at != nil {
			*at = new((*at).UTC())
		}
	}

	return h
}

func acknowledge() tarsy.HandlingChange {
	return tarsy.HandlingChange{State: new(tarsy.HandlingAcknowledged)}
}

func TestHandlingIsReadAsItWasStored(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	other := f.put(t, db, tarsy.SessionFailed, unchanged)
	f.handle(t, db, other, "ana", tarsy.HandlingChange{AddTags: []string{"of another session"}})
	id := f.put(t, db, tarsy.SessionInProgress, unchanged)

	detail, err := db.SessionDetail(t.Context(), id)
	require.NoError(t, err)
	require.Nil(t, detail.Handling)

	items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 10})
	require.NoError(t, err)
	require.Nil(t, items[0].Handling)

	f.handle(t, db, id, "ana", acknowledge())

	stored := f.handle(t, db, id, "bob", tarsy.HandlingChange{
		State: new(tarsy.HandlingResolved), Resolution: new("Restarted the <b>pod</b>\nby hand."), Assignee: new("cy"), AddTags: []string{"b", "A", "Ä"},
	})
	require.Equal(t, tarsy.Handling{
		SessionID: id, State: tarsy.HandlingResolved, Assignee: "cy", AcknowledgedBy: "ana", AcknowledgedAt: new(f.Clock.Now()),
		ResolvedBy: "bob", ResolvedAt: new(f.Clock.Now()), Resolution: "Restarted the <b>pod</b>\nby hand.", Tags: []string{"A", "b", "Ä"},
		Version: 2, UpdatedAt: new(f.Clock.Now()), UpdatedBy: "bob",
	}, stored)

	detail, err = db.SessionDetail(t.Context(), id)
	require.NoError(t, err)
	requireHandling(t, stored, detail.Handling)

	items, err = db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 10})
	require.NoError(t, err)
	requireHandling(t, stored, items[0].Handling)

	active, err := db.ActiveSessions(t.Context(), tarsy.Visibility{}, 10)
	require.NoError(t, err)
	requireHandling(t, stored, active.Active[0].Handling)
}

func TestTagWhoseCaseAloneChangesIsStored(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.put(t, db, tarsy.SessionCompleted, unchanged)
	f.handle(t, db, id, "ana", tarsy.HandlingChange{AddTags: []string{"disk", "network"}})
	f.handle(t, db, id, "ana", tarsy.HandlingChange{SetTags: &[]string{"Disk", "network"}})

	detail, err := db.SessionDetail(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []string{"Disk", "network"}, detail.Handling.Tags)
}

// requireHandling compares what was read with what was stored, in any time zone.
func requireHandling(t *testing.T, want tarsy.Handling, got *tarsy.Handling) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, want, inUTC(*got))
}

// Two people work on one session through two servers concurrently. Nothing that either did is lost: fields that one does not
// change stay as the other set them, and tags merge.
func TestConcurrentHandlingLosesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t)}
	id := f.ended(t, servers[0], 2).ID

	const changes = 9

	var wg sync.WaitGroup

	for n := range changes {
		wg.Go(func() {
			f.handle(t, servers[0], id, "ana", tarsy.HandlingChange{AddTags: []string{fmt.Sprint("ana ", n)}, Assignee: new(fmt.Sprint("person ", n))})
		})
		wg.Go(func() {
			f.handle(t, servers[1], id, "bob", tarsy.HandlingChange{
				AddTags: []string{fmt.Sprint("bob ", n)}, State: new(tarsy.HandlingResolved), Resolution: new(fmt.Sprint("reason ", n)),
			})
		})
	}

	wg.Wait()

	detail, err := servers[0].SessionDetail(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, detail.Handling.Tags, 2*changes)
	require.Equal(t, int64(2*changes), detail.Handling.Version, "each change counts once")
	require.Equal(t, tarsy.HandlingResolved, detail.Handling.State)
	require.Contains(t, detail.Handling.Resolution, "reason ")
	require.Contains(t, detail.Handling.Assignee, "person ")
	require.Equal(t, []string{id}, listed(t, servers[0], tarsy.SessionFilter{Assignee: detail.Handling.Assignee}))
}

// The end of a session and a change of its handling write the same row of the list.
func TestHandlingAndTheEndOfItsSessionDoNotBlockEachOther(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	const sessions = 20

	var wg sync.WaitGroup

	for range sessions {
		claim := f.Hold(t, db, storetest.NewEvents("intake", 1)...)

		wg.Go(func() { f.end(t, db, claim, storetest.NewEvents("event", 1)) })
		wg.Go(func() { f.handle(t, db, claim.SessionID, "ana", acknowledge()) })
	}

	wg.Wait()

	require.Len(t, listed(t, db, tarsy.SessionFilter{
		Statuses: []tarsy.SessionStatus{tarsy.SessionCompleted}, Handling: []tarsy.HandlingState{tarsy.HandlingAcknowledged}, Limit: 100,
	}), sessions)
}

// Handling is not in the journal: readers are notified that the session has changed, with the version that they already have. A
// change without effect is not a change.
func TestHandlingChangeNotifiesReadersOnce(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 3).ID

	watch := db.Signals().WatchSessions(10)
	defer watch.Close()

	told := func() {
		t.Helper()
		<-watch.C

		changes, _ := watch.Take()
		require.Equal(t, []postgres.Change{{SessionID: id, Version: 3}}, changes)
	}

	f.handle(t, db, id, "ana", tarsy.HandlingChange{State: new(tarsy.HandlingOpen), RemoveTags: []string{"none"}})
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM session_handling`), "nothing was changed")

	first := f.handle(t, db, id, "ana", acknowledge())
	told()

	require.Equal(t, first, f.handle(t, db, id, "bob", acknowledge()))
	f.handle(t, db, id, "ana", tarsy.HandlingChange{AddTags: []string{"disk"}})
	told()

	changes, _ := watch.Take()
	require.Empty(t, changes, "the second acknowledgement was no change")
	require.Len(t, f.Journal(t, id), 3)
}

func TestHandlingOfDeletedOrMissingSessionIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 2).ID
	require.NoError(t, db.DeleteSession(t.Context(), id))

	for _, id := range []string{id, ident.New(), "none"} {
		_, _, err := db.ChangeHandling(t.Context(), id, func(h tarsy.Handling) (tarsy.Handling, error) {
			return h.Change(acknowledge(), "ana", f.Clock.Now())
		})
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	}

	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM session_handling`))
}

// The previous release does not know these tables when it removes the rows of a session, the session last.
func TestPurgeOfPreviousReleaseRemovesHandling(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 2).ID

	f.handle(t, db, id, "ana", tarsy.HandlingChange{State: new(tarsy.HandlingAcknowledged), AddTags: []string{"disk"}})
	f.Exec(t, `DELETE FROM sessions WHERE id = $1`, id)
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM session_handling`))
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM session_tags`))
}

func TestListIsFilteredByHandling(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	var ids []string
	for _, status := range tarsy.SessionStatuses() {
		for range 3 {
			ids = append(ids, f.put(t, db, status, func(s *tarsy.Session) { s.AlertData = "the disk is full" }))
		}
	}

	matching := map[string][]string{}

	for i, id := range ids {
		state := tarsy.HandlingStates()[i%3]
		matching[string(state)] = append(matching[string(state)], id)
		change := tarsy.HandlingChange{State: &state}

		if i%2 == 0 {
			change.Assignee = new("ana")
			matching["ana"] = append(matching["ana"], id)
		}

		if i%4 == 1 {
			change.AddTags = []string{"Disk", "network"}
			matching["disk"] = append(matching["disk"], id)
		}

		f.handle(t, db, id, "bob", change)
	}

	// Ids grow with time.
	newest := func(ids []string) []string {
		sorted := append([]string{}, ids...)
		slices.Sort(sorted)
		slices.Reverse(sorted)

		return sorted
	}

	for _, test := range []struct {
		filter tarsy.SessionFilter
		want   []string
	}{
		{tarsy.SessionFilter{Handling: []tarsy.HandlingState{tarsy.HandlingOpen}}, matching["open"]},
		{tarsy.SessionFilter{Handling: []tarsy.HandlingState{tarsy.HandlingAcknowledged}}, matching["acknowledged"]},
		{
			tarsy.SessionFilter{Handling: []tarsy.HandlingState{tarsy.HandlingResolved, tarsy.HandlingOpen}},
			slices.Concat(matching["resolved"], matching["open"]),
		},
		{tarsy.SessionFilter{Assignee: "ana"}, matching["ana"]},
		{tarsy.SessionFilter{Assignee: "Ana"}, nil},
		{tarsy.SessionFilter{Tags: []string{"dISK"}}, matching["disk"]},
		{tarsy.SessionFilter{Tags: []string{"disk", "NETWORK"}}, matching["disk"]},
		{tarsy.SessionFilter{Tags: []string{"disk", "memory"}}, nil},
		{
			tarsy.SessionFilter{Handling: []tarsy.HandlingState{tarsy.HandlingOpen}, Assignee: "ana", Tags: []string{"disk"}},
			intersect(intersect(matching["open"], matching["ana"]), matching["disk"]),
		},
		{
			tarsy.SessionFilter{Handling: []tarsy.HandlingState{tarsy.HandlingResolved}, Statuses: []tarsy.SessionStatus{tarsy.SessionPending, tarsy.SessionFailed}},
			intersect(matching["resolved"], slices.Concat(ids[0:3], ids[12:15])),
		},
	} {
		require.Equal(t, newest(test.want), newest(listed(t, db, test.filter)), "%+v", test.filter)
		require.Equal(t, newest(test.want), listed(t, db, test.filter), "newest first: %+v", test.filter)

		test.filter.Order = tarsy.OrderAttention
		require.Equal(t, newest(test.want), newest(listed(t, db, test.filter)), "%+v", test.filter)

		test.filter.Order, test.filter.Search = tarsy.OrderRelevance, "disk full"
		require.Equal(t, newest(test.want), listed(t, db, test.filter), "%+v", test.filter)
	}
}

func intersect(some, others []string) []string {
	return slices.DeleteFunc(slices.Clone(some), func(id string) bool { return !slices.Contains(others, id) })
}

// Waiting approvals are a separate group, which is filtered too.
func TestWaitingApprovalsAreFilteredByHandling(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	call := f.Wait(t, db, storetest.Lease)

	filter := tarsy.SessionFilter{Approvals: tarsy.ApprovalWaiting, Handling: []tarsy.HandlingState{tarsy.HandlingOpen}}
	require.Equal(t, []string{call.SessionID}, listed(t, db, filter))

	filter.Order = tarsy.OrderAttention
	filter.Approvals = ""
	require.Equal(t, []string{call.SessionID}, listed(t, db, filter))

	f.handle(t, db, call.SessionID, "ana", acknowledge())
	require.Empty(t, listed(t, db, filter))
}

func TestListByHandlingReadsOneIndexRangePerState(t *testing.T) {
	t.Parallel()

	db := newFixture(t).Server(t)
	after := &tarsy.SessionCursor{CreatedAt: storetest.Epoch(), ID: ident.New()}

	for _, test := range []struct {
		index  string
		groups int
		filter tarsy.SessionFilter
	}{
		{"session_list_handling", 5, tarsy.SessionFilter{Handling: []tarsy.HandlingState{tarsy.HandlingOpen}}},
		{"session_list_handling", 10, tarsy.SessionFilter{Handling: []tarsy.HandlingState{tarsy.HandlingOpen, tarsy.HandlingAcknowledged}}},
		{"session_list_assignee", 5, tarsy.SessionFilter{Assignee: "ana"}},
		{"session_list_assignee_id", 5, tarsy.SessionFilter{Assignee: "ana", AssigneeID: "key-1"}},
		{"session_list_assignee_name", 5, tarsy.SessionFilter{Assignee: "ana", AssigneeID: "key-1"}},
	} {
		for _, order := range []tarsy.SessionOrder{tarsy.OrderNewest, tarsy.OrderAttention} {
			filter := test.filter
			filter.Order, filter.Limit, filter.After, filter.CreatedAfter = order, 50, after, new(storetest.Epoch())
			plan, err := db.ListPlan(t.Context(), filter)
			require.NoError(t, err)
			require.Equal(t, test.groups, strings.Count(plan, "Index Only Scan Backward using "+test.index+" "), plan)
			require.NotContains(t, plan, "Seq Scan", plan)
			require.NotContains(t, plan, "Incremental Sort", plan)
		}
	}
}

func TestFilterOptionsHaveAssigneesAndTags(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for i, name := range []string{"bob", "Ana", "bob"} {
		id := f.put(t, db, tarsy.SessionPending, unchanged)
		f.handle(t, db, id, "ana", tarsy.HandlingChange{Assignee: &name, AddTags: []string{"disk", fmt.Sprint("Tag ", i), []string{"Shared", "shared"}[i%2]}})
	}

	options, err := db.FilterOptions(t.Context(), tarsy.Visibility{})
	require.NoError(t, err)
	require.Equal(t, []string{"Ana", "bob"}, options.Assignees)
	require.Equal(t, []string{"Shared", "Tag 0", "Tag 1", "Tag 2", "disk"}, options.Tags, "each once, in the case of the first")
	require.Equal(t, tarsy.HandlingStates(), options.HandlingStates)

	plan, err := db.DistinctPlan(t.Context(), "assignee")
	require.NoError(t, err)
	require.Contains(t, plan, "Index Only Scan using session_list_assignee on session_list", plan)
}

// What the engine writes at the end of a session does not change its handling.
func TestEndOfSessionKeepsItsHandling(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db, storetest.NewEvents("intake", 1)...)
	stored := f.handle(t, db, claim.SessionID, "ana", tarsy.HandlingChange{State: new(tarsy.HandlingResolved), Assignee: new("ana")})

	session := claim.State.Session
	session.Status, session.CompletedAt, session.FinalAnalysis = tarsy.SessionCompleted, new(f.Clock.Now()), "Done."
	commit(t, db, claim, progress.Step{Session: &session, Release: true})

	detail, err := db.SessionDetail(t.Context(), claim.SessionID)
	require.NoError(t, err)
	require.Equal(t, tarsy.SessionCompleted, detail.Status)
	require.Equal(t, stored.Version, detail.Handling.Version)
	require.Equal(t, []string{claim.SessionID}, listed(t, db, tarsy.SessionFilter{
		Assignee: "ana", Statuses: []tarsy.SessionStatus{tarsy.SessionCompleted}, Handling: []tarsy.HandlingState{tarsy.HandlingResolved},
	}))
}
