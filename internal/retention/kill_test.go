package retention_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/retention"
)

const childVariable = "TARSY_RETENTION_CHILD"

// later is when the child cleans up.
func later() time.Time { return epoch().Add(2 * day) }

// child is a server that cleans up, one session at a time, until it is killed.
func child(url string) int {
	clock := clockwork.NewFakeClockAt(later())

	db, err := postgres.Open(context.Background(), postgres.Config{URL: url, Clock: clock})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}

	db.Start()

	s, err := newServer(retention.Config{DB: db, EventTTL: day, SessionRetention: 90 * day, Clock: clock}.Small(1))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}

	s.queue.Start()
	s.Start()

	if err := clock.BlockUntilContext(context.Background(), 1); err != nil {
		return 1
	}

	clock.Advance(retention.Soon)
	select {}
}

func TestKilledServerJobIsFinishedByAnother(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.open(t)

	var ids []string
	for range 3 {
		ids = append(ids, f.ended(t, db))
		f.clock.Advance(time.Second)
	}

	// The child trims the first journal, and then blocks in the middle of the second.
	unlock := f.lockEvents(t, ids[1])
	server := exec.CommandContext(t.Context(), os.Args[0])
	server.Env = append(os.Environ(), childVariable+"="+f.url)
	server.Stderr = os.Stderr
	require.NoError(t, server.Start())
	f.awaitBlocked(t)
	require.NoError(t, server.Process.Kill())
	_ = server.Wait()
	unlock()

	f.awaitf(t, func() bool {
		return value[int](t, f, `SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE a.datname = current_database() AND l.relation = 'events'::regclass AND l.mode = 'RowExclusiveLock'`) == 0
	}, "the dead server's transaction to end")

	require.Equal(t, []int{0, 3, 3}, []int{f.events(t, ids[0]), f.events(t, ids[1]), f.events(t, ids[2])})
	require.Equal(t, "running", value[string](t, f, `SELECT state FROM river_job WHERE kind = 'trim_journals'`))

	// River's own timeout would be an hour. The queue uses the real clock, so timestamps in the database are moved back.
	require.Less(t, jobs.RescueAfter, 5*time.Minute)
	f.exec(t, `UPDATE river_job SET attempted_at = attempted_at - $1::interval`, jobs.RescueAfter)
	f.exec(t, `UPDATE river_leader SET elected_at = elected_at - $1::interval, expires_at = expires_at - $1::interval`, jobs.RescueAfter)

	f.clock.Advance(later().Add(retention.Soon).Sub(f.clock.Now()))
	f.start(t, f.config(t))
	f.pass(t, 1, retention.Soon)
	require.Equal(t, []int{0, 0, 0}, []int{f.events(t, ids[0]), f.events(t, ids[1]), f.events(t, ids[2])})
	require.Equal(t, 2, value[int](t, f, `SELECT attempt FROM river_job WHERE kind = 'trim_journals'`))
	require.Equal(t, 1, value[int](t, f, `SELECT count(*) FROM river_job WHERE kind = 'trim_journals'`))
}
