package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func newFeedback(sessionID, author string, rating tarsy.Rating, at time.Time) tarsy.Feedback {
	return tarsy.Feedback{ID: ident.New(), SessionID: sessionID, Author: author, Rating: rating, Why: "because", UpdatedAt: at}
}

// Two servers store feedback of one author concurrently, again and again.
func TestConcurrentFeedbackOfOneAuthorIsOneRow(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t)}
	id := f.ended(t, servers[0], 2).ID

	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		given = map[string]bool{}
	)

	for n := range 40 {
		wg.Go(func() {
			one := newFeedback(id, "ana", tarsy.Ratings()[n%3], f.Clock.Now())
			one.Why = fmt.Sprint("reason ", n)

			stored, err := servers[n%2].PutFeedback(context.Background(), one)

			mu.Lock()
			defer mu.Unlock()

			if !assertNoError(t, err) {
				return
			}

			given[stored.ID] = true
		})
	}

	wg.Wait()

	require.Len(t, given, 1, "the id of the first stays")

	found, err := servers[0].Feedback(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.True(t, given[found[0].ID])
}

func assertNoError(t *testing.T, err error) bool {
	t.Helper()

	if err != nil {
		t.Error(err)
	}

	return err == nil
}

func TestFeedbackWaitsForTheEndOfItsSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db, storetest.NewEvents("intake", 1)...)

	_, err := db.PutFeedback(t.Context(), newFeedback(claim.SessionID, "ana", tarsy.RatingRight, f.Clock.Now()))
	require.Equal(t, tarsy.CodeSessionNotOver, tarsy.CodeOf(err))
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM feedback`))

	f.end(t, db, claim, storetest.NewEvents("event", 1))

	_, err = db.PutFeedback(t.Context(), newFeedback(claim.SessionID, "ana", tarsy.RatingRight, f.Clock.Now()))
	require.NoError(t, err)
}

// Feedback is not in the journal: readers are notified that the session has changed, with the version that they already have.
func TestFeedbackNotifiesReaders(t *testing.T) {
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

	_, err := db.PutFeedback(t.Context(), newFeedback(id, "ana", tarsy.RatingWrong, f.Clock.Now()))
	require.NoError(t, err)
	told()

	_, err = db.DeleteFeedback(t.Context(), id, tarsy.Person{Name: "ana"})
	require.NoError(t, err)
	told()

	require.Len(t, f.Journal(t, id), 3)
}

// The previous release does not know this table when it removes the rows of a session, the session last.
func TestPurgeOfPreviousReleaseRemovesFeedback(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.ended(t, db, 2).ID

	_, err := db.PutFeedback(t.Context(), newFeedback(id, "ana", tarsy.RatingWrong, f.Clock.Now()))
	require.NoError(t, err)

	f.Exec(t, `DELETE FROM sessions WHERE id = $1`, id)
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM feedback`))
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM session_quality`))
}
