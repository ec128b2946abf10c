package postgres_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// put stores a session with a status, a minute after the previous one.
func (f *fixture) put(t *testing.T, db *postgres.DB, status tarsy.SessionStatus, change func(*tarsy.Session)) string {
	t.Helper()
	f.Clock.Advance(time.Minute)

	session := storetest.NewSession(f.Clock.Now())
	session.Status = status

	if status.Terminal() {
		session.CompletedAt = new(f.Clock.Now())
	}

	change(&session)
	require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{}))

	return session.ID
}

func unchanged(*tarsy.Session) {}

func TestAttentionOrderIsRunningFailedWaitingThenDone(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	ids := map[tarsy.SessionStatus][]string{}

	for range 3 {
		for _, status := range tarsy.SessionStatuses() {
			ids[status] = append(ids[status], f.put(t, db, status, unchanged))
		}
	}

	// Newest first within each group: the statuses were stored round after round in their order.
	var want []string

	for _, group := range [][]tarsy.SessionStatus{
		{tarsy.SessionCancelling, tarsy.SessionInProgress},
		{tarsy.SessionTimedOut, tarsy.SessionFailed},
		{tarsy.SessionPending},
		{tarsy.SessionCancelled, tarsy.SessionCompleted},
	} {
		for round := 2; round >= 0; round-- {
			for _, status := range group {
				want = append(want, ids[status][round])
			}
		}
	}

	require.Equal(t, want, listed(t, db, tarsy.SessionFilter{Order: tarsy.OrderAttention}))

	for limit := 1; limit <= len(want)+1; limit++ {
		var (
			met   []string
			after *tarsy.SessionCursor
		)

		for {
			items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Order: tarsy.OrderAttention, Limit: limit, After: after})
			require.NoError(t, err)

			if len(items) == 0 {
				break
			}

			for _, item := range items {
				met = append(met, item.ID)
			}

			last := items[len(items)-1]
			after = &tarsy.SessionCursor{Rank: new(last.Status.Rank()), CreatedAt: last.CreatedAt, ID: last.ID}
		}

		require.Equal(t, want, met, "in pages of %d", limit)
	}

	for _, statuses := range [][]tarsy.SessionStatus{
		{tarsy.SessionFailed, tarsy.SessionPending}, {tarsy.SessionInProgress}, {tarsy.SessionCancelling, tarsy.SessionCompleted},
		{tarsy.SessionInProgress, tarsy.SessionCancelling}, {tarsy.SessionPending, tarsy.SessionCancelling},
	} {
		expected := slices.DeleteFunc(slices.Clone(want), func(id string) bool {
			return !slices.ContainsFunc(statuses, func(status tarsy.SessionStatus) bool { return slices.Contains(ids[status], id) })
		})
		require.Equal(t, expected, listed(t, db, tarsy.SessionFilter{Order: tarsy.OrderAttention, Statuses: statuses}), statuses)
		// Ids grow with time.
		slices.Sort(expected)
		slices.Reverse(expected)
		require.Equal(t, expected, listed(t, db, tarsy.SessionFilter{Statuses: statuses}), statuses)
	}
}

// The cost of a page must not depend on the number of sessions: each status is a range of an index.
func TestListReadsOneIndexRangePerStatusForAnyFilterAndOrder(t *testing.T) {
	t.Parallel()

	db := newFixture(t).Server(t)
	after := &tarsy.SessionCursor{CreatedAt: storetest.Epoch(), ID: ident.New()}

	for index, filter := range map[string]tarsy.SessionFilter{
		"session_list_status":      {},
		"session_list_alert_type":  {AlertType: "disk"},
		"session_list_chain":       {ChainID: "disk"},
		"session_list_author":      {Author: "somebody"},
		"session_list_severity":    {Severity: tarsy.SeverityHigh},
		"session_list_service":     {Service: "checkout"},
		"session_list_namespace":   {Namespace: "shop"},
		"session_list_cluster":     {Cluster: "eu-1"},
		"session_list_team":        {Team: "payments"},
		"session_list_fingerprint": {Fingerprint: "5f3a"},

		"session_list_alert_type_author": {AlertType: "disk", Author: "somebody"},
	} {
		for _, order := range []tarsy.SessionOrder{tarsy.OrderNewest, tarsy.OrderAttention} {
			filter.Order, filter.Limit, filter.After, filter.CreatedAfter = order, 50, after, new(storetest.Epoch())
			plan, err := db.ListPlan(t.Context(), filter)
			require.NoError(t, err)
			require.Contains(t, plan, "Index Only Scan Backward using "+index+" on session_list", plan)
			require.Equal(t, 5, strings.Count(plan, "Index Only Scan Backward using "+index+" "), plan)
			require.NotContains(t, plan, "Seq Scan", plan)
			require.NotContains(t, plan, "Incremental Sort", plan)
			// Nothing is sorted except sessions with open approvals, the groups of a rank together, and the page.
			require.LessOrEqual(t, strings.Count(plan, "Sort  ("), 4, plan)

			// Running sessions are found without reading the waiting ones.
			require.Equal(t, order == tarsy.OrderAttention, strings.Contains(plan, "Scan Backward using sessions_running on sessions"), plan)
		}
	}
}

func TestListOfOutcomesReadsOneIndexRangePerOutcome(t *testing.T) {
	t.Parallel()

	db := newFixture(t).Server(t)

	for _, order := range []tarsy.SessionOrder{tarsy.OrderNewest, tarsy.OrderAttention} {
		plan, err := db.ListPlan(t.Context(), tarsy.SessionFilter{
			Order: order, Outcomes: []tarsy.Outcome{tarsy.OutcomeNeedsHuman, tarsy.OutcomeFalseAlarm}, Limit: 50, CreatedAfter: new(storetest.Epoch()),
			After: &tarsy.SessionCursor{CreatedAt: storetest.Epoch(), ID: ident.New()},
		})
		require.NoError(t, err)
		require.Equal(t, 2, strings.Count(plan, "Index Only Scan Backward using session_list_outcome on session_list"), plan)
		require.NotContains(t, plan, "Seq Scan", plan)
		require.NotContains(t, plan, "Incremental Sort", plan)
	}
}

func TestListsShowStageCountAndRerunSource(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	first := f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) { s.StageCount = 3 })
	again := f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) { s.StageCount, s.RerunOf = 4, &first })

	items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, items, 2)
	require.Equal(t, []any{again, 4, &first}, []any{items[0].ID, items[0].StageCount, items[0].RerunOf})
	require.Equal(t, []any{first, 3, (*string)(nil)}, []any{items[1].ID, items[1].StageCount, items[1].RerunOf})

	detail, err := db.SessionDetail(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, 4, detail.StageCount)
	require.Equal(t, &first, detail.RerunOf)

	// What intake stored stays unchanged, whatever a step writes.
	claims := f.Claim(t, db, storetest.ServerA, 1)
	require.Equal(t, again, claims[0].SessionID)
	require.Equal(t, 4, claims[0].State.Session.StageCount)

	session := claims[0].State.Session
	session.Status, session.CurrentStageIndex = tarsy.SessionInProgress, 1
	commit(t, db, claims[0], progress.Step{Session: &session})

	progress, err := db.SessionProgress(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, tarsy.SessionProgress{ID: again, Status: tarsy.SessionInProgress, StageCount: 4, CurrentStageIndex: 1}, *progress)
}

func TestActiveSessionsAreUnfinishedOnes(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	ids := map[tarsy.SessionStatus]string{}

	for _, status := range tarsy.SessionStatuses() {
		ids[status] = f.put(t, db, status, unchanged)
	}

	later := f.put(t, db, tarsy.SessionPending, unchanged)

	f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) { s.DeletedAt = new(f.Clock.Now()) })

	found, err := db.ActiveSessions(t.Context(), tarsy.Visibility{}, 10)
	require.NoError(t, err)
	require.Equal(t, []string{ids[tarsy.SessionCancelling], ids[tarsy.SessionInProgress]}, idsOf(found.Active))
	require.Equal(t, []string{ids[tarsy.SessionPending], later}, idsOf(found.Queued), "the next one first")

	found, err = db.ActiveSessions(t.Context(), tarsy.Visibility{}, 1)
	require.NoError(t, err)
	require.Equal(t, []string{ids[tarsy.SessionCancelling]}, idsOf(found.Active))
	require.Equal(t, []string{ids[tarsy.SessionPending]}, idsOf(found.Queued))
	require.Equal(t, []int{2, 2}, []int{found.ActiveTotal, found.QueuedTotal}, "all of them, however short the lists are")
}

func TestQueuedSessionsAreInTheOrderOfTheQueue(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claimed := f.put(t, db, tarsy.SessionPending, unchanged)
	f.Claim(t, db, storetest.ServerA, 1)

	first := f.put(t, db, tarsy.SessionPending, unchanged)
	urgent := f.put(t, db, tarsy.SessionPending, unchanged)
	f.Exec(t, `UPDATE sessions SET runnable_at = created_at - interval '1 hour' WHERE id = $1`, urgent)

	found, err := db.ActiveSessions(t.Context(), tarsy.Visibility{}, 10)
	require.NoError(t, err)
	require.Equal(t, []string{claimed, urgent, first}, idsOf(found.Queued), "what was claimed and has not started is still queued")
	require.Equal(t, []int{0, 3}, []int{found.ActiveTotal, found.QueuedTotal})
}

// Without the index, everyone who opens the dashboard during a storm reads the whole table.
func TestQueuedSessionsAreFoundByTheIndexOfTheQueue(t *testing.T) {
	t.Parallel()

	plan, err := newFixture(t).Server(t).QueuedPlan(t.Context())
	require.NoError(t, err)
	require.Contains(t, plan, "using sessions_waiting")
	require.NotContains(t, plan, "Seq Scan on sessions")
}

func idsOf(items []tarsy.SessionItem) []string {
	ids := make([]string, 0, len(items))
	for _, item := range items {
		ids = append(ids, item.ID)
	}

	return ids
}

func TestFilterOptionsAreExistingValues(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	options, err := db.FilterOptions(t.Context(), tarsy.Visibility{})
	require.NoError(t, err)
	require.Equal(t, tarsy.FilterOptions{
		AlertTypes: []string{}, ChainIDs: []string{}, Authors: []string{},
		Services: []string{}, Namespaces: []string{}, Clusters: []string{}, Teams: []string{},
		Severities: tarsy.Severities(), Statuses: tarsy.SessionStatuses(), Outcomes: tarsy.Outcomes(),
		HandlingStates: tarsy.HandlingStates(), Assignees: []string{}, Tags: []string{},
	}, options, "JSON shows empty lists")

	for _, name := range []string{"b", "a", "Z", "b", "ä"} {
		f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) {
			s.AlertType, s.ChainID, s.Author = "type "+name, "chain "+name, name
			s.Service, s.Namespace, s.Cluster, s.Team = "service "+name, "namespace "+name, "cluster "+name, "team "+name
		})
	}

	f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) { s.AlertType = "type a" }) // without facts
	f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) { s.AlertType, s.Team, s.DeletedAt = "gone", "gone", new(f.Clock.Now()) })

	options, err = db.FilterOptions(t.Context(), tarsy.Visibility{})
	require.NoError(t, err)
	require.Equal(t, []string{"type Z", "type a", "type b", "type ä"}, options.AlertTypes)
	require.Equal(t, []string{"chain", "chain Z", "chain a", "chain b", "chain ä"}, options.ChainIDs)
	require.Equal(t, []string{"Z", "a", "b", "somebody", "ä"}, options.Authors)
	require.Equal(t, []string{"service Z", "service a", "service b", "service ä"}, options.Services)
	require.Equal(t, []string{"namespace Z", "namespace a", "namespace b", "namespace ä"}, options.Namespaces)
	require.Equal(t, []string{"cluster Z", "cluster a", "cluster b", "cluster ä"}, options.Clusters)
	require.Equal(t, []string{"team Z", "team a", "team b", "team ä"}, options.Teams)

	for _, column := range []string{"service", "namespace", "cluster", "team"} {
		plan, err := db.DistinctPlan(t.Context(), column)
		require.NoError(t, err)
		require.Contains(t, plan, "Index Only Scan using session_list_"+column+" on session_list", plan)
	}
}
