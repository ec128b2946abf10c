package retention_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeletedSessionsArePurgedAfterRetention(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.kinds = 3

	cfg := f.config(t)
	cfg.PurgeAfter = 30 * day
	id := f.ended(t, cfg.DB)

	s := f.start(t, cfg)
	f.pass(t, 1, 91*day)
	require.True(t, f.deleted(t, id))

	f.pass(t, 1, 29*day)
	require.Equal(t, 1, value[int](t, f, `SELECT count(*) FROM sessions`), "thirty days are not over")

	f.pass(t, 1, 2*day)
	require.Zero(t, value[int](t, f, `SELECT count(*) FROM sessions`))
	s.stop(t) // a job is completed before its worker logs the result
	require.Contains(t, f.log.String(), `msg="sessions purged" sessions=1`)
	require.NotContains(t, f.log.String(), "level=ERROR")
	require.NotContains(t, f.log.String(), "level=WARN")
}

// Servers of the previous release work on the queue "retention" and would fail jobs of this kind, which they do not know.
func TestPurgeJobsAreNotInPreviousReleaseQueue(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.kinds = 3

	cfg := f.config(t)
	cfg.PurgeAfter = 30 * day

	f.start(t, cfg)
	f.pass(t, 1, day)
	require.Equal(t, "purge", value[string](t, f, `SELECT queue FROM river_job WHERE kind = 'purge_sessions'`))
	require.Equal(t, 2, value[int](t, f, `SELECT count(*) FROM river_job WHERE queue = 'retention'`))
}

func TestPurgeAloneStartsQueue(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.kinds = 1

	cfg := f.config(t)
	cfg.EventTTL, cfg.SessionRetention, cfg.PurgeAfter = 0, 0, day
	id := f.ended(t, cfg.DB)
	f.exec(t, `UPDATE sessions SET deleted_at = $2 WHERE id = $1`, id, f.clock.Now())

	f.start(t, cfg)
	f.pass(t, 1, 2*day)
	require.Zero(t, value[int](t, f, `SELECT count(*) FROM sessions`))
}
