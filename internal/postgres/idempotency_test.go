package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func idempotencyKey(name, request string) tarsy.IdempotencyKey {
	return tarsy.IdempotencyKey{Hash: []byte(name), Fingerprint: []byte(request)}
}

func TestRepeatedIdempotencyKeyReturnsFirstSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db, other := f.Server(t), f.Server(t)
	first := storetest.NewSession(f.Clock.Now())

	existing, err := db.CreateSessionOnce(t.Context(), idempotencyKey("a", "request"), first, postgres.Terms{}, storetest.NewEvents("first", 2)...)
	require.NoError(t, err)
	require.Nil(t, existing)

	for _, server := range []*postgres.DB{db, other} {
		existing, err = server.CreateSessionOnce(t.Context(), idempotencyKey("a", "request"), storetest.NewSession(f.Clock.Now()), postgres.Terms{}, storetest.NewEvents("second", 2)...)
		require.NoError(t, err)
		require.Equal(t, &postgres.Existing{SessionID: first.ID, Status: tarsy.SessionPending}, existing)
	}

	_, err = other.CreateSessionOnce(t.Context(), idempotencyKey("a", "another request"), storetest.NewSession(f.Clock.Now()), postgres.Terms{})
	require.Equal(t, tarsy.CodeIdempotencyConflict, tarsy.CodeOf(err), "%v", err)

	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions`))
	require.Equal(t, 2, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM events`))
	require.Len(t, f.Journal(t, first.ID), 2)
}

// One group, and two servers concurrently: sessions with and without a key, a repetition and a conflict.
func TestSameKeyInOneGroupMakesOneSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t)}
	unlock := f.LockTable(t, "idempotency_keys")

	const each = 8

	var (
		group    sync.WaitGroup
		mu       sync.Mutex
		existing = map[string]bool{}
		created  int
	)

	for _, db := range servers {
		for range each {
			group.Go(func() {
				session := storetest.NewSession(f.Clock.Now())
				found, err := db.CreateSessionOnce(context.Background(), idempotencyKey("a", "request"), session, postgres.Terms{}, storetest.NewEvents("first", 1)...)
				require.NoError(t, err)

				mu.Lock()
				defer mu.Unlock()

				if found == nil {
					created++
					existing[session.ID] = true
				} else {
					existing[found.SessionID] = true
				}
			})
			group.Go(func() {
				require.NoError(t, db.CreateSession(context.Background(), storetest.NewSession(f.Clock.Now()), postgres.Terms{}, storetest.NewEvents("first", 1)...))
			})
		}
	}

	f.AwaitBlocked(t, len(servers))
	unlock()
	group.Wait()

	require.Equal(t, 1, created)
	require.Len(t, existing, 1, "all got the same session")
	require.Equal(t, 1+each*len(servers), storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions`))
	require.Equal(t, 1+each*len(servers), storetest.Value[int](t, f.Admin, `SELECT count(*) FROM events`))
}

func TestIdempotencyKeyExpiresAfterADay(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	create := func(name string) *postgres.Existing {
		existing, err := db.CreateSessionOnce(t.Context(), idempotencyKey(name, "request"), storetest.NewSession(f.Clock.Now()), postgres.Terms{})
		require.NoError(t, err)

		return existing
	}

	for i := range 3 {
		require.Nil(t, create(fmt.Sprint("old ", i)))
	}

	require.Nil(t, create("a"))
	f.Clock.Advance(24*time.Hour - time.Second)
	require.NotNil(t, create("a"))
	f.Clock.Advance(time.Second)
	require.Nil(t, create("a"), "it may create another session now")
	require.NotNil(t, create("a"))
	require.Nil(t, create("b"))
	require.Equal(t, 2, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM idempotency_keys`), "expired keys were removed along the way")
}

// The database is silent for a while, and senders give up and retry all the time. With keys each alert is stored once although
// some attempts got through; an arrival whose sender has given up before it is being stored is not stored at all.
func TestRetriesDuringDatabaseSilenceAreStoredOnce(t *testing.T) {
	t.Parallel()

	const (
		senders = 20
		retries = 5
		patient = 20 * time.Millisecond
	)

	f := newFixture(t)
	proxy, address := newProxy(t, f)
	db := f.ServerAt(t, address)
	f.Create(t, db) // opens the connection

	thaw := proxy.freeze()
	t.Cleanup(thaw)

	attempt := func(ctx context.Context, sender int) error {
		_, err := db.CreateSessionOnce(ctx, idempotencyKey(fmt.Sprint(sender), "request"), storetest.NewSession(f.Clock.Now()), postgres.Terms{})

		return err
	}

	var impatient, all sync.WaitGroup

	for sender := range senders {
		impatient.Add(1)
		all.Go(func() {
			for range retries {
				ctx, cancel := context.WithTimeout(t.Context(), patient)
				require.ErrorIs(t, attempt(ctx, sender), context.DeadlineExceeded)
				cancel()
			}

			impatient.Done()
			require.NoError(t, attempt(t.Context(), sender))
		})
	}

	impatient.Wait()

	// These arrive while the intake is still busy with the first attempt, and are not retried.
	for range senders {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		err := db.CreateSession(ctx, storetest.NewSession(f.Clock.Now()), postgres.Terms{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()
	}

	thaw()
	all.Wait()
	db.Stop()
	require.Equal(t, 1+senders, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions`))
}
