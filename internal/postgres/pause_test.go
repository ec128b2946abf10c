package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// pause pauses without an end time.
func (f *fixture) pause(t require.TestingT, db *postgres.DB, kind tarsy.PauseKind) tarsy.Pause {
	paused, err := db.Pause(context.Background(), tarsy.Pause{Kind: kind, Reason: "upgrade", Author: "ana", PausedAt: f.Clock.Now()})
	require.NoError(t, err)

	return paused
}

func TestPauseWaitsForAlertsInFlight(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db, other := f.Server(t), f.Server(t)
	f.Create(t, db) // prepares its statements
	unlock := f.LockTable(t, "sessions")
	stored, paused := make(chan error), make(chan struct{})

	go func() {
		stored <- db.CreateSession(context.Background(), storetest.NewSession(f.Clock.Now()), postgres.Terms{})
	}()
	f.AwaitBlocked(t, 1)

	go func() {
		f.pause(t, other, tarsy.PauseIntake)
		close(paused)
	}()
	f.AwaitBlocked(t, 2)

	select {
	case <-paused:
		require.FailNow(t, "the pause was acknowledged although an alert may still be accepted")
	default:
	}

	unlock()
	require.NoError(t, <-stored)
	<-paused

	for _, server := range []*postgres.DB{db, other} {
		err := server.CreateSession(t.Context(), storetest.NewSession(f.Clock.Now()), postgres.Terms{}, storetest.NewEvents("late", 2)...)
		require.Equal(t, tarsy.CodeIntakePaused, tarsy.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, "upgrade")
	}

	require.Equal(t, 2, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions`))
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM events`))
}

// Alerts race with a pause on two servers: what is stored when the pause is acknowledged is all that is ever stored, and exactly
// what was accepted.
func TestAlertsRacingWithPauseAreAcceptedBeforeOrRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t)}

	const senders, early = 8, 40

	var (
		group    sync.WaitGroup
		mu       sync.Mutex
		accepted = map[string]bool{}
		enough   = make(chan struct{})
	)

	for n := range senders {
		group.Go(func() {
			for {
				session := storetest.NewSession(f.Clock.Now())

				err := servers[n%len(servers)].CreateSession(context.Background(), session, postgres.Terms{}, storetest.NewEvents("first", 1)...)
				if err != nil {
					require.Equal(t, tarsy.CodeIntakePaused, tarsy.CodeOf(err), "%v", err)

					return
				}

				mu.Lock()
				accepted[session.ID] = true
				if len(accepted) == early {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}

	<-enough
	f.pause(t, servers[0], tarsy.PauseIntake)
	atOnce := storetest.Value[[]string](t, f.Admin, `SELECT array_agg(id::text) FROM sessions`)
	group.Wait()

	require.Equal(t, len(atOnce), storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions`), "an alert was accepted after the pause")
	require.Len(t, accepted, len(atOnce))

	for _, id := range atOnce {
		require.True(t, accepted[id])
	}
}

func TestPauseOfIntakeEndsByItself(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	ends := f.Clock.Now().Add(20 * time.Second)

	paused, err := db.Pause(t.Context(), tarsy.Pause{Kind: tarsy.PauseIntake, Author: "ana", PausedAt: f.Clock.Now(), EndsAt: &ends})
	require.NoError(t, err)
	require.Equal(t, tarsy.Pause{Kind: tarsy.PauseIntake, Author: "ana", PausedAt: storetest.Epoch(), EndsAt: &ends}, paused)

	err = db.CreateSession(t.Context(), storetest.NewSession(f.Clock.Now()), postgres.Terms{})
	refused, ok := errors.AsType[*tarsy.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, 20*time.Second, refused.RetryAfter)

	f.Clock.Advance(19*time.Second + 999*time.Millisecond)
	require.Error(t, db.CreateSession(t.Context(), storetest.NewSession(f.Clock.Now()), postgres.Terms{}))

	f.Clock.Advance(time.Millisecond)
	f.Create(t, db)

	pauses, err := db.Pauses(t.Context())
	require.NoError(t, err)
	require.Empty(t, pauses)

	resumed, err := db.Resume(t.Context(), tarsy.PauseIntake)
	require.NoError(t, err)
	require.False(t, resumed, "it was over")
}

func TestChangedPauseKeepsItsBeginning(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	f.pause(t, db, tarsy.PauseClaiming)
	f.Clock.Advance(time.Minute)

	ends := f.Clock.Now().Add(time.Minute)
	changed := tarsy.Pause{Kind: tarsy.PauseClaiming, Reason: "longer", Author: "ben", PausedAt: f.Clock.Now(), EndsAt: &ends}
	paused, err := db.Pause(t.Context(), changed)
	require.NoError(t, err)

	changed.PausedAt = storetest.Epoch()
	require.Equal(t, changed, paused)

	f.Clock.Advance(time.Minute)
	require.Equal(t, f.Clock.Now(), f.pause(t, db, tarsy.PauseClaiming).PausedAt, "the one before was over")
}

func TestRepeatedKeyReturnsItsSessionDuringPause(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	first := storetest.NewSession(f.Clock.Now())
	_, err := db.CreateSessionOnce(t.Context(), idempotencyKey("a", "request"), first, postgres.Terms{})
	require.NoError(t, err)
	f.pause(t, db, tarsy.PauseIntake)

	existing, err := db.CreateSessionOnce(t.Context(), idempotencyKey("a", "request"), storetest.NewSession(f.Clock.Now()), postgres.Terms{})
	require.NoError(t, err)
	require.Equal(t, first.ID, existing.SessionID)

	_, err = db.CreateSessionOnce(t.Context(), idempotencyKey("b", "request"), storetest.NewSession(f.Clock.Now()), postgres.Terms{})
	require.Equal(t, tarsy.CodeIntakePaused, tarsy.CodeOf(err))

	_, err = db.Resume(t.Context(), tarsy.PauseIntake)
	require.NoError(t, err)

	existing, err = db.CreateSessionOnce(t.Context(), idempotencyKey("b", "request"), storetest.NewSession(f.Clock.Now()), postgres.Terms{})
	require.NoError(t, err)
	require.Nil(t, existing, "the refused request left no key behind")
}

// claimAny claims as a server does that has room for everything.
func (f *fixture) claimAny(t require.TestingT, db *postgres.DB) []string {
	claims, err := db.Claim(context.Background(), postgres.ClaimParams{
		Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerB, Slots: 10, MaxSessions: storetest.NoLimit, Cancels: 10, Chats: 10, Lease: storetest.Lease,
	})
	require.NoError(t, err)

	return sessionIDs(claims)
}

func TestPausedClaimingTakesOnlyCancellations(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	cancel := func(id string) string {
		asked, err := db.AddCancel(t.Context(), storetest.NewRequest(id, tarsy.RequestCancel, f.Clock.Now()))
		require.NoError(t, err)
		require.True(t, asked)

		return id
	}

	asked := f.Finished(t, db, tarsy.SessionCompleted).ID
	f.Question(t, db, asked)

	lost := f.Finished(t, db, tarsy.SessionCompleted).ID
	f.Question(t, db, lost)
	require.Len(t, f.ClaimAsked(t, db, storetest.ServerA, 1), 1)

	orphan, lostCancel := f.Hold(t, db).SessionID, cancel(f.Hold(t, db).SessionID)
	f.Clock.Advance(2 * storetest.Lease)

	waiting, cancelled := f.Create(t, db).ID, cancel(f.Create(t, db).ID)
	f.pause(t, db, tarsy.PauseClaiming)

	require.ElementsMatch(t, []string{cancelled, lostCancel}, f.claimAny(t, db))
	require.Empty(t, f.claimAny(t, db))

	awaitSignal := f.Listen(t)
	resumed, err := db.Resume(t.Context(), tarsy.PauseClaiming)
	require.NoError(t, err)
	require.True(t, resumed)
	awaitSignal("queue")
	require.ElementsMatch(t, []string{asked, lost, orphan, waiting}, f.claimAny(t, db))
}

// When a pause is acknowledged, every claim that will succeed has already succeeded.
func TestClaimsRacingWithPauseAreMadeBefore(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t)}

	const sessions, claimers = 60, 6

	for range sessions {
		f.Create(t, servers[0])
	}

	var (
		group sync.WaitGroup
		begun = make(chan struct{}, claimers)
		stop  = make(chan struct{})
	)

	for n := range claimers {
		group.Go(func() {
			for first := true; ; first = false {
				f.Claim(t, servers[n%len(servers)], storetest.ServerA, 1)

				if first {
					begun <- struct{}{}
				}

				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}

	for range claimers {
		<-begun
	}

	f.pause(t, servers[1], tarsy.PauseClaiming)
	atOnce := storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL`)

	// Every claimer claims at least once more.
	require.Empty(t, f.Claim(t, servers[0], storetest.ServerB, sessions))
	close(stop)
	group.Wait()

	require.Equal(t, atOnce, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL`), "a session was claimed after the pause")
}

func TestPauseOfClaimingEndsByItself(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.Create(t, db).ID
	ends := f.Clock.Now().Add(time.Minute)
	_, err := db.Pause(t.Context(), tarsy.Pause{Kind: tarsy.PauseClaiming, Author: "ana", PausedAt: f.Clock.Now(), EndsAt: &ends})
	require.NoError(t, err)
	require.Empty(t, f.claimAny(t, db))

	f.Clock.Advance(time.Minute)
	require.Equal(t, []string{id}, f.claimAny(t, db))
}
