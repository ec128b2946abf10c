package postgres_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func TestPlannerSettingsApplyToWorkAndTimeoutToReaders(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.URL, ReadTimeout: 7 * time.Second})
	require.NoError(t, err)
	t.Cleanup(db.Stop)

	type settings struct{ seqscan, bitmapscan, plans, limit, idle, zone string }

	planned := settings{"on", "on", "auto", "0", "5s", "UTC"}
	fixed := settings{"off", "off", "force_generic_plan", "0", "5s", "UTC"}
	// GIN indexes need bitmap scans.
	indexed := settings{"off", "on", "force_generic_plan", "0", "5s", "UTC"}
	limited := planned
	limited.plans, limited.limit = "force_custom_plan", "7s"

	want := map[string]settings{"readers": limited, "front": planned, "work": fixed, "jobs": fixed, "notes": indexed, "alerts": fixed}
	require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(db.Pools())))

	for name, pool := range db.Pools() {
		var got settings

		err := pool.QueryRow(t.Context(), `SELECT current_setting('enable_seqscan'), current_setting('enable_bitmapscan'),
current_setting('plan_cache_mode'), current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
current_setting('TimeZone')`).Scan(&got.seqscan, &got.bitmapscan, &got.plans, &got.limit, &got.idle, &got.zone)
		require.NoError(t, err)
		require.Equal(t, want[name], got, name)
	}
}

// PgBouncer rejects connections whose start-up message has parameters that it does not track.
func TestStartupMessageHasOnlyParametersPgBouncerTracks(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	proxy, address := newProxy(t, f)
	db := f.ServerAt(t, address)

	for _, pool := range db.Pools() {
		require.NoError(t, pool.Ping(t.Context()))
	}

	// Every pool has connected, and so has the listener.
	connections := len(db.Pools()) + 1

	f.Awaitf(t, func() bool { return len(proxy.startupMessages()) >= connections }, "%d connections", connections)

	for _, parameters := range proxy.startupMessages() {
		require.ElementsMatch(t, []string{"user", "database", "application_name", "timezone"}, parameters)
	}
}

func TestSlowReadEndsAtItsTimeLimit(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.URL, Clock: f.Clock, ReadTimeout: time.Second})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	session := f.Create(t, db)
	unlock := f.LockAll(t, "stages")

	_, err = db.SessionDetail(t.Context(), session.ID)
	require.True(t, postgres.IsReadTimeout(err), "%v", err)

	unlock()

	_, err = db.SessionDetail(t.Context(), session.ID)
	require.NoError(t, err, "the connection is as good as before")

	_, err = db.SessionDetail(t.Context(), ident.New())
	require.False(t, postgres.IsReadTimeout(err))
}

func TestOnlyReadersWaitForReaders(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	waiting, asked, gone := f.Hold(t, db), f.Finished(t, db, tarsy.SessionCompleted), f.Finished(t, db, tarsy.SessionFailed)
	ctx, cancel := context.WithTimeout(t.Context(), storetest.Patience)

	defer cancel()

	// As many slow readers as there are connections for readers.
	readers := db.Pools()["readers"]
	for range readers.Config().MaxConns {
		conn, err := readers.Acquire(ctx)
		require.NoError(t, err)
		defer conn.Release()
	}

	for name, call := range map[string]func() error{
		"ping": func() error { return db.Ping(ctx) },
		"key check": func() error {
			_, err := account.New(db).KeyByHash(ctx, []byte("hash"))

			return err
		},
		"browser session": func() error {
			_, err := account.New(db).BrowserSession(ctx, []byte("hash"), f.Clock.Now())

			return err
		},
		"intake": func() error { return db.CreateSession(ctx, storetest.NewSession(f.Clock.Now()), postgres.Terms{}) },
		"queue": func() error {
			_, err := db.Queue(ctx)

			return err
		},
		"budget": func() error {
			_, err := db.SpentSince(ctx, storetest.Epoch())

			return err
		},
		"target": func() error {
			_, err := db.RequestTarget(ctx, asked.ID)

			return err
		},
		"question": func() error {
			_, _, err := db.AddQuestion(ctx, storetest.NewRequest(asked.ID, tarsy.RequestChat, f.Clock.Now()), storetest.NewQuestion())

			return err
		},
		"cancel": func() error {
			_, err := db.AddCancel(ctx, storetest.NewRequest(waiting.SessionID, tarsy.RequestCancel, f.Clock.Now()))

			return err
		},
		"open requests": func() error {
			_, err := db.OpenRequests(ctx, asked.ID)

			return err
		},
		"claim": func() error {
			_, err := db.Claim(ctx, postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease})

			return err
		},
		"commit": func() error {
			_, err := db.Hold(waiting.Lease).Commit(ctx, progress.Step{Events: storetest.NewEvents("event", 1)})

			return err
		},
		"retention": func() error {
			_, err := db.TrimJournals(ctx, f.Clock.Now(), postgres.Batch{Sessions: 1, Events: 1}, nothing)

			return err
		},
		"deletion": func() error { return db.DeleteSession(ctx, gone.ID) },
	} {
		require.NoError(t, call(), name)
	}
}
