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
)

// pause pauses without an end time.
func (f *fixture) pause(t require.TestingT, db *postgres.DB, kind tarsy.PauseKind) tarsy.Pause {
	paused, err := db.Pause(context.Background(), tarsy.Pause{Kind: kind, Reason: "upgrade", Author: "ana", PausedAt: f.clock.Now()})
	require.NoError(t, err)

	return paused
}

func TestPauseWaitsForAlertsInFlight(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db, other := f.server(t), f.server(t)
	f.create(t, db) // prepares its statements
	unlock := f.lockTable(t, "sessions")
	stored, paused := make(chan error), make(chan struct{})

	go func() { stored <- db.CreateSession(context.Background(), newSession(f.clock.Now()), postgres.Terms{}) }()
	f.awaitBlocked(t, 1)

	go func() {
		f.pause(t, other, tarsy.PauseIntake)
		close(paused)
	}()
	f.awaitBlocked(t, 2)

	select {
	case <-paused:
		require.FailNow(t, "the pause was acknowledged although an alert may still be accepted")
	default:
	}

	unlock()
	require.NoError(t, <-stored)
	<-paused

	for _, server := range []*postgres.DB{db, other} {
		err := server.CreateSession(t.Context(), newSession(f.clock.Now()), postgres.Terms{}, newEvents("late", 2)...)
		require.Equal(t, tarsy.CodeIntakePaused, tarsy.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, "upgrade")
	}

	require.Equal(t, 2, value[int](t, f, `SELECT count(*) FROM sessions`))
	require.Zero(t, value[int](t, f, `SELECT count(*) FROM events`))
}

// Alerts race with a pause on two servers: what is stored when the pause is acknowledged is all that is ever stored, and exactly
// what was accepted.
func TestAlertsRacingWithPauseAreAcceptedBeforeOrRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := []*postgres.DB{f.server(t), f.server(t)}

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
				session := newSession(f.clock.Now())

				err := servers[n%len(servers)].CreateSession(context.Background(), session, postgres.Terms{}, newEvents("first", 1)...)
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
	atOnce := value[[]string](t, f, `SELECT array_agg(id::text) FROM sessions`)
	group.Wait()

	require.Equal(t, len(atOnce), value[int](t, f, `SELECT count(*) FROM sessions`), "an alert was accepted after the pause")
	require.Len(t, accepted, len(atOnce))

	for _, id := range atOnce {
		require.True(t, accepted[id])
	}
}

func TestPauseOfIntakeEndsByItself(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	ends := f.clock.Now().Add(20 * time.Second)

	paused, err := db.Pause(t.Context(), tarsy.Pause{Kind: tarsy.PauseIntake, Author: "ana", PausedAt: f.clock.Now(), EndsAt: &ends})
	require.NoError(t, err)
	require.Equal(t, tarsy.Pause{Kind: tarsy.PauseIntake, Author: "ana", PausedAt: epoch(), EndsAt: &ends}, paused)

	err = db.CreateSession(t.Context(), newSession(f.clock.Now()), postgres.Terms{})
	refused, ok := errors.AsType[*tarsy.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, 20*time.Second, refused.RetryAfter)

	f.clock.Advance(19*time.Second + 999*time.Millisecond)
	require.Error(t, db.CreateSession(t.Context(), newSession(f.clock.Now()), postgres.Terms{}))

	f.clock.Advance(time.Millisecond)
	f.create(t, db)

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
	db := f.server(t)
	f.pause(t, db, tarsy.PauseClaiming)
	f.clock.Advance(time.Minute)

	ends := f.clock.Now().Add(time.Minute)
	changed := tarsy.Pause{Kind: tarsy.PauseClaiming, Reason: "longer", Author: "ben", PausedAt: f.clock.Now(), EndsAt: &ends}
	paused, err := db.Pause(t.Context(), changed)
	require.NoError(t, err)

	changed.PausedAt = epoch()
	require.Equal(t, changed, paused)

	f.clock.Advance(time.Minute)
	require.Equal(t, f.clock.Now(), f.pause(t, db, tarsy.PauseClaiming).PausedAt, "the one before was over")
}

func TestRepeatedKeyReturnsItsSessionDuringPause(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	first := newSession(f.clock.Now())
	_, err := db.CreateSessionOnce(t.Context(), idempotencyKey("a", "request"), first, postgres.Terms{})
	require.NoError(t, err)
	f.pause(t, db, tarsy.PauseIntake)

	existing, err := db.CreateSessionOnce(t.Context(), idempotencyKey("a", "request"), newSession(f.clock.Now()), postgres.Terms{})
	require.NoError(t, err)
	require.Equal(t, first.ID, existing.SessionID)

	_, err = db.CreateSessionOnce(t.Context(), idempotencyKey("b", "request"), newSession(f.clock.Now()), postgres.Terms{})
	require.Equal(t, tarsy.CodeIntakePaused, tarsy.CodeOf(err))

	_, err = db.Resume(t.Context(), tarsy.PauseIntake)
	require.NoError(t, err)

	existing, err = db.CreateSessionOnce(t.Context(), idempotencyKey("b", "request"), newSession(f.clock.Now()), postgres.Terms{})
	require.NoError(t, err)
	require.Nil(t, existing, "the refused request left no key behind")
}

// claimAny claims as a server does that has room for everything.
func (f *fixture) claimAny(t require.TestingT, db *postgres.DB) []string {
	claims, err := db.Claim(context.Background(), postgres.ClaimParams{
		Version: 1, Has: defaultCapabilities(), ServerID: serverB, Slots: 10, MaxSessions: noLimit, Cancels: 10, Chats: 10, Lease: lease,
	})
	require.NoError(t, err)

	return sessionIDs(claims)
}

func TestPausedClaimingTakesOnlyCancellations(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	cancel := func(id string) string {
		asked, err := db.AddCancel(t.Context(), newRequest(id, tarsy.RequestCancel, f.clock.Now()))
		require.NoError(t, err)
		require.True(t, asked)

		return id
	}

	asked := f.finished(t, db, tarsy.SessionCompleted).ID
	f.question(t, db, asked)

	lost := f.finished(t, db, tarsy.SessionCompleted).ID
	f.question(t, db, lost)
	require.Len(t, f.claimAsked(t, db, serverA, 1), 1)

	orphan, lostCancel := f.hold(t, db).SessionID, cancel(f.hold(t, db).SessionID)
	f.clock.Advance(2 * lease)

	waiting, cancelled := f.create(t, db).ID, cancel(f.create(t, db).ID)
	f.pause(t, db, tarsy.PauseClaiming)

	require.ElementsMatch(t, []string{cancelled, lostCancel}, f.claimAny(t, db))
	require.Empty(t, f.claimAny(t, db))

	awaitSignal := f.listen(t)
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
	servers := []*postgres.DB{f.server(t), f.server(t)}

	const sessions, claimers = 60, 6

	for range sessions {
		f.create(t, servers[0])
	}

	var (
		group sync.WaitGroup
		begun = make(chan struct{}, claimers)
		stop  = make(chan struct{})
	)

	for n := range claimers {
		group.Go(func() {
			for first := true; ; first = false {
				f.claim(t, servers[n%len(servers)], serverA, 1)

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
	atOnce := value[int](t, f, `SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL`)

	// Every claimer claims at least once more.
	require.Empty(t, f.claim(t, servers[0], serverB, sessions))
	close(stop)
	group.Wait()

	require.Equal(t, atOnce, value[int](t, f, `SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL`), "a session was claimed after the pause")
}

func TestPauseOfClaimingEndsByItself(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	id := f.create(t, db).ID
	ends := f.clock.Now().Add(time.Minute)
	_, err := db.Pause(t.Context(), tarsy.Pause{Kind: tarsy.PauseClaiming, Author: "ana", PausedAt: f.clock.Now(), EndsAt: &ends})
	require.NoError(t, err)
	require.Empty(t, f.claimAny(t, db))

	f.clock.Advance(time.Minute)
	require.Equal(t, []string{id}, f.claimAny(t, db))
}
