package retention_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/retention"
)

const day = 24 * time.Hour

var patience = slowness.Scale(20 * time.Second)

// epoch is when tests start: in the middle of a period.
func epoch() time.Time { return time.Date(2026, 3, 1, 12, 20, 0, 0, time.UTC) }

// fixture is a database, a clock shared by all of its servers, and connections with access that servers do not have.
type fixture struct {
	url   string
	clock *clockwork.FakeClock
	admin *pgxpool.Pool
	log   *logbook
	// kinds is the number of jobs per period.
	kinds int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()

	f := &fixture{url: pgtest.New(t), clock: clockwork.NewFakeClockAt(epoch()), log: &logbook{}, kinds: 2}

	admin, err := pgxpool.New(t.Context(), f.url)
	require.NoError(t, err)
	t.Cleanup(admin.Close)

	f.admin = admin

	return f
}

// open opens the database for one server.
func (f *fixture) open(t *testing.T) *postgres.DB {
	t.Helper()

	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.url, Clock: f.clock, MaxConns: 4})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	return db
}

// config keeps journals for a day and sessions for ninety days, on a separate server.
func (f *fixture) config(t *testing.T) retention.Config {
	t.Helper()

	return retention.Config{
		DB: f.open(t), EventTTL: day, SessionRetention: 90 * day, Clock: f.clock, Logger: slog.New(slog.NewTextHandler(f.log, nil)),
	}
}

// server is a server's clean-up: the scheduler and the queue.
type server struct {
	*retention.Retention

	queue *jobs.Queue
}

// newServer creates a server's clean-up.
func newServer(cfg retention.Config) (server, error) {
	queue, err := jobs.New(jobs.Config{Pool: cfg.DB.Jobs(), Logger: cfg.Logger, Hasty: true}, retention.NewWorkers(cfg))
	if err != nil {
		return server{}, err
	}

	cfg.Jobs = queue
	r, err := retention.New(cfg)

	return server{Retention: r, queue: queue}, err
}

// start starts a server's clean-up; it is waiting for its timer when start returns.
func (f *fixture) start(t *testing.T, cfg retention.Config) server {
	t.Helper()

	s, err := newServer(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { s.stop(t) })
	s.queue.Start()
	s.Start()

	return s
}

func (s server) stop(t *testing.T) {
	t.Helper()
	s.Stop()
	require.NoError(t, s.queue.Stop(context.Background()))
}

// pass advances the clock, once this many servers are waiting for it, and returns when the jobs of the new period are done.
func (f *fixture) pass(t *testing.T, servers int, d time.Duration) {
	t.Helper()
	require.NoError(t, f.clock.BlockUntilContext(t.Context(), servers))
	f.clock.Advance(d)
	f.awaitDone(t, f.clock.Now().Truncate(time.Hour))
}

// awaitDone waits until the jobs of a period are completed.
func (f *fixture) awaitDone(t *testing.T, period time.Time) {
	t.Helper()
	f.awaitf(t, func() bool {
		return value[int](t, f, `SELECT count(*) FROM river_job WHERE args->>'period' = $1 AND state = 'completed'`,
			period.Format(time.RFC3339)) == f.kinds
	}, "the jobs of %s", period)
}

// awaitBlocked waits until a query is waiting for a lock.
func (f *fixture) awaitBlocked(t *testing.T) {
	t.Helper()
	f.awaitf(t, func() bool {
		return value[int](t, f, `SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'`) > 0
	}, "somebody to wait for a lock")
}

// awaitf polls the database; each poll takes a round trip.
func (f *fixture) awaitf(t *testing.T, happened func() bool, format string, args ...any) {
	t.Helper()

	for deadline := time.Now().Add(patience); !happened(); {
		if time.Now().After(deadline) {
			require.FailNow(t, "timed out waiting for "+fmt.Sprintf(format, args...), f.log.String())
		}
	}
}

func (f *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()

	_, err := f.admin.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func value[T any](t *testing.T, f *fixture, sql string, args ...any) T {
	t.Helper()

	rows, err := f.admin.Query(t.Context(), sql, args...)
	require.NoError(t, err)

	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	require.NoError(t, err)

	return v
}

// ended stores a session with three events that ends now.
func (f *fixture) ended(t *testing.T, db *postgres.DB) string {
	t.Helper()

	now := f.clock.Now()
	session := tarsy.Session{
		ID: ident.New(), AlertType: "test", AlertData: "disk full", ChainID: "chain", AgentType: "agent", Author: "somebody",
		Status: tarsy.SessionCompleted, CreatedAt: now, CompletedAt: &now, FinalAnalysis: "it is full",
		AlertFacts: tarsy.AlertFacts{Labels: map[string]string{}, Links: []tarsy.AlertLink{}},
	}

	var events []tarsy.Event
	for _, status := range []tarsy.SessionStatus{tarsy.SessionPending, tarsy.SessionInProgress, tarsy.SessionCompleted} {
		events = append(events, tarsy.NewEvent(session.ID, tarsy.TypeSessionStatus,
			tarsy.SessionStatusPayload{Type: tarsy.TypeSessionStatus, SessionID: session.ID, Status: status, Timestamp: now}, now))
	}

	require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{}, events...))
	f.exec(t, `UPDATE sessions SET runnable_at = NULL WHERE id = $1`, session.ID)

	return session.ID
}

// talked records a chat with a session.
func (f *fixture) talked(t *testing.T, id string) {
	t.Helper()
	f.exec(t, `UPDATE sessions SET last_interaction_at = $2 WHERE id = $1`, id, f.clock.Now())
}

// events returns how many events a session's journal has.
func (f *fixture) events(t *testing.T, id string) int {
	t.Helper()

	return value[int](t, f, `SELECT count(*) FROM events WHERE session_id = $1`, id)
}

func (f *fixture) deleted(t *testing.T, id string) bool {
	t.Helper()

	return value[bool](t, f, `SELECT deleted_at IS NOT NULL FROM sessions WHERE id = $1`, id)
}

// lockEvents prevents events of a session from being deleted until unlock is called.
func (f *fixture) lockEvents(t *testing.T, id string) (unlock func()) {
	t.Helper()

	tx, err := f.admin.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })

	_, err = tx.Exec(t.Context(), `SELECT 1 FROM events WHERE session_id = $1 FOR UPDATE`, id)
	require.NoError(t, err)

	return func() { require.NoError(t, tx.Rollback(context.Background())) }
}

// logbook collects the log.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.text.Write(text)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.text.String()
}
