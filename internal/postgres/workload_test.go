package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func TestWorkloadCountsOpenSessionsAndQueue(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	empty, err := db.Workload(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.Workload{}, empty)

	for _, status := range tarsy.SessionStatuses() {
		if status != tarsy.SessionPending {
			f.put(t, db, status, unchanged)
		}
	}

	f.Exec(t, `UPDATE sessions SET runnable_at = NULL`) // like those that a server works on

	f.put(t, db, tarsy.SessionPending, unchanged)
	f.Claim(t, db, storetest.ServerA, 1)
	f.put(t, db, tarsy.SessionPending, unchanged)
	oldest := f.Clock.Now()
	urgent := f.put(t, db, tarsy.SessionPending, unchanged)
	f.Exec(t, `UPDATE sessions SET runnable_at = created_at - interval '1 hour' WHERE id = $1`, urgent)
	f.Exec(t, `INSERT INTO pgjournal_entries (journal_id, batch, idx, at, entry) VALUES (1, 1, 0, $1, '{}')`, f.Clock.Now())

	load, err := db.Workload(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.Workload{
		Pending: 3, InProgress: 1, Cancelling: 1, Waiting: 2, OldestWaiting: load.OldestWaiting, Unnumbered: 1,
	}, load)
	require.WithinDuration(t, oldest, *load.OldestWaiting, time.Millisecond, "the one that waits longest, not the one that comes next")
}

// Each server reads it every few seconds, however many sessions there are.
func TestWorkloadIsReadFromIndexes(t *testing.T) {
	t.Parallel()

	const finished, waiting, running = 5000, 200, 20

	f := newFixture(t)
	db := f.Server(t)

	f.Exec(t, `INSERT INTO sessions (id, alert_type, alert_data, chain_id, status, author, created_at, completed_at, runnable_at)
SELECT gen_random_uuid(), 'test', 'x', 'chain', kind.status, 'ann', $1::timestamptz + n * interval '1 second',
       CASE WHEN kind.status = 'completed' THEN $1::timestamptz END, CASE WHEN kind.status = 'pending' THEN $1::timestamptz END
FROM (VALUES ('completed', $2::int), ('pending', $3), ('in_progress', $4)) AS kind (status, count), generate_series(1, kind.count) AS n`,
		storetest.Epoch(), finished, waiting, running)
	f.Exec(t, `ANALYZE sessions, session_list`)

	plan, err := db.WorkloadPlan(t.Context())
	require.NoError(t, err)

	for _, index := range []string{"sessions_waiting", "sessions_running", "session_list_status", "pgjournal_entries_waiting"} {
		require.Contains(t, plan, index)
	}

	require.NotContains(t, plan, "Seq Scan on session")

	load, err := db.Workload(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{waiting, waiting, running}, []int{load.Pending, load.Waiting, load.InProgress})
}

func TestPoolStatsNameEveryPool(t *testing.T) {
	t.Parallel()

	stats := newFixture(t).Server(t).PoolStats()
	for _, name := range []string{"readers", "front", "work", "jobs", "notes", "alerts"} {
		require.Positive(t, stats[name].MaxConns(), name)
	}
}
