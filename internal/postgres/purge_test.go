package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// belongings counts a session's rows by table, over every table that has a session_id.
func (f *fixture) belongings(t *testing.T, id string) map[string]int {
	t.Helper()

	rows, err := f.Admin.Query(t.Context(), `SELECT table_name FROM information_schema.columns
WHERE table_schema = current_schema() AND column_name = 'session_id' ORDER BY table_name`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(tables), 8)

	counts := map[string]int{}
	for _, table := range tables {
		if n := storetest.Value[int](t, f.Admin, `SELECT count(*) FROM `+pgx.Identifier{table}.Sanitize()+` WHERE session_id = $1`, id); n > 0 {
			counts[table] = n
		}
	}

	return counts
}

// finishedWithAllRows stores a finished session with rows of every kind.
func (f *fixture) finishedWithAllRows(t *testing.T, db *postgres.DB) string {
	t.Helper()

	claim := f.Hold(t, db, storetest.NewEvents("intake", 1)...)
	now := f.Clock.Now()
	stage := storetest.NewStage(claim.SessionID, 1, now)
	execution := storetest.NewExecution(stage, 1, now)
	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{
		Stages: []tarsy.Stage{storetest.Ended(stage, now)}, Executions: []tarsy.Execution{execution},
		Timeline:        []tarsy.TimelineEvent{storetest.NewTimelineEvent(claim.SessionID, 1, now)},
		Messages:        []tarsy.Message{storetest.NewMessage(execution, 1, "hello", now)},
		LLMInteractions: []tarsy.LLMInteraction{storetest.NewLLMInteraction(claim.SessionID, &execution, tarsy.Usage{}, 1)},
		MCPInteractions: []tarsy.MCPInteraction{storetest.NewMCPInteraction(execution, "call", 1)},
	})
	require.NoError(t, err)
	f.end(t, db, claim, storetest.NewEvents("event", 2))

	f.Question(t, db, claim.SessionID)
	asked := f.ClaimAsked(t, db, storetest.ServerA, 1)
	require.Len(t, asked, 1)
	answer := f.Begin(t, db, asked[0])
	_, err = db.Hold(asked[0].Lease).Commit(t.Context(), progress.Step{Stages: []tarsy.Stage{storetest.Ended(answer, f.Clock.Now())}, Release: true})
	require.NoError(t, err)

	f.Exec(t, `INSERT INTO session_alerts (session_id, fingerprint, group_key, last_at) VALUES ($1, 'fp', 'group', now())`, claim.SessionID)
	f.suppress(t, &claim.SessionID, f.Clock.Now())

	_, err = db.PutFeedback(t.Context(), newFeedback(claim.SessionID, "ana", tarsy.RatingWrong, f.Clock.Now()))
	require.NoError(t, err)

	f.handle(t, db, claim.SessionID, "ana", tarsy.HandlingChange{State: new(tarsy.HandlingAcknowledged), AddTags: []string{"disk"}})
	require.NoError(t, account.New(db).CreateShare(t.Context(), tarsy.Share{
		ID: ident.New(), SessionID: claim.SessionID, Author: "ana", CreatedAt: f.Clock.Now(), ExpiresAt: f.Clock.Now().Add(time.Hour),
	}, []byte(claim.SessionID)))

	return claim.SessionID
}

// suppress stores a suppressed alert.
func (f *fixture) suppress(t *testing.T, sessionID *string, at time.Time) {
	t.Helper()

	f.Exec(t, `INSERT INTO suppressed_alerts (id, reason, owner, session_id, alert_type, title, severity, service, namespace, cluster, team, labels, links,
    fingerprint, group_key, source, receiver, alert, firing, occurrences, first_at, last_at, times)
VALUES ($1, 'duplicate', $2, $3, '', '', '', '', '', '', '', '{}', '[]', '', '', '', '', '{}', true, 1, $4, $4, '{}')`,
		ident.New(), ident.New(), sessionID, at)
}

func TestPurgeRemovesOldSuppressedAlertsAndSilences(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	old := f.Clock.Now()

	f.suppress(t, nil, old)
	f.suppress(t, nil, old.Add(time.Hour))

	for _, end := range []time.Time{old, old.Add(time.Hour)} {
		f.Exec(t, `INSERT INTO silences (id, matchers, reason, author, starts_at, ends_at, created_at) VALUES ($1, '{a=b}', '', '', $2, $2, $2)`, ident.New(), end)
	}

	_, err := db.PurgeSessions(t.Context(), old.Add(time.Minute), 10, nothing)
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM suppressed_alerts WHERE last_at > $1`, old))
	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM suppressed_alerts`))
	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM silences`))
}

func TestPurgeRemovesEveryRowOfDeletedSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	gone, kept := f.finishedWithAllRows(t, db), f.finishedWithAllRows(t, db)
	before := f.belongings(t, kept)
	require.Len(t, f.belongings(t, gone), len(before))
	require.GreaterOrEqual(t, len(before), 10, "rows of every kind: %v", before)

	require.NoError(t, db.DeleteSession(t.Context(), gone))
	f.Clock.Advance(time.Hour)

	swept, err := db.PurgeSessions(t.Context(), f.Clock.Now().Add(-2*time.Hour), 10, nothing)
	require.NoError(t, err)
	require.Zero(t, swept, "it was deleted an hour ago")

	swept, err = db.PurgeSessions(t.Context(), f.Clock.Now(), 10, nothing)
	require.NoError(t, err)
	require.Equal(t, postgres.Swept{Sessions: 1}, swept)
	require.Empty(t, f.belongings(t, gone))
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions WHERE id = $1`, gone))
	require.Equal(t, before, f.belongings(t, kept))
}

func TestPurgeIsBoundedAndAtomicWithJobCompletion(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for range 3 {
		require.NoError(t, db.DeleteSession(t.Context(), f.ended(t, db, 2).ID))
	}

	f.Clock.Advance(time.Hour)

	_, err := db.PurgeSessions(t.Context(), f.Clock.Now(), 10, func(pgx.Tx) error { return pgx.ErrTxClosed })
	require.ErrorIs(t, err, pgx.ErrTxClosed)
	require.Equal(t, 3, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions`), "nothing was removed")

	for _, want := range []postgres.Swept{{Sessions: 2, More: true}, {Sessions: 1}} {
		swept, err := db.PurgeSessions(t.Context(), f.Clock.Now(), 2, nothing)
		require.NoError(t, err)
		require.Equal(t, want, swept)
	}
}

func TestPurgeSkipsLockedAndBusySessions(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	locked, leased := f.ended(t, db, 2).ID, f.ended(t, db, 2).ID
	f.ask(t, db, leased)
	f.Exec(t, `UPDATE sessions SET deleted_at = $1`, f.Clock.Now())
	f.Clock.Advance(time.Hour)

	unlock := f.Lock(t, locked)
	swept, err := db.PurgeSessions(t.Context(), f.Clock.Now(), 10, nothing)
	require.NoError(t, err)
	require.Zero(t, swept)
	unlock()

	swept, err = db.PurgeSessions(t.Context(), f.Clock.Now(), 10, nothing)
	require.NoError(t, err)
	require.Equal(t, postgres.Swept{Sessions: 1}, swept)
	require.Equal(t, leased, storetest.Value[string](t, f.Admin, `SELECT id::text FROM sessions`))
}
