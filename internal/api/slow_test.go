package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// lockTimeline makes every query of a timeline wait until unlock is called.
func (f *fixture) lockTimeline(t *testing.T) (unlock func()) {
	t.Helper()

	tx, err := f.connect(t).Begin(t.Context())
	require.NoError(t, err)

	_, err = tx.Exec(t.Context(), "LOCK TABLE timeline_events IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)

	return func() { require.NoError(t, tx.Rollback(context.Background())) }
}

// awaitBlocked returns when n connections wait for a lock; each check is a round trip.
func (f *fixture) awaitBlocked(t *testing.T, n int) {
	t.Helper()

	conn := f.connect(t)

	for deadline, blocked := time.Now().Add(20*time.Second), 0; blocked != n; {
		require.True(t, time.Now().Before(deadline), "%d of %d connections wait for a lock", blocked, n)
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&blocked))
	}
}

func (f *fixture) connect(t *testing.T) *pgx.Conn {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), f.url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })

	return conn
}

func TestKeyChecksIntakeAndRequestsSkipSlowReads(t *testing.T) {
	t.Parallel()

	const readers, reads = 2, 16

	f := newFixtureOn(t, postgres.Config{MaxConns: readers, ReadTimeout: 20 * time.Second}, locked)
	_, key := f.key(t, "operator", tarsy.ScopeAdmin)
	id := f.session(t, func(*tarsy.Session) {})
	unlock := f.lockTimeline(t)
	done := make(chan answer, reads)

	for range reads {
		go func() { done <- f.request(t, http.MethodGet, "/api/v1/sessions/"+id+"/timeline", "", key...) }()
	}

	f.awaitBlocked(t, readers)

	// Each of these would wait until the lock is released if it shared a pool with the reads.
	require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/api/v1/me", "", key...).status)
	require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/health", "", key...).status)
	require.Equal(t, http.StatusAccepted, f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, key...).status)
	require.Equal(t, http.StatusAccepted, f.request(t, http.MethodPost, "/api/v1/sessions/"+id+"/cancel", "", key...).status)
	require.Empty(t, done, "the reads still wait")

	unlock()

	for range reads {
		require.Equal(t, http.StatusOK, (<-done).status)
	}
}

func TestReadOverItsTimeLimitIsClearProblem(t *testing.T) {
	t.Parallel()

	f := newFixtureOn(t, postgres.Config{MaxConns: 2, ReadTimeout: 50 * time.Millisecond})
	id := f.session(t, func(*tarsy.Session) {})
	unlock := f.lockTimeline(t)
	got := f.request(t, http.MethodGet, "/api/v1/sessions/"+id+"/timeline", "")
	problem := f.requireProblem(t, got, http.StatusGatewayTimeout, tarsy.CodeQueryTimeout)

	require.Equal(t, "The query was stopped because it took longer than system.query_timeout. "+
		"Narrow it, for example to a shorter period, and try again.", problem.Detail)
	require.Contains(t, f.log.String(), "code=query_timeout")

	unlock()
	require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/api/v1/sessions/"+id+"/timeline", "").status)
}
