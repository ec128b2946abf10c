package retention_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/retention"
)

func TestJournalsAndSessionsExpireAfterTheirPeriods(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	cfg := f.config(t)
	old, talked := f.ended(t, cfg.DB), f.ended(t, cfg.DB)

	s := f.start(t, cfg)
	f.pass(t, 1, retention.Soon)
	require.Equal(t, 3, f.events(t, old), "it is not a day old")

	f.pass(t, 1, 23*time.Hour)
	f.talked(t, talked)
	require.Equal(t, 3, f.events(t, old), "still not")

	f.pass(t, 1, time.Hour)
	require.Zero(t, f.events(t, old))
	require.Equal(t, 3, f.events(t, talked), "somebody asked an hour ago")
	require.Equal(t, 3, value[int](t, f, `SELECT trimmed_seq FROM sessions WHERE id = $1`, old))

	f.pass(t, 1, day)
	require.Zero(t, f.events(t, talked))
	require.False(t, f.deleted(t, old))

	f.pass(t, 1, 87*day)
	f.talked(t, talked)
	require.False(t, f.deleted(t, old), "ninety days are not over")

	f.pass(t, 1, day)
	require.True(t, f.deleted(t, old))
	require.False(t, f.deleted(t, talked), "somebody asked a day ago")

	f.pass(t, 1, 90*day)
	require.True(t, f.deleted(t, talked))
	require.Equal(t, 2, value[int](t, f, `SELECT count(*) FROM sessions`), "nothing is deleted for good")
	s.stop(t)
	require.NotContains(t, f.log.String(), "level=ERROR")
	require.NotContains(t, f.log.String(), "level=WARN")
}

func TestJournalOfNotesIsTrimmedWithOthers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	cfg := f.config(t)
	trimmed := make(chan time.Time, 10)
	failures := 1
	cfg.TrimNotes = func(_ context.Context, before time.Time) (int, error) {
		trimmed <- before

		if failures--; failures == 0 {
			return 0, errors.New("failed on purpose")
		}

		return 7, nil
	}

	f.start(t, cfg)
	f.pass(t, 1, retention.Soon)
	require.Equal(t, f.clock.Now().Add(-day), <-trimmed)
	require.Equal(t, f.clock.Now().Add(-day), <-trimmed, "what fails is tried again")
	require.Contains(t, f.log.String(), `msg="journal of notes trimmed" events=7`)
}

func TestUnlimitedRetentionDeletesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	cfg := f.config(t)
	id := f.ended(t, cfg.DB)

	cfg.SessionRetention = 0
	f.start(t, cfg)
	require.NoError(t, f.clock.BlockUntilContext(t.Context(), 1))
	f.clock.Advance(365 * day)
	f.awaitf(t, func() bool { return f.events(t, id) == 0 }, "the journal to go")
	require.Zero(t, value[int](t, f, `SELECT count(*) FROM river_job WHERE kind = 'expire_sessions'`))

	cfg.EventTTL = 0
	idle, err := retention.New(cfg)
	require.NoError(t, err)
	idle.Start()
	idle.Stop() // nothing to do, nothing to wait for
	require.False(t, f.deleted(t, id))

	cfg.EventTTL = -1
	_, err = retention.New(cfg)
	require.Error(t, err)
}

func TestJobCompletesInTransactionOfLastBatch(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	cfg := f.config(t)
	id := f.ended(t, cfg.DB)

	const together = `SELECT j.xmin = s.xmin FROM river_job j, sessions s WHERE j.kind = $1 AND s.id = $2 ORDER BY j.id DESC LIMIT 1`

	f.start(t, cfg)
	f.pass(t, 1, 2*day)
	require.True(t, value[bool](t, f, together, "trim_journals", id))

	f.pass(t, 1, 90*day)
	require.True(t, value[bool](t, f, together, "expire_sessions", id))
}

func TestConcurrentServersRunPeriodJobsOnce(t *testing.T) {
	t.Parallel()

	const servers = 4

	f := newFixture(t)
	db := f.open(t)

	ids := make([]string, 20)
	for i := range ids {
		ids[i] = f.ended(t, db)
	}

	for range servers {
		cfg := f.config(t).Small(3)
		cfg.SessionRetention = 1000 * day // the other job would lock sessions, which this job would then skip
		f.start(t, cfg)
	}

	f.pass(t, servers, 100*day)

	for _, id := range ids {
		require.Zero(t, f.events(t, id))
	}

	// All of them schedule each period.
	f.pass(t, servers, time.Hour)
	f.pass(t, servers, time.Hour)
	require.NoError(t, f.clock.BlockUntilContext(t.Context(), servers))
	require.Equal(t, 6, value[int](t, f, `SELECT count(*) FROM river_job`), "two kinds in three periods")
	require.Equal(t, 6, value[int](t, f, `SELECT sum(attempt) FROM river_job`), "none was tried twice")
}

func TestLateServerDoesNotRepeatPeriod(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.start(t, f.config(t))
	f.pass(t, 1, retention.Soon)

	f.start(t, f.config(t))
	require.NoError(t, f.clock.BlockUntilContext(t.Context(), 2))
	f.clock.Advance(retention.Soon)
	require.NoError(t, f.clock.BlockUntilContext(t.Context(), 2), "the second server has planned")
	require.Equal(t, 2, value[int](t, f, `SELECT count(*) FROM river_job`))
}

func TestServersInDifferentTimeZonesScheduleSameJobs(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.start(t, f.config(t))
	f.pass(t, 1, retention.Soon)

	clock := clockwork.NewFakeClockAt(epoch().In(time.FixedZone("Kathmandu", int((5*time.Hour + 45*time.Minute).Seconds()))))
	cfg := f.config(t)
	cfg.Clock = clock
	f.start(t, cfg)

	require.NoError(t, clock.BlockUntilContext(t.Context(), 1))
	clock.Advance(retention.Soon)
	require.NoError(t, clock.BlockUntilContext(t.Context(), 1), "the second server has planned")
	require.Equal(t, 2, value[int](t, f, `SELECT count(*) FROM river_job`))
}

func TestStopIsSafeAnytimeAndTwice(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	cfg := f.config(t)

	fresh, err := newServer(cfg)
	require.NoError(t, err)
	fresh.stop(t)
	fresh.Start()
	fresh.Stop() // Start after Stop does nothing

	waiting := f.start(t, cfg)
	waiting.Start()
	waiting.stop(t)
	waiting.stop(t)

	working := f.start(t, cfg)
	f.pass(t, 1, retention.Soon)
	working.stop(t)
	working.stop(t)
}

// A job that is stopped midway keeps its progress, and the next one finishes it.
func TestStoppedServerJobIsFinishedByAnother(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	cfg := f.config(t).Small(1)

	first, second, third := f.ended(t, cfg.DB), "", ""

	for _, id := range []*string{&second, &third} {
		f.clock.Advance(time.Second)
		*id = f.ended(t, cfg.DB)
	}

	unlock := f.lockEvents(t, second)
	r := f.start(t, cfg)
	require.NoError(t, f.clock.BlockUntilContext(t.Context(), 1))
	f.clock.Advance(2 * day)
	f.awaitBlocked(t)
	r.stop(t)
	unlock()

	require.Zero(t, f.events(t, first))
	require.Equal(t, 3, f.events(t, second), "what was not finished was not begun")
	require.Zero(t, value[int](t, f, `SELECT trimmed_seq FROM sessions WHERE id = $1`, second))

	f.start(t, f.config(t))
	f.pass(t, 1, time.Hour)
	require.Zero(t, f.events(t, second))
	require.Zero(t, f.events(t, third))
}

func TestFailedSchedulingIsRetriedSoon(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.exec(t, `ALTER TABLE river_job RENAME TO elsewhere`)
	f.start(t, f.config(t))
	require.NoError(t, f.clock.BlockUntilContext(t.Context(), 1))
	f.clock.Advance(retention.Soon)
	f.awaitf(t, func() bool { return strings.Contains(f.log.String(), "could not schedule clean-up") }, "the failure")

	f.exec(t, `ALTER TABLE elsewhere RENAME TO river_job`)
	f.pass(t, 1, retention.Soon)
}
