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
	servers := []*postgres.DB{f.server(t), f.server(t), f.server(t)}

	const sessions, limit, claimers, rounds = 40, 7, 9, 12

	for range sessions {
		f.create(t, servers[0])
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
				claims, err := db.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: defaultCapabilities(),
					ServerID: fmt.Sprint(n), Slots: 3, MaxSessions: limit, Lease: lease,
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
	db := f.server(t)

	for range 6 {
		f.create(t, db)
	}

	claim := func(slots, limit int) int {
		claims, err := db.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: defaultCapabilities(), ServerID: serverA, Slots: slots, MaxSessions: limit, Lease: lease})
		require.NoError(t, err)

		return len(claims)
	}

	require.Equal(t, 2, claim(2, 5), "as many as there are slots")
	require.Equal(t, 0, claim(0, 5))
	require.Equal(t, 3, claim(9, 5), "as many as the limit leaves")
	require.Equal(t, 0, claim(9, 5))
	require.Equal(t, 0, claim(9, 3), "a limit that was lowered is no error")

	f.clock.Advance(2 * lease)

	counts, err := db.Queue(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.QueueCounts{Waiting: 1, Leased: 5}, counts, "leases past their time count")

	claims := f.claim(t, db, serverB, 2)
	require.Len(t, claims, 2, "a takeover needs no room")
	require.Equal(t, 5, value[int](t, f, `SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL`))
}

func TestClaimTakesOldestFirst(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)

	var want []string

	for range 5 {
		want = append(want, f.create(t, db).ID)
		f.clock.Advance(time.Second)
	}

	future := newSession(f.clock.Now().Add(time.Hour))
	require.NoError(t, db.CreateSession(t.Context(), future, postgres.Terms{}))

	var got []string
	for range want {
		got = append(got, sessionIDs(f.claim(t, db, serverA, 1))...)
	}

	require.Equal(t, want, got)
	require.Empty(t, f.claim(t, db, serverA, 1), "what is runnable later waits")
}

func TestExpiredLeaseIsTakenOverButNotFromSelf(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.server(t), f.server(t)
	claim := f.hold(t, a)

	_, err := a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: newEvents("first", 1)})
	require.NoError(t, err)
	require.Empty(t, f.claim(t, b, serverB, 1), "a lease holds for its time")

	f.clock.Advance(lease)

	own, err := a.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: defaultCapabilities(),
		ServerID: serverA, Slots: 1, MaxSessions: noLimit, Lease: lease, Held: []string{claim.SessionID},
	})
	require.NoError(t, err)
	require.Empty(t, own)

	taken := f.claim(t, b, serverB, 1)
	require.Equal(t, []string{claim.SessionID}, sessionIDs(taken))
	require.Equal(t, claim.Fence+1, taken[0].Fence)
	require.Equal(t, f.clock.Now().Add(lease), taken[0].Until)
	require.Equal(t, serverB, taken[0].State.Session.PodID)
	require.Equal(t, int64(1), taken[0].State.LastSeq)

	_, err = a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: newEvents("stale", 1)})
	require.ErrorIs(t, err, postgres.ErrFenceLost)

	_, err = a.Load(t.Context(), claim.Lease)
	require.ErrorIs(t, err, postgres.ErrFenceLost)
	require.Equal(t, []string{"first.1"}, f.journal(t, claim.SessionID))
}

func TestCancelOnlyClaimsDoNotCountAgainstLimits(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	f.hold(t, db)

	cancelled := []tarsy.Session{f.create(t, db), f.create(t, db), f.create(t, db)}
	for _, s := range cancelled {
		ok, err := addRequest(db, t.Context(), newRequest(s.ID, tarsy.RequestCancel, f.clock.Now()))
		require.NoError(t, err)
		require.True(t, ok)
	}

	full := postgres.ClaimParams{Version: 1, Has: defaultCapabilities(), ServerID: serverA, Slots: 0, MaxSessions: 1, Cancels: 2, Lease: lease}
	claims, err := db.Claim(t.Context(), full)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{cancelled[0].ID, cancelled[1].ID}, sessionIDs(claims))

	for _, c := range claims {
		require.True(t, c.Uncounted)
		require.Len(t, c.State.Requests, 1)
	}

	// They do not count: with room for one more session, one more is claimed.
	waiting := f.create(t, db)
	roomy := postgres.ClaimParams{Version: 1, Has: defaultCapabilities(), ServerID: serverA, Slots: 5, MaxSessions: 2, Lease: lease}
	claims, err = db.Claim(t.Context(), roomy)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.Contains(t, []string{cancelled[2].ID, waiting.ID}, claims[0].SessionID)
	require.False(t, claims[0].Uncounted)
}

func TestRenew(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.server(t), f.server(t)
	late, lost, asked := f.hold(t, a), f.hold(t, a), f.hold(t, a)

	ok, err := addRequest(b, t.Context(), newRequest(asked.SessionID, tarsy.RequestCancel, f.clock.Now()))
	require.NoError(t, err)
	require.True(t, ok)

	f.clock.Advance(2 * lease)

	// Another server takes only one of them.
	taken, err := b.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: defaultCapabilities(),
		ServerID: serverB, Slots: 3, MaxSessions: noLimit, Lease: lease, Held: []string{late.SessionID, asked.SessionID},
	})
	require.NoError(t, err)
	require.Equal(t, []string{lost.SessionID}, sessionIDs(taken))

	renewed, err := a.Renew(t.Context(), []postgres.Lease{late.Lease, lost.Lease, asked.Lease}, f.clock.Now().Add(lease))
	require.NoError(t, err)
	require.ElementsMatch(t, []postgres.Renewal{
		{SessionID: late.SessionID}, {SessionID: asked.SessionID, Requested: true},
	}, renewed, "a lease past its time is renewed if nobody took it; one that is missing is lost")

	require.Empty(t, f.claim(t, b, serverB, 9), "what was renewed is not to be had")

	renewed, err = a.Renew(t.Context(), nil, f.clock.Now().Add(lease))
	require.NoError(t, err)
	require.Empty(t, renewed)
}

func TestSlowRenewalShortensNoLease(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.server(t), f.server(t)
	held := f.hold(t, a)

	for _, until := range []time.Time{f.clock.Now().Add(3 * lease), f.clock.Now().Add(lease)} {
		renewed, err := a.Renew(t.Context(), []postgres.Lease{held.Lease}, until)
		require.NoError(t, err)
		require.Len(t, renewed, 1)
	}

	f.clock.Advance(2 * lease)
	require.Empty(t, f.claim(t, b, serverB, 1), "the longer of the two renewals holds")
}

func TestReleasedLeaseIsNotRenewed(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	claim := f.hold(t, db)

	committed, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Release: true})
	require.NoError(t, err)
	require.True(t, committed.Released)

	renewed, err := db.Renew(t.Context(), []postgres.Lease{claim.Lease}, f.clock.Now().Add(lease))
	require.NoError(t, err)
	require.Empty(t, renewed)

	_, err = db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: newEvents("late", 1)})
	require.ErrorIs(t, err, postgres.ErrFenceLost, "the fence is still the newest, the lease is gone")
	require.Empty(t, f.claim(t, db, serverB, 1), "nothing is left to do")
}

func TestReleaseFailsWhileRequestIsOpen(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	claim := f.hold(t, db)
	holder := db.Hold(claim.Lease)
	request := newRequest(claim.SessionID, tarsy.RequestCancel, f.clock.Now())

	for range 2 { // a repeated request has no effect
		ok, err := addRequest(db, t.Context(), newRequestLike(request))
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
	committed, err = holder.Commit(t.Context(), progress.Step{Answered: []tarsy.Request{closed(open[0], f.clock.Now())}, Release: true})
	require.NoError(t, err)
	require.True(t, committed.Released)
	require.Zero(t, value[int](t, f, `SELECT open_requests FROM sessions WHERE id = $1`, claim.SessionID))
}

// newRequestLike is the same request by another person.
func newRequestLike(r tarsy.Request) tarsy.Request {
	r.ID = ident.New()

	return r
}

func TestAnsweredButOpenRequestIsNotMiscounted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	claim := f.hold(t, db)
	request := newRequest(claim.SessionID, tarsy.RequestCancel, f.clock.Now())

	ok, err := addRequest(db, t.Context(), request)
	require.NoError(t, err)
	require.True(t, ok)

	committed, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Answered: []tarsy.Request{request}, Release: true})
	require.NoError(t, err)
	require.False(t, committed.Released, "the request is still open")
	require.Equal(t, 1, value[int](t, f, `SELECT open_requests FROM sessions WHERE id = $1`, claim.SessionID))
}

func TestRequestRacingWithReleaseIsNotLost(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.server(t), f.server(t)

	const rounds = 60

	released := 0

	for range rounds {
		claim := f.hold(t, a)
		done := claim.State.Session
		at := f.clock.Now()
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
			taken, err = addRequest(b, context.Background(), newRequest(claim.SessionID, tarsy.RequestChat, at))

			return err
		})
		require.NoError(t, group.Wait())
		require.True(t, taken)

		if committed.Released {
			released++
		}

		require.Zero(t, value[int](t, f, `SELECT count(*) FROM sessions s
WHERE lease_until IS NULL AND runnable_at IS NULL AND EXISTS (SELECT 1 FROM requests q WHERE q.session_id = s.id AND q.status = 'open')`))
		require.Zero(t, value[int](t, f, `SELECT count(*) FROM sessions s
WHERE open_requests <> (SELECT count(*) FROM requests q WHERE q.session_id = s.id AND q.status = 'open')`))

		// The next holder finds the question.
		next := claim.Lease

		if committed.Released {
			claims := f.claimAsked(t, b, serverB, 1)
			require.Equal(t, []string{claim.SessionID}, sessionIDs(claims))
			next = claims[0].Lease
		}

		state, err := b.Load(t.Context(), next)
		require.NoError(t, err)
		require.Len(t, state.Requests, 1)

		last, err := b.Hold(next).Commit(t.Context(), progress.Step{
			Answered: []tarsy.Request{closed(state.Requests[0], at)}, Release: true,
		})
		require.NoError(t, err)
		require.True(t, last.Released)
	}

	t.Logf("%d of %d releases came before the request", released, rounds)
}

func TestHandoverMakesSessionClaimableAndWakesClaimers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.server(t), f.server(t)
	claim := f.hold(t, a)

	watch := a.Signals().WatchQueue()
	defer watch.Close()

	awaitSignal := f.listen(t)

	f.clock.Advance(time.Second)
	require.NoError(t, a.HandOver(t.Context(), claim.Lease))

	select {
	case <-watch.C:
	default:
		require.Fail(t, "the claimer of the same server was not woken")
	}

	awaitSignal("queue")

	taken := f.claim(t, b, serverB, 1)
	require.Equal(t, []string{claim.SessionID}, sessionIDs(taken))

	require.NoError(t, a.HandOver(t.Context(), claim.Lease), "a lease that is gone is no error")
	require.NotNil(t, value[*time.Time](t, f, `SELECT lease_until FROM sessions WHERE id = $1`, claim.SessionID), "nor taken from others")
}

// The claimer sees the commit of a stale holder just before the claim, and a commit after the claim is refused: the state is
// loaded in a statement after the claim.
func TestClaimerSeesEveryCommitOfPreviousHolder(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.server(t), f.server(t)

	claim := f.hold(t, a)
	current, other, server := claim.Lease, b, serverB
	holder := a

	want := []string{}

	for round := range 25 {
		f.clock.Advance(2 * lease)

		var (
			group  errgroup.Group
			claims []postgres.Claim
			events = newEvents(fmt.Sprintf("round%d", round), 2)
			lost   error
		)

		group.Go(func() error {
			_, lost = holder.Hold(current).Commit(context.Background(), progress.Step{Events: events})

			return nil
		})
		group.Go(func() (err error) {
			for len(claims) == 0 && err == nil { // the commit may have locked the row
				claims, err = other.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: defaultCapabilities(),
					ServerID: server, Slots: 1, MaxSessions: noLimit, Lease: lease,
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
		require.Equal(t, want, f.journal(t, claim.SessionID))

		current, holder, other = claims[0].Lease, other, holder
		server = []string{serverA, serverB}[slices.Index([]string{serverB, serverA}, server)]
	}
}

func TestRenewalAndTakeoverNeverBothWin(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.server(t), f.server(t)

	const sessions, rounds = 6, 25

	leases := make([]postgres.Lease, sessions)
	for i := range leases {
		leases[i] = f.hold(t, a).Lease
	}

	both := 0

	for range rounds {
		f.clock.Advance(2 * lease)

		var (
			group   errgroup.Group
			renewed []postgres.Renewal
			taken   []postgres.Claim
		)

		group.Go(func() (err error) {
			renewed, err = a.Renew(context.Background(), leases, f.clock.Now().Add(lease))

			return err
		})
		group.Go(func() (err error) {
			taken, err = b.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: defaultCapabilities(),
				ServerID: serverB, Slots: sessions / 2, MaxSessions: noLimit, Lease: lease,
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

		for _, c := range f.claim(t, a, serverA, sessions) {
			leases[slices.IndexFunc(leases, func(l postgres.Lease) bool { return l.SessionID == c.SessionID })] = c.Lease
		}
	}

	t.Logf("both won something in %d of %d rounds", both, rounds)
}

// After a failover to a standby that lagged behind, a session that a server works on may not exist.
func TestLoadOfDeletedSessionReportsLeaseLost(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	claim := f.hold(t, db)

	f.exec(t, `DELETE FROM events WHERE session_id = $1`, claim.SessionID)
	f.exec(t, `DELETE FROM sessions WHERE id = $1`, claim.SessionID)

	_, err := db.Load(t.Context(), claim.Lease)
	require.ErrorIs(t, err, postgres.ErrFenceLost)

	_, err = db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: newEvents("late", 1)})
	require.ErrorIs(t, err, postgres.ErrFenceLost)
}
