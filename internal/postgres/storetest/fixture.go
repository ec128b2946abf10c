// Package storetest helps to test what is stored: servers on a database, sessions in every state, and comparison of rows.
package storetest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// ServerA and ServerB are servers that claim, with leases of this length; NoLimit is a limit that is not reached.
const (
	ServerA = "server-a"
	ServerB = "server-b"
	Lease   = 30 * time.Second
	NoLimit = 1000
	// Expiry is how long a call waits for an approval, unless a test says otherwise.
	Expiry = time.Hour
)

// Epoch is when tests begin. PostgreSQL stores microseconds, so tests use no finer times.
func Epoch() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// Fixture is a database with servers on it. Its own connections see what servers cannot.
type Fixture struct {
	// URL is the address of the database.
	URL string
	// Clock is the clock of the servers.
	Clock *clockwork.FakeClock
	// Admin is not a connection of a server.
	Admin *pgxpool.Pool
}

// New returns a fixture on a database of its own.
func New(t *testing.T) *Fixture {
	t.Helper()

	return NewAt(t, pgtest.New(t))
}

// NewAt returns a fixture on the database with an address.
func NewAt(t *testing.T, address string) *Fixture {
	t.Helper()

	f := &Fixture{URL: address, Clock: clockwork.NewFakeClockAt(Epoch())}

	admin, err := pgxpool.New(t.Context(), f.URL)
	require.NoError(t, err)
	t.Cleanup(admin.Close)

	f.Admin = admin

	return f
}

// Server starts one more server on the database.
func (f *Fixture) Server(t *testing.T) *postgres.DB {
	t.Helper()

	return f.ServerAt(t, f.URL)
}

// ServerAt starts one more server that uses another address of the database.
func (f *Fixture) ServerAt(t *testing.T, address string) *postgres.DB {
	t.Helper()

	// A step of 15 MB takes longer than ten seconds on a busy machine with the race detector, which is not a stall.
	db, err := postgres.Open(t.Context(), postgres.Config{URL: address, Clock: f.Clock, StalledAfter: slowness.Scale(time.Minute)})
	require.NoError(t, err)

	db.Start()
	t.Cleanup(db.Stop)

	return db
}

// Named returns the database's address with an application name that identifies its connections.
func (f *Fixture) Named(t *testing.T, name string) string {
	t.Helper()

	address, err := url.Parse(f.URL)
	require.NoError(t, err)

	query := address.Query()
	query.Set("application_name", name)
	address.RawQuery = query.Encode()

	return address.String()
}

// Exec runs a statement that no server would.
func (f *Fixture) Exec(t require.TestingT, sql string, args ...any) {
	_, err := f.Admin.Exec(context.Background(), sql, args...)
	require.NoError(t, err)
}

// Value reads one value.
func Value[T any](t require.TestingT, on postgres.Querier, sql string, args ...any) T {
	rows, err := on.Query(context.Background(), sql, args...)
	require.NoError(t, err)

	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	require.NoError(t, err)

	return v
}

// Lock locks sessions in a transaction of its own until unlock is called.
func (f *Fixture) Lock(t *testing.T, ids ...string) (unlock func()) {
	t.Helper()

	tx, err := f.Admin.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })

	_, err = tx.Exec(t.Context(), `SELECT 1 FROM sessions WHERE id = ANY($1) ORDER BY id FOR UPDATE`, ids)
	require.NoError(t, err)

	return func() { require.NoError(t, tx.Rollback(context.Background())) }
}

// LockTable blocks writes to a table until unlock is called.
func (f *Fixture) LockTable(t *testing.T, table string) (unlock func()) {
	t.Helper()

	return f.lockTableIn(t, table, "SHARE")
}

// LockAll blocks reads and writes of a table until unlock is called.
func (f *Fixture) LockAll(t *testing.T, table string) (unlock func()) {
	t.Helper()

	return f.lockTableIn(t, table, "ACCESS EXCLUSIVE")
}

func (f *Fixture) lockTableIn(t *testing.T, table, mode string) (unlock func()) {
	t.Helper()

	tx, err := f.Admin.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })

	_, err = tx.Exec(t.Context(), "LOCK TABLE "+table+" IN "+mode+" MODE")
	require.NoError(t, err)

	return func() { require.NoError(t, tx.Rollback(context.Background())) }
}

// Listen receives the signals between servers; awaitSignal waits for a signal of a topic.
func (f *Fixture) Listen(t *testing.T) (awaitSignal func(topic string)) {
	t.Helper()

	conn, err := f.Admin.Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Conn().Close(context.Background())

		conn.Release()
	})

	_, err = conn.Exec(t.Context(), "LISTEN tarsy")
	require.NoError(t, err)

	return func(topic string) {
		t.Helper()

		ctx, cancel := context.WithTimeout(t.Context(), Patience)
		defer cancel()

		for {
			n, err := conn.Conn().WaitForNotification(ctx)
			require.NoError(t, err, "no server told of %q", topic)

			if strings.Contains(n.Payload, "\n"+topic+" ") {
				return
			}
		}
	}
}

// AwaitBlocked returns when n connections wait for a lock.
func (f *Fixture) AwaitBlocked(t *testing.T, n int) {
	t.Helper()
	f.Awaitf(t, func() bool {
		return Value[int](t, f.Admin, `SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'`) >= n
	}, "%d connections to wait for a lock", n)
}

// Awaitf polls until happened returns true; each poll takes a round trip.
func (f *Fixture) Awaitf(t *testing.T, happened func() bool, format string, args ...any) {
	t.Helper()

	for deadline := time.Now().Add(Patience); !happened(); {
		if time.Now().After(deadline) {
			require.FailNow(t, "timed out waiting for "+fmt.Sprintf(format, args...))
		}
	}
}

// Patience is how long tests wait for what must happen.
var Patience = slowness.Scale(20 * time.Second)
