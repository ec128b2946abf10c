package postgres_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func TestHostVanishingDuringClaimBlocksNoOtherClaim(t *testing.T) {
	t.Parallel()

	// A claim sent as a pipeline had twelve messages.
	for messages := range 12 {
		f := newFixture(t)
		proxy, address := newProxy(t, f)

		// It is not started, so that it sends only claims.
		vanishing, err := postgres.Open(t.Context(), postgres.Config{URL: address, Clock: f.Clock})
		require.NoError(t, err)
		t.Cleanup(vanishing.Stop)

		other, err := postgres.Open(t.Context(), postgres.Config{URL: f.URL, Clock: f.Clock})
		require.NoError(t, err)
		t.Cleanup(other.Stop)
		other.Start()

		require.Empty(t, f.Claim(t, vanishing, storetest.ServerA, 1), "the statement is prepared")
		f.Create(t, other)
		f.Create(t, other)
		proxy.vanishAfter(messages)

		claiming, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})

		go func() { // ends when it is cancelled
			defer close(ended)

			_, _ = vanishing.Claim(claiming, postgres.ClaimParams{
				Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease,
			})
		}()

		f.Awaitf(t, func() bool {
			select {
			case <-ended:
				return true
			default:
				return proxy.cuts() > 0
			}
		}, "the server to claim or to vanish")

		// The stalled transaction is not ended yet: that takes ten seconds.
		soon, stop := context.WithTimeout(t.Context(), 5*time.Second)
		claims, err := other.Claim(soon, postgres.ClaimParams{
			Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerB, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease,
		})
		require.NoError(t, err, "the other server waits after %d messages", messages)
		require.Len(t, claims, 1)

		stop()
		cancel()
		proxy.deliver()
		<-ended

		// Keeping all of them open would take more connections than a server has by default.
		vanishing.Stop()
		other.Stop()
	}
}

func TestSessionOfHostVanishingDuringCommitIsTakenOver(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	proxy, address := newProxy(t, f)
	late := f.ServerAt(t, address)

	other, err := postgres.Open(t.Context(), postgres.Config{URL: f.URL, Clock: f.Clock, StalledAfter: time.Second})
	require.NoError(t, err)
	t.Cleanup(other.Stop)
	other.Start()

	claim := f.Hold(t, late)

	// The database has the step but no COMMIT, and its connection stays open.
	proxy.arm(delayedCommit, `cut.1`)

	_, err = late.Hold(claim.Lease).Commit(t.Context(), cutStep(claim.SessionID))
	require.Error(t, err)

	f.Clock.Advance(2 * storetest.Lease)

	var claims []postgres.Claim

	f.Awaitf(t, func() bool {
		claims = append(claims, f.Claim(t, other, storetest.ServerB, 1)...)

		return len(claims) == 1
	}, "the session to be taken over")

	require.False(t, requireWhole(t, f, &claims[0].State, cutStep(claim.SessionID)), "the step was not committed")
}

func TestStalledTransactionsOfOtherProgramsAreUntouched(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.Named(t, "tarsy"), Clock: f.Clock, StalledAfter: time.Microsecond})
	require.NoError(t, err)
	t.Cleanup(db.Stop)

	// A client that copies waits inside a transaction, like a server that has vanished.
	for want, name := range []string{"backup", "tarsy"} {
		pid := f.copying(t, f.Named(t, name))

		f.Awaitf(t, func() bool {
			return storetest.Value[bool](t, f.Admin, `SELECT coalesce(wait_event = 'ClientRead' AND state = 'active', false) FROM pg_stat_activity WHERE pid = $1`, pid)
		}, "the copy to wait for data")

		ended, err := db.EndStalled(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, ended, name)
	}
}

// copying starts to copy into a table, sends nothing, and returns the backend's process id.
func (f *fixture) copying(t *testing.T, address string) uint32 {
	t.Helper()
	f.Exec(t, `CREATE TABLE IF NOT EXISTS copied (n int)`)

	conn, err := pgconn.Connect(t.Context(), address)
	require.NoError(t, err)

	data, end := io.Pipe()
	ended := make(chan struct{})

	go func() { // ends with the pipe
		defer close(ended)

		_, _ = conn.CopyFrom(context.Background(), data, `COPY copied FROM STDIN`)
	}()

	t.Cleanup(func() {
		_ = end.Close()

		<-ended

		_ = conn.Close(context.Background())
	})

	return conn.PID()
}
