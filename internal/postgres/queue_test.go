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
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func sessionIDs(claims []postgres.Claim) []string {
	ids := make([]string, len(claims))
	for i, c := range claims {
		ids[i] = c.SessionID
	}

	return ids
}

func TestLimitIsExactWithConcurrentClaims(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t), f.Server(t)}

	const sessions, limit, claimers, rounds = 40, 7, 9, 12

	for range sessions {
		f.Create(t, servers[0])
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
				claims, err := db.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(),
					ServerID: fmt.Sprint(n), Slots: 3, MaxSessions: limit, Lease: storetest.Lease,
				})
				if err != nil {
					return err
				}

				counts, err := db.Queue(context.Background())
				if err != nil {
					return err
				}

				if counts.Leased > limit {
					return fmt.Errorf("there are %d leases", counts.Leased)
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
	require.Len(t, done, sessions)

	for id, times := range done {
		require.Equal(t, 1, times, "session %s was claimed more than once", id)
	}
}

func TestClaimFillsLimitExactly(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for range 6 {
		f.Create(t, db)
	}

	claim := func(slots, limit int) int {
		claims, err := db.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: slots, MaxSessions: limit, Lease: storetest.Lease})
		require.NoError(t, err)

		return len(claims)
	}

	require.Equal(t, 2, claim(2, 5), "as many as there are slots")
	require.Equal(t, 0, claim(0, 5))
	require.Equal(t, 3, claim(9, 5), "as many as the limit leaves")
	require.Equal(t, 0, claim(9, 5))
	require.Equal(t, 0, claim(9, 3), "a limit that was lowered is no error")

	f.Clock.Advance(2 * storetest.Lease)

	counts, err := db.Queue(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.QueueCounts{Waiting: 1, Leased: 5}, counts, "leases past their time count")

	claims := f.Claim(t, db, storetest.ServerB, 2)
	require.Len(t, claims, 2, "a takeover needs no room")
	require.Equal(t, 5, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL`))
}

func TestClaimTakesOldestFirst(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	var want []string

	for range 5 {
		want = append(want, f.Create(t, db).ID)
		f.Clock.Advance(time.Second)
	}

	future := storetest.NewSession(f.Clock.Now().Add(time.Hour))
	require.NoError(t, db.CreateSession(t.Context(), future, postgres.Terms{}))

	var got []string
	for range want {
		got = append(got, sessionIDs(f.Claim(t, db, storetest.ServerA, 1))...)
	}

	require.Equal(t, want, got)
	require.Empty(t, f.Claim(t, db, storetest.ServerA, 1), "what is runnable later waits")
}

func TestExpiredLeaseIsTakenOverButNotFromSelf(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	claim := f.Hold(t, a)

	_, err := a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("first", 1)})
	require.NoError(t, err)
	require.Empty(t, f.Claim(t, b, storetest.ServerB, 1), "a lease holds for its time")

	f.Clock.Advance(storetest.Lease)

	own, err := a.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(),
		ServerID: storetest.ServerA, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease, Held: []string{claim.SessionID},
	})
	require.NoError(t, err)
	require.Empty(t, own)

	taken := f.Claim(t, b, storetest.ServerB, 1)
	require.Equal(t, []string{claim.SessionID}, sessionIDs(taken))
	require.Equal(t, claim.Fence+1, taken[0].Fence)
	require.Equal(t, f.Clock.Now().Add(storetest.Lease), taken[0].Until)
	require.Equal(t, storetest.ServerB, taken[0].State.Session.PodID)
	require.Equal(t, int64(1), taken[0].State.LastSeq)

	_, err = a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("stale", 1)})
	require.ErrorIs(t, err, postgres.ErrFenceLost)

	_, err = a.Load(t.Context(), claim.Lease)
	require.ErrorIs(t, err, postgres.ErrFenceLost)
	require.Equal(t, []string{"first.1"}, f.Journal(t, claim.SessionID))
}

func TestCancelOnlyClaimsDoNotCountAgainstLimits(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	f.Hold(t, db)

	cancelled := []tarsy.Session{f.Create(t, db), f.Create(t, db), f.Create(t, db)}
	for _, s := range cancelled {
		ok, err := storetest.AddRequest(db, t.Context(), storetest.NewRequest(s.ID, tarsy.RequestCancel, f.Clock.Now()))
		require.NoError(t, err)
		require.True(t, ok)
	}

	full := postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: 0, MaxSessions: 1, Cancels: 2, Lease: storetest.Lease}
	claims, err := db.Claim(t.Context(), full)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{cancelled[0].ID, cancelled[1].ID}, sessionIDs(claims))

	for _, c := range claims {
		require.True(t, c.Uncounted)
		require.Len(t, c.State.Requests, 1)
	}

	// They do not count: with room for one more session, one more is claimed.
	waiting := f.Create(t, db)
	roomy := postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: 5, MaxSessions: 2, Lease: storetest.Lease}
	claims, err = db.Claim(t.Context(), roomy)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.Contains(t, []string{cancelled[2].ID, waiting.ID}, claims[0].SessionID)
	require.False(t, claims[0].Uncounted)
}

func TestRenew(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	late, lost, asked := f.Hold(t, a), f.Hold(t, a), f.Hold(t, a)

	ok, err := storetest.AddRequest(b, t.Context(), storetest.NewRequest(asked.SessionID, tarsy.RequestCancel, f.Clock.Now()))
	require.NoError(t, err)
	require.True(t, ok)

	f.Clock.Advance(2 * storetest.Lease)

	// Another server takes only one of them.
	taken, err := b.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(),
		ServerID: storetest.ServerB, Slots: 3, MaxSessions: storetest.NoLimit, Lease: storetest.Lease, Held: []string{late.SessionID, asked.SessionID},
	})
	require.NoError(t, err)
	require.Equal(t, []string{lost.SessionID}, sessionIDs(taken))

	renewed, err := a.Renew(t.Context(), []postgres.Lease{late.Lease, lost.Lease, asked.Lease}, f.Clock.Now().Add(storetest.Lease))
	require.NoError(t, err)
	require.ElementsMatch(t, []postgres.Renewal{
		{SessionID: late.SessionID}, {SessionID: asked.SessionID, Requested: true},
	}, renewed, "a lease past its time is renewed if nobody took it; one that is missing is lost")

	require.Empty(t, f.Claim(t, b, storetest.ServerB, 9), "what was renewed is not to be had")

	renewed, err = a.Renew(t.Context(), nil, f.Clock.Now().Add(storetest.Lease))
	require.NoError(t, err)
	require.Empty(t, renewed)
}

func TestSlowRenewalShortensNoLease(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	held := f.Hold(t, a)

	for _, until := range []time.Time{f.Clock.Now().Add(3 * storetest.Lease), f.Clock.Now().Add(storetest.Lease)} {
		renewed, err := a.Renew(t.Context(), []postgres.Lease{held.Lease}, until)
		require.NoError(t, err)
		require.Len(t, renewed, 1)
	}

	f.Clock.Advance(2 * storetest.Lease)
	require.Empty(t, f.Claim(t, b, storetest.ServerB, 1), "the longer of the two renewals holds")
}

func TestReleasedLeaseIsNotRenewed(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)

	committed, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Release: true})
	require.NoError(t, err)
	require.True(t, committed.Released)

	renewed, err := db.Renew(t.Context(), []postgres.Lease{claim.Lease}, f.Clock.Now().Add(storetest.Lease))
	require.NoError(t, err)
	require.Empty(t, renewed)

	_, err = db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("late", 1)})
	require.ErrorIs(t, err, postgres.ErrFenceLost, "the fence is still the newest, the lease is gone")
	require.Empty(t, f.Claim(t, db, storetest.ServerB, 1), "nothing is left to do")
}

func TestReleaseFailsWhileRequestIsOpen(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	holder := db.Hold(claim.Lease)
	request := storetest.NewRequest(claim.SessionID, tarsy.RequestCancel, f.Clock.Now())

	for range 2 { // a repeated request has no effect
		ok, err := storetest.AddRequest(db, t.Context(), newRequestLike(request))
		require.NoError(t, err)
		require.True(t, ok)
	}

	committed, err := holder.Commit(t.Context(), progress.Step{Release: true})
	require.NoError(t, err)
	require.False(t, committed.Released)

	open, err := db.OpenRequests(t.Context(), claim.SessionID)
	require.NoError(t, err)
	require.Len(t, open, 1)

	// A step that answers requests and releases does both.
	committed, err = holder.Commit(t.Context(), progress.Step{Answered: []tarsy.Request{storetest.Closed(open[0], f.Clock.Now())}, Release: true})
	require.NoError(t, err)
	require.True(t, committed.Released)
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT open_requests FROM sessions WHERE id = $1`, claim.SessionID))
}

// newRequestLike is the same request by another person.
func newRequestLike(r tarsy.Request) tarsy.Request {
	r.ID = ident.New()

	return r
}

func TestAnsweredButOpenRequestIsNotMiscounted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	request := storetest.NewRequest(claim.SessionID, tarsy.RequestCancel, f.Clock.Now())

	ok, err := storetest.AddRequest(db, t.Context(), request)
	require.NoError(t, err)
	require.True(t, ok)

	committed, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Answered: []tarsy.Request{request}, Release: true})
	require.NoError(t, err)
	require.False(t, committed.Released, "the request is still open")
	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT open_requests FROM sessions WHERE id = $1`, claim.SessionID))
}

func TestRequestRacingWithReleaseIsNotLost(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)

	const rounds = 60

	released := 0

	for range rounds {
		claim := f.Hold(t, a)
		done := claim.State.Session
		at := f.Clock.Now()
		done.Status, done.CompletedAt = tarsy.SessionCompleted, &at

		_, err := a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Session: &done})
		require.NoError(t, err)

		var (
			group     errgroup.Group
			committed postgres.Committed
			taken     bool
		)

		group.Go(func() (err error) {
			committed, err = a.Hold(claim.Lease).Commit(context.Background(), progress.Step{Release: true})

			return err
		})
		group.Go(func() (err error) {
			taken, err = storetest.AddRequest(b, context.Background(), storetest.NewRequest(claim.SessionID, tarsy.RequestChat, at))

			return err
		})
		require.NoError(t, group.Wait())
		require.True(t, taken)

		if committed.Released {
			released++
		}

		require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions s
WHERE lease_until IS NULL AND runnable_at IS NULL AND EXISTS (SELECT 1 FROM requests q WHERE q.session_id = s.id AND q.status = 'open')`))
		require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions s
WHERE open_requests <> (SELECT count(*) FROM requests q WHERE q.session_id = s.id AND q.status = 'open')`))

		// The next holder finds the question.
		next := claim.Lease

		if committed.Released {
			claims := f.ClaimAsked(t, b, storetest.ServerB, 1)
			require.Equal(t, []string{claim.SessionID}, sessionIDs(claims))
			next = claims[0].Lease
		}

		state, err := b.Load(t.Context(), next)
		require.NoError(t, err)
		require.Len(t, state.Requests, 1)

		last, err := b.Hold(next).Commit(t.Context(), progress.Step{
			Answered: []tarsy.Request{storetest.Closed(state.Requests[0], at)}, Release: true,
		})
		require.NoError(t, err)
		require.True(t, last.Released)
	}

	t.Logf("%d of %d releases came before the request", released, rounds)
}

func TestHandoverMakesSessionClaimableAndWakesClaimers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	claim := f.Hold(t, a)

	watch := a.Signals().WatchQueue()
	defer watch.Close()

	awaitSignal := f.Listen(t)

	f.Clock.Advance(time.Second)
	require.NoError(t, a.HandOver(t.Context(), claim.Lease))

	select {
	case <-watch.C:
	default:
		require.Fail(t, "the claimer of the same server was not woken")
	}

	awaitSignal("queue")

	taken := f.Claim(t, b, storetest.ServerB, 1)
	require.Equal(t, []string{claim.SessionID}, sessionIDs(taken))

	require.NoError(t, a.HandOver(t.Context(), claim.Lease), "a lease that is gone is no error")
	require.NotNil(t, storetest.Value[*time.Time](t, f.Admin, `SELECT lease_until FROM sessions WHERE id = $1`, claim.SessionID), "nor taken from others")
}

// The claimer sees the commit of a stale holder just before the claim, and a commit after the claim is refused: the state is
// loaded in a statement after the claim.
func TestClaimerSeesEveryCommitOfPreviousHolder(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)

	claim := f.Hold(t, a)
	current, other, server := claim.Lease, b, storetest.ServerB
	holder := a

	want := []string{}

	for round := range 25 {
		f.Clock.Advance(2 * storetest.Lease)

		var (
			group  errgroup.Group
			claims []postgres.Claim
			events = storetest.NewEvents(fmt.Sprintf("round%d", round), 2)
			lost   error
		)

		group.Go(func() error {
			_, lost = holder.Hold(current).Commit(context.Background(), progress.Step{Events: events})

			return nil
		})
		group.Go(func() (err error) {
			for len(claims) == 0 && err == nil { // the commit may have locked the row
				claims, err = other.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(),
					ServerID: server, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease,
				})
			}

			return err
		})
		require.NoError(t, group.Wait())

		if lost == nil {
			want = append(want, types(events)...)
		} else {
			require.ErrorIs(t, lost, postgres.ErrFenceLost)
		}

		require.Equal(t, int64(len(want)), claims[0].State.LastSeq)
		require.Equal(t, want, f.Journal(t, claim.SessionID))

		current, holder, other = claims[0].Lease, other, holder
		server = []string{storetest.ServerA, storetest.ServerB}[slices.Index([]string{storetest.ServerB, storetest.ServerA}, server)]
	}
}

func TestRenewalAndTakeoverNeverBothWin(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)

	const sessions, rounds = 6, 25

	leases := make([]postgres.Lease, sessions)
	for i := range leases {
		leases[i] = f.Hold(t, a).Lease
	}

	both := 0

	for range rounds {
		f.Clock.Advance(2 * storetest.Lease)

		var (
			group   errgroup.Group
			renewed []postgres.Renewal
			taken   []postgres.Claim
		)

		group.Go(func() (err error) {
			renewed, err = a.Renew(context.Background(), leases, f.Clock.Now().Add(storetest.Lease))

			return err
		})
		group.Go(func() (err error) {
			taken, err = b.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(),
				ServerID: storetest.ServerB, Slots: sessions / 2, MaxSessions: storetest.NoLimit, Lease: storetest.Lease,
			})

			return err
		})
		require.NoError(t, group.Wait())

		if len(renewed) > 0 && len(taken) > 0 {
			both++
		}

		winners := sessionIDs(taken)
		for _, r := range renewed {
			winners = append(winners, r.SessionID)
		}

		require.Len(t, winners, sessions)

		slices.Sort(winners)
		require.Len(t, slices.Compact(winners), sessions, "every lease has one owner")

		// a takes back what it lost, for the next round.
		for _, c := range taken {
			require.NoError(t, b.HandOver(t.Context(), c.Lease))
		}

		for _, c := range f.Claim(t, a, storetest.ServerA, sessions) {
			leases[slices.IndexFunc(leases, func(l postgres.Lease) bool { return l.SessionID == c.SessionID })] = c.Lease
		}
	}

	t.Logf("both won something in %d of %d rounds", both, rounds)
}

// After a failover to a standby that lagged behind, a session that a server works on may not exist.
func TestLoadOfDeletedSessionReportsLeaseLost(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)

	f.Exec(t, `DELETE FROM events WHERE session_id = $1`, claim.SessionID)
	f.Exec(t, `DELETE FROM sessions WHERE id = $1`, claim.SessionID)

	_, err := db.Load(t.Context(), claim.Lease)
	require.ErrorIs(t, err, postgres.ErrFenceLost)

	_, err = db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("late", 1)})
	require.ErrorIs(t, err, postgres.ErrFenceLost)
}
