package postgres_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func TestQuestionIsClaimedAtLimitsAndNotCounted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	session := f.Finished(t, db, tarsy.SessionCompleted)
	f.Hold(t, db) // fills the limit
	f.Create(t, db)
	f.Question(t, db, session.ID)

	full := postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: 0, MaxSessions: 1, Chats: 1, Lease: storetest.Lease}
	claims, err := db.Claim(t.Context(), full)
	require.NoError(t, err)
	require.Equal(t, []string{session.ID}, sessionIDs(claims))
	require.True(t, claims[0].Uncounted)
	require.Len(t, claims[0].State.Requests, 1)

	// It does not count: with room for one more session, one more is claimed.
	claims, err = db.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: 5, MaxSessions: 2, Lease: storetest.Lease})
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.False(t, claims[0].Uncounted)
}

func TestQuestionIsNotClaimedAsQueuedSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	session := f.Finished(t, db, tarsy.SessionCompleted)
	f.Question(t, db, session.ID)

	require.Empty(t, f.Claim(t, db, storetest.ServerA, 5), "there is room for investigations and none for questions")
	require.Len(t, f.ClaimAsked(t, db, storetest.ServerA, 1), 1)
}

func TestQuestionClaimsAreLimitedByFreeSlots(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)

	var want []string

	for range 5 {
		session := f.Finished(t, a, tarsy.SessionCompleted)
		f.Question(t, a, session.ID)
		f.Clock.Advance(time.Millisecond)

		want = append(want, session.ID)
	}

	first := f.ClaimAsked(t, a, storetest.ServerA, 2)
	require.ElementsMatch(t, want[:2], sessionIDs(first), "in the order in which they were asked")

	// Their server dies. The server that takes over has a limited room for waiting and orphaned questions together.
	f.Clock.Advance(2 * storetest.Lease)
	require.ElementsMatch(t, want[2:], sessionIDs(f.ClaimAsked(t, b, storetest.ServerB, 3)), "what waits comes first")

	taken := f.ClaimAsked(t, b, storetest.ServerB, 1)
	require.Len(t, taken, 1)
	require.Contains(t, want[:2], taken[0].SessionID)
	require.True(t, taken[0].Uncounted)
	require.Empty(t, f.ClaimAsked(t, b, storetest.ServerB, 0))
	require.Len(t, f.ClaimAsked(t, b, storetest.ServerB, 9), 1)
}

func TestAnswerOfDeadServerIsTakenOverWithoutFreeWorker(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	session := f.Finished(t, a, tarsy.SessionCompleted)
	f.Question(t, a, session.ID)

	claim := f.ClaimAsked(t, a, storetest.ServerA, 1)[0]
	stage := f.Begin(t, a, claim)
	require.Empty(t, f.ClaimAsked(t, b, storetest.ServerB, 1), "a lease holds for its time")
	f.Clock.Advance(2 * storetest.Lease)

	held, err := a.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Chats: 1, Lease: storetest.Lease, Held: []string{session.ID}})
	require.NoError(t, err)
	require.Empty(t, held, "not from oneself")

	taken := f.ClaimAsked(t, b, storetest.ServerB, 1)
	require.Equal(t, []string{session.ID}, sessionIDs(taken))
	require.Equal(t, stage.ID, taken[0].State.Stages[0].ID)
	require.Len(t, taken[0].State.Chats, 1)
	require.Len(t, taken[0].State.ChatMessages, 1)
	require.Empty(t, taken[0].State.Requests)

	_, err = a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Stages: []tarsy.Stage{storetest.Ended(stage, f.Clock.Now())}})
	require.ErrorIs(t, err, postgres.ErrFenceLost)
}

func TestCancelOfDeadServersSessionNeedsNoFreeWorker(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	cancelled, other := f.Hold(t, a), f.Hold(t, a)

	taken, err := b.AddCancel(t.Context(), storetest.NewRequest(cancelled.SessionID, tarsy.RequestCancel, f.Clock.Now()))
	require.NoError(t, err)
	require.True(t, taken)
	f.Clock.Advance(2 * storetest.Lease)

	full := postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerB, MaxSessions: 1, Cancels: 3, Chats: 3, Lease: storetest.Lease}
	claims, err := b.Claim(t.Context(), full)
	require.NoError(t, err)
	require.Equal(t, []string{cancelled.SessionID}, sessionIDs(claims))
	require.True(t, claims[0].Uncounted)
	require.True(t, storetest.Value[bool](t, f.Admin, `SELECT lease_counted FROM sessions WHERE id = $1`, other.SessionID))
}

func TestHandedOverAnswerWakesServersWithoutFreeWorker(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	session := f.Finished(t, a, tarsy.SessionCompleted)
	f.Question(t, a, session.ID)

	claim := f.ClaimAsked(t, a, storetest.ServerA, 1)[0]
	f.Begin(t, a, claim)

	awaitSignal := f.Listen(t)

	require.NoError(t, a.HandOver(t.Context(), claim.Lease))
	awaitSignal("requests")

	taken := f.ClaimAsked(t, b, storetest.ServerB, 1)
	require.Equal(t, []string{session.ID}, sessionIDs(taken))
	require.True(t, taken[0].Uncounted)
}

// planNode is a node of EXPLAIN's JSON.
type planNode struct {
	NodeType  string     `json:"Node Type"`
	IndexName string     `json:"Index Name"`
	Relation  string     `json:"Relation Name"`
	Rows      float64    `json:"Actual Rows"`
	Loops     float64    `json:"Actual Loops"`
	Removed   float64    `json:"Rows Removed by Filter"`
	Plans     []planNode `json:"Plans"`
}

// visited calls f with every node that reads a table, and the number of rows that it read.
func (n planNode) visited(f func(node planNode, rows float64)) {
	if strings.Contains(n.NodeType, "Scan") && n.NodeType != "CTE Scan" {
		f(n, (n.Rows+n.Removed)*max(n.Loops, 1))
	}

	for _, p := range n.Plans {
		p.visited(f)
	}
}

// The plan is made when the tables are empty, and cached: it must be good for full tables too.
func TestClaimReadsOnlyWhatItTakes(t *testing.T) {
	t.Parallel()

	const many, asked, bound = 20_000, 8, 100

	f := newFixture(t)
	db := f.Server(t)
	now := f.Clock.Now()
	args := pgx.NamedArgs{
		"now": now.Add(time.Hour), "until": now.Add(2 * time.Hour), "server": storetest.ServerA, "held": []string{},
		"slots": 4, "cancels": 16, "chats": 16, "maxsessions": 50,
		"version": 1, "has": storetest.DefaultCapabilities(), "abandon": time.Time{},
	}

	fill := func() {
		// Waiting, finished, finished with a question, and leased by servers that are alive and dead.
		f.Exec(t, `INSERT INTO sessions (id, alert_type, alert_data, chain_id, status, author, created_at, completed_at,
    runnable_at, lease_until, fence, open_requests, lease_counted)
SELECT gen_random_uuid(), 'test', 'it hurts', 'chain', kind.status, 'somebody', $1, kind.over, kind.runnable + n * interval '1 ms', kind.lease, 1,
    kind.requests, kind.counted
FROM (VALUES
    ('pending', $2::int, $4::timestamptz, $1::timestamptz, $4, 0, true),
    ('completed', $2, $1, $4, $4, 0, true),
    ('completed', $3, $1, $1, $4, 1, true),
    ('in_progress', 40, $4, $1, $1::timestamptz + interval '1 day', 0, true),
    ('in_progress', 2, $4, $1, $1, 0, true),
    ('completed', 2, $1, $1, $1, 0, false)) AS kind (status, count, over, runnable, lease, requests, counted),
    generate_series(1, kind.count) AS n`, now, many, asked, nil)
		// Older than all others, and impossible to run on this server: of an unknown chain, of recipes, of a newer engine.
		f.Exec(t, `INSERT INTO recipes (hash, needs, recipe, created_at)
SELECT 'recipe ' || n, ARRAY['mcp:' || n], '{}', $1 FROM generate_series(1, 4) AS n`, now)
		f.Exec(t, `INSERT INTO sessions (id, alert_type, alert_data, chain_id, status, author, created_at, runnable_at, recipe_hash, engine_version)
SELECT gen_random_uuid(), 'test', 'it hurts', 'unknown', 'pending', 'somebody', $1, $1::timestamptz - interval '1 day',
    CASE WHEN n % 5 > 0 THEN 'recipe ' || n % 5 END, 1 + n % 2
FROM generate_series(1, $2::int) AS n`, now, many)
		f.Exec(t, `INSERT INTO requests (id, session_id, kind, status, author, payload, created_at)
SELECT gen_random_uuid(), id, 'chat', 'open', 'somebody', '{}', created_at FROM sessions WHERE open_requests > 0`)
	}

	// analysed is whether PostgreSQL knows the size of the tables when it plans.
	for _, analysed := range []bool{false, true} {
		require.NoError(t, db.OnWorkConn(t.Context(), func(conn *pgx.Conn) error {
			sql, values, err := postgres.ClaimStatement(t.Context(), conn, args)
			require.NoError(t, err)

			if analysed {
				f.Exec(t, `ANALYZE sessions, requests`)
			}

			require.NoError(t, conn.DeallocateAll(t.Context()))

			statement, err := conn.Prepare(t.Context(), "claim", sql)
			require.NoError(t, err)

			execute := `EXECUTE claim ` + literals(t, conn, statement.ParamOIDs, values)

			tx, err := conn.Begin(t.Context())
			require.NoError(t, err)

			// The generic plan is made by the first execution.
			_, err = tx.Exec(t.Context(), `EXPLAIN `+execute)
			require.NoError(t, err)
			require.NoError(t, tx.Commit(t.Context()))

			if !analysed {
				fill()
			}

			tx, err = conn.Begin(t.Context())
			require.NoError(t, err)

			var raw []byte

			began := time.Now()

			require.NoError(t, tx.QueryRow(t.Context(), `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) `+execute).Scan(&raw))
			t.Logf("analysed %v: %s", analysed, time.Since(began))
			require.NoError(t, tx.Rollback(t.Context()))

			var plans []struct{ Plan planNode }

			require.NoError(t, json.Unmarshal(raw, &plans))

			var indexes []string

			plans[0].Plan.visited(func(node planNode, rows float64) {
				// There are only as many rows in servers as there are processes.
				require.False(t, node.NodeType == "Seq Scan" && node.Relation != "servers", string(raw))
				require.LessOrEqual(t, rows, float64(bound), "%s by %s, analysed %v: %s", node.NodeType, node.IndexName, analysed, raw)

				indexes = append(indexes, node.IndexName)
			})

			for _, index := range []string{"sessions_waiting", "sessions_requested", "sessions_asked", "sessions_leased"} {
				require.True(t, slices.Contains(indexes, index), "%s is not used: %v", index, indexes)
			}

			return nil
		}))
	}
}

// literals formats parameters as literals, because EXECUTE takes no parameters.
func literals(t *testing.T, conn *pgx.Conn, types []uint32, values []any) string {
	t.Helper()

	written := make([]string, len(values))

	for i, v := range values {
		text, err := conn.TypeMap().Encode(types[i], pgx.TextFormatCode, v, nil)
		require.NoError(t, err)

		written[i] = "'" + string(text) + "'"
	}

	return "(" + strings.Join(written, ", ") + ")"
}
