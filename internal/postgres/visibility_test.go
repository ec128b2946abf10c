package postgres_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func ofTeam(team string) func(*tarsy.Session) {
	return func(s *tarsy.Session) {
		s.Team, s.Title, s.AlertType, s.Service, s.Fingerprint = team, "Checkout is slow", "slow-"+team, "service-"+team, "same"
	}
}

func TestTotalsCountOnlySessionsThatReaderSees(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for _, team := range []string{"payments", "storage", "", "storage"} {
		f.put(t, db, tarsy.SessionPending, ofTeam(team))
		f.put(t, db, tarsy.SessionInProgress, ofTeam(team))
	}

	for _, c := range []struct {
		visible tarsy.Visibility
		want    int
	}{
		{tarsy.Visibility{}, 4},
		{tarsy.Visibility{Limited: true, Teams: []string{"payments"}}, 2},
		{tarsy.Visibility{Limited: true}, 1},
	} {
		found, err := db.ActiveSessions(t.Context(), c.visible, 10)
		require.NoError(t, err)
		require.Equal(t, []int{c.want, c.want}, []int{found.ActiveTotal, found.QueuedTotal})
		require.Equal(t, []int{c.want, c.want}, []int{len(found.Active), len(found.Queued)})
	}
}

func TestReaderSeesSessionsOfOwnTeamsAndThoseWithoutTeam(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	var ids []string
	for i, team := range []string{"payments", "storage", "", "network", "payments", ""} {
		ids = append(ids, f.put(t, db, tarsy.SessionStatuses()[i%2*4], ofTeam(team))) // alternately pending and ended
	}

	payments := tarsy.Visibility{Limited: true, Teams: []string{"payments"}}
	mine := []string{ids[5], ids[4], ids[2], ids[0]}

	many := tarsy.Visibility{Limited: true, Teams: []string{"a", "b", "c", "d", "e", "f", "payments"}}
	nobody := tarsy.Visibility{Limited: true}

	for name, test := range map[string]struct {
		filter tarsy.SessionFilter
		want   []string
	}{
		"all":           {tarsy.SessionFilter{}, []string{ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]}},
		"own team":      {tarsy.SessionFilter{Visible: payments}, mine},
		"many teams":    {tarsy.SessionFilter{Visible: many}, mine},
		"no team":       {tarsy.SessionFilter{Visible: nobody}, []string{ids[5], ids[2]}},
		"filter":        {tarsy.SessionFilter{Visible: payments, Team: "payments"}, []string{ids[4], ids[0]}},
		"foreign":       {tarsy.SessionFilter{Visible: payments, Team: "storage"}, []string{}},
		"search":        {tarsy.SessionFilter{Visible: payments, Search: "checkout"}, mine},
		"foreign words": {tarsy.SessionFilter{Visible: payments, Search: "slow-storage"}, []string{}},
	} {
		require.Equal(t, test.want, listed(t, db, test.filter), name)

		for _, order := range []tarsy.SessionOrder{tarsy.OrderNewest, tarsy.OrderAttention} {
			test.filter.Order = order
			require.ElementsMatch(t, test.want, listed(t, db, test.filter), "%s %s", name, order)
		}
	}

	active, err := db.ActiveSessions(t.Context(), payments, 10)
	require.NoError(t, err)
	require.Len(t, active.Queued, 3, "those of the team and the one without")
	require.Equal(t, 3, active.QueuedTotal)

	options, err := db.FilterOptions(t.Context(), payments)
	require.NoError(t, err)
	require.Equal(t, []string{"payments"}, options.Teams)
	require.Equal(t, []string{"service-", "service-payments"}, options.Services)
	require.Equal(t, []string{"slow-", "slow-payments"}, options.AlertTypes)

	similar, err := db.Similar(t.Context(), ids[4], payments, 10)
	require.NoError(t, err)

	for _, s := range similar {
		require.Contains(t, mine, s.ID)
	}

	all, err := db.Similar(t.Context(), ids[4], tarsy.Visibility{}, 10)
	require.NoError(t, err)
	require.Greater(t, len(all), len(similar), "the other team's is similar, too")
}

// As in the unrestricted list, the cost of a page must not depend on the number of sessions.
func TestListOfTeamsReadsOneIndexRangePerStatusAndTeam(t *testing.T) {
	t.Parallel()

	db := newFixture(t).Server(t)

	for _, order := range []tarsy.SessionOrder{tarsy.OrderNewest, tarsy.OrderAttention} {
		plan, err := db.ListPlan(t.Context(), tarsy.SessionFilter{
			Order: order, Limit: 50, CreatedAfter: new(storetest.Epoch()), After: &tarsy.SessionCursor{CreatedAt: storetest.Epoch(), ID: ident.New()},
			Visible: tarsy.Visibility{Limited: true, Teams: []string{"payments", "storage"}},
		})
		require.NoError(t, err)
		require.Equal(t, 10, strings.Count(plan, "Index Only Scan Backward using session_list_team on session_list"), plan)
		require.Equal(t, 5, strings.Count(plan, "Index Only Scan Backward using session_list_no_team on session_list"), plan)
		require.NotContains(t, plan, "Seq Scan", plan)
		require.NotContains(t, plan, "Incremental Sort", plan)
	}
}
