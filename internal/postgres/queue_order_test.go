package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

const ageing = 15 * time.Minute

// ageingServer starts a server that orders the queue by severity.
func (f *fixture) ageingServer(t *testing.T) *postgres.DB {
	t.Helper()

	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.URL, Clock: f.Clock, SeverityAgeing: ageing})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	return db
}

// add stores a session with a severity and a team.
func (f *fixture) add(t *testing.T, db *postgres.DB, severity tarsy.Severity, team string) string {
	t.Helper()

	session := storetest.NewSession(f.Clock.Now())
	session.Severity, session.Team = severity, team
	require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{}))

	return session.ID
}

func TestSevereSessionOvertakesWaitingOnes(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.ageingServer(t)
	ids := map[tarsy.Severity]string{}

	for _, severity := range []tarsy.Severity{"", tarsy.SeverityInfo, tarsy.SeverityWarning, tarsy.SeverityHigh, tarsy.SeverityCritical} {
		ids[severity] = f.add(t, db, severity, "")
		f.Clock.Advance(time.Second)
	}

	want := []string{ids[tarsy.SeverityCritical], ids[tarsy.SeverityHigh], ids[tarsy.SeverityWarning], ids[""], ids[tarsy.SeverityInfo]}

	active, err := db.ActiveSessions(t.Context(), tarsy.Visibility{}, 10)
	require.NoError(t, err)

	var listed, claimed []string
	for _, s := range active.Queued {
		listed = append(listed, s.ID)
	}

	for range want {
		claimed = append(claimed, sessionIDs(f.Claim(t, db, storetest.ServerA, 1))...)
	}

	require.Equal(t, want, claimed)
	require.Equal(t, want, listed, "the list is in the order of claims")
}

func TestOldSessionOvertakesNewCriticalAfterAgeing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.ageingServer(t)
	old := f.add(t, db, tarsy.SeverityInfo, "")

	f.Clock.Advance(3*ageing - time.Second)
	first := f.add(t, db, tarsy.SeverityCritical, "")

	f.Clock.Advance(2 * time.Second)
	second := f.add(t, db, tarsy.SeverityCritical, "")

	var got []string
	for range 3 {
		got = append(got, sessionIDs(f.Claim(t, db, storetest.ServerA, 1))...)
	}

	require.Equal(t, []string{first, old, second}, got)
}

func TestSeverityDoesNotMakeASessionOlder(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.ageingServer(t)
	id := f.add(t, db, tarsy.SeverityCritical, "")

	// No server can run it. Its place in the queue is before the limit, but it has not waited that long.
	abandon := f.Clock.Now().Add(-time.Minute)
	require.Empty(t, f.claimHaving(t, db, abandon, "chain:other"))

	f.Clock.Advance(2 * time.Minute)
	require.Equal(t, []string{id}, f.claimHaving(t, db, f.Clock.Now().Add(-time.Minute), "chain:other"))
}

func TestTeamLimitKeepsNoOtherTeamWaiting(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	var loud []string

	for range 20 {
		loud = append(loud, f.add(t, db, "", "loud"))
		f.Clock.Advance(time.Second)
	}

	calm := []string{f.add(t, db, "", "calm"), f.add(t, db, "", "calm"), f.add(t, db, "", "calm")}
	free := f.add(t, db, "", "")

	claim := func(slots, perTeam int, limits map[string]int) []string {
		claims, err := db.Claim(t.Context(), postgres.ClaimParams{
			Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: slots, MaxSessions: 10, Lease: storetest.Lease, MaxPerTeam: perTeam, TeamLimits: limits,
		})
		require.NoError(t, err)

		ids := sessionIDs(claims)
		slices.Sort(ids)

		return ids
	}

	limits := map[string]int{"calm": 3}
	require.Equal(t, loud[:1], claim(1, 2, limits), "the oldest first")
	require.Equal(t, []string{loud[1], calm[0], calm[1]}, claim(3, 2, limits))
	require.Equal(t, []string{calm[2], free}, claim(9, 2, limits), "a session without a team has no limit")
	require.Empty(t, claim(9, 2, limits))
	require.Equal(t, loud[2:4], claim(9, 2, map[string]int{"loud": 4}), "the limit of the team wins")
	require.Equal(t, loud[4:6], claim(9, 0, map[string]int{"calm": 1}), "no limit for other teams, but the one for all sessions")
}

func TestTeamLimitIsExactWithTwoServers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t)}

	const sessions, limit, claimers, rounds = 24, 2, 6, 8

	for n := range sessions {
		f.add(t, servers[0], "", fmt.Sprint("team-", n%2))
	}

	var (
		group errgroup.Group
		mu    sync.Mutex
		done  = map[string]int{}
	)

	for n := range claimers {
		db := servers[n%len(servers)]

		group.Go(func() error {
			for range rounds {
				claims, err := db.Claim(context.Background(), postgres.ClaimParams{
					Version: 1, Has: storetest.DefaultCapabilities(), ServerID: fmt.Sprint(n), Slots: 3, MaxSessions: storetest.NoLimit, Lease: storetest.Lease, MaxPerTeam: limit,
				})
				if err != nil {
					return err
				}

				most := storetest.Value[int](t, f.Admin, `SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM sessions WHERE lease_until IS NOT NULL GROUP BY team) t`)
				if most > limit {
					return fmt.Errorf("a team has %d sessions", most)
				}

				for _, c := range claims {
					mu.Lock()
					done[c.SessionID]++
					mu.Unlock()

					if _, err := db.Hold(c.Lease).Commit(context.Background(), progress.Step{Release: true}); err != nil {
						return err
					}
				}
			}

			return nil
		})
	}

	require.NoError(t, group.Wait())
	require.NotEmpty(t, done)

	for id, times := range done {
		require.Equal(t, 1, times, "session %s was claimed more than once", id)
	}
}
