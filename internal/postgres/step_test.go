package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// Each version of a session's row costs an entry in most of the table's indexes.
func TestStepWritesItsSessionRowOnce(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)

	f.Exec(t, `CREATE SEQUENCE written MINVALUE 0 START 0`)
	f.Exec(t, `SELECT nextval('written')`)
	f.Exec(t, `CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('written'); RETURN NULL; END $$`)
	f.Exec(t, `CREATE TRIGGER count_write AFTER UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION count_write()`)

	session := claim.State.Session
	now := f.Clock.Now()
	session.Status, session.StartedAt = tarsy.SessionInProgress, &now
	holder := db.Hold(claim.Lease)

	_, err := holder.Commit(t.Context(), progress.Step{Session: &session, Stages: []tarsy.Stage{storetest.NewStage(session.ID, 1, now)}, Events: storetest.NewEvents("begin", 2)})
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT last_value FROM written`))

	_, err = holder.Commit(t.Context(), progress.Step{Events: storetest.NewEvents("middle", 3)})
	require.NoError(t, err)
	require.Equal(t, 2, storetest.Value[int](t, f.Admin, `SELECT last_value FROM written`))
	require.Equal(t, "in_progress", storetest.Value[string](t, f.Admin, `SELECT status FROM sessions`), "what no step put stays")

	session.Status, session.CompletedAt = tarsy.SessionCompleted, &now

	committed, err := holder.Commit(t.Context(), progress.Step{Session: &session, Events: storetest.NewEvents("end", 1), Release: true})
	require.NoError(t, err)
	require.True(t, committed.Released)
	require.Equal(t, int64(6), committed.LastSeq)
	require.Equal(t, 3, storetest.Value[int](t, f.Admin, `SELECT last_value FROM written`))
	require.Equal(t, "completed free", storetest.Value[string](t, f.Admin,
		`SELECT status || CASE WHEN lease_until IS NULL AND runnable_at IS NULL AND lease_counted THEN ' free' ELSE '' END FROM sessions`))
	require.Len(t, f.Journal(t, session.ID), 6)
}
