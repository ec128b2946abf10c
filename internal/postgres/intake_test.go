package postgres_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// Alerts that arrive while the database is busy are stored together; if the database rejects one, only that one is refused.
func TestBadSessionLeavesOthersOfGroupUnaffected(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	// The first one blocks the intake, so that the others wait for it together.
	unlock := f.LockTable(t, "sessions")

	var (
		group sync.WaitGroup
		errs  = make([]error, 8)
		all   = make([]tarsy.Session, 8)
	)

	for i := range all {
		all[i] = storetest.NewSession(f.Clock.Now())
		if i == 3 {
			all[i].Status = "unheard-of"
		}

		group.Go(func() {
			errs[i] = db.CreateSession(context.Background(), all[i], postgres.Terms{}, storetest.NewEvents("first", 2)...)
		})
	}

	f.AwaitBlocked(t, 1)
	unlock()
	group.Wait()

	for i, s := range all {
		if i == 3 {
			require.ErrorContains(t, errs[i], "sessions_status_check")
			require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM events WHERE session_id = $1`, s.ID))

			continue
		}

		require.NoError(t, errs[i])
		require.Len(t, f.Journal(t, s.ID), 2)
	}
}

// A caller that gives up waiting does not withdraw the alert: it is stored, and claimers are notified.
func TestSessionIsStoredAndAnnouncedWithoutCaller(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	unlock := f.LockTable(t, "sessions")

	ctx, cancel := context.WithCancel(t.Context())
	session := storetest.NewSession(f.Clock.Now())
	gaveUp := make(chan error)

	go func() { gaveUp <- db.CreateSession(ctx, session, postgres.Terms{}) }()

	f.AwaitBlocked(t, 1)
	cancel()
	require.ErrorIs(t, <-gaveUp, context.Canceled)

	watch := db.Signals().WatchJournal(session.ID)
	defer watch.Close()

	unlock()
	<-watch.C
	require.Equal(t, []string{session.ID}, sessionIDs(f.Claim(t, db, storetest.ServerA, 1)))
}
