package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// limited starts a server with a limit of waiting sessions, which it counts at the interval every.
func (f *fixture) limited(t *testing.T, maxWaiting int, every time.Duration) *postgres.DB {
	t.Helper()

	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.URL, Clock: f.Clock, MaxWaiting: maxWaiting, CountWaitingEvery: every})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	return db
}

func (f *fixture) requireOverloaded(t *testing.T, err error) {
	t.Helper()
	require.Equal(t, tarsy.CodeOverloaded, tarsy.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, "The limit of waiting sessions is reached (queue.max_waiting_sessions: 3). Try again later.")
}

func TestSessionsOverQueueLimitAreRefusedUntilOthersAreClaimed(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db, other := f.limited(t, 3, time.Nanosecond), f.limited(t, 3, time.Nanosecond)

	for range 3 {
		f.Create(t, db)
	}

	f.requireOverloaded(t, db.CreateSession(t.Context(), storetest.NewSession(f.Clock.Now()), postgres.Terms{}))
	f.requireOverloaded(t, other.CreateSession(t.Context(), storetest.NewSession(f.Clock.Now()), postgres.Terms{}))
	require.Equal(t, 3, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions`), "what is refused is not stored")

	require.Len(t, f.Claim(t, db, storetest.ServerA, 1), 1)
	f.Create(t, other)
	f.requireOverloaded(t, db.CreateSession(t.Context(), storetest.NewSession(f.Clock.Now()), postgres.Terms{}))
}

func TestQueuedSessionsAreNotCountedPerAlert(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.limited(t, 3, time.Hour)

	for range 3 {
		require.NoError(t, db.CheckBacklog())
		f.Create(t, db)
	}

	f.requireOverloaded(t, db.CheckBacklog())
	f.requireOverloaded(t, db.CreateSession(t.Context(), storetest.NewSession(f.Clock.Now()), postgres.Terms{}))

	require.Len(t, f.Claim(t, db, storetest.ServerA, 3), 3)
	f.requireOverloaded(t, db.CreateSession(t.Context(), storetest.NewSession(f.Clock.Now()), postgres.Terms{}))
	require.NoError(t, f.limited(t, 0, time.Hour).CheckBacklog(), "without a limit nothing is refused")
}

func TestGroupIsStoredUpToLimit(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.limited(t, 3, time.Hour)
	unlock := f.LockTable(t, "sessions")

	var (
		group sync.WaitGroup
		errs  = make([]error, 8)
	)

	for i := range errs {
		group.Go(func() {
			errs[i] = db.CreateSession(context.Background(), storetest.NewSession(f.Clock.Now()), postgres.Terms{})
		})
	}

	f.AwaitBlocked(t, 1)
	unlock()
	group.Wait()

	stored := 0

	for _, err := range errs {
		if err == nil {
			stored++

			continue
		}

		f.requireOverloaded(t, err)
	}

	require.Equal(t, 3, stored)
	require.Equal(t, 3, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions`))
}

func TestSessionOfDisconnectedCallerIsDropped(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	unlock := f.LockTable(t, "sessions")

	var group sync.WaitGroup

	// The first one is being stored, so the others are queued.
	inFlight, abandoned, kept := storetest.NewSession(f.Clock.Now()), storetest.NewSession(f.Clock.Now()), storetest.NewSession(f.Clock.Now())
	errs := make([]error, 2)

	group.Go(func() { errs[0] = db.CreateSession(context.Background(), inFlight, postgres.Terms{}) })
	f.AwaitBlocked(t, 1)
	group.Go(func() { errs[1] = db.CreateSession(context.Background(), kept, postgres.Terms{}) })

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()

	require.ErrorIs(t, db.CreateSession(ctx, abandoned, postgres.Terms{}), context.DeadlineExceeded)
	require.ErrorIs(t, db.CreateSession(ctx, abandoned, postgres.Terms{}), context.DeadlineExceeded, "a caller that is gone already is not queued")
	unlock()
	group.Wait()

	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	db.Stop()
	require.ElementsMatch(t, []string{inFlight.ID, kept.ID}, storetest.Value[[]string](t, f.Admin, `SELECT array_agg(id::text) FROM sessions`))
}
