//go:build bench

package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

const (
	// loadChunk is how many sessions one COPY has, and loaders how many of them run at once.
	loadChunk = 5000
	loaders   = 2
	// callsPerSession is how many LLM calls a session has.
	callsPerSession = 4
	loadedDays      = 90
)

// loadSessions fills an empty database with n sessions of the last 90 days and their LLM calls. The triggers of the schema
// are at work; the text index is made afterwards, which is faster.
func loadSessions(t *testing.T, url string, n int) {
	t.Helper()
	require.NoError(t, postgres.Migrate(t.Context(), url))

	definition := query[string](t, url, "SELECT indexdef FROM pg_indexes WHERE indexname = 'session_list_words'")
	execute(t, url, "DROP INDEX session_list_words")

	now := time.Now()
	chunks := make(chan int)

	var group sync.WaitGroup
	for range loaders {
		group.Go(func() {
			conn, err := pgx.Connect(context.Background(), url)
			require.NoError(t, err)

			defer conn.Close(context.Background())

			_, err = conn.Exec(t.Context(), "SET synchronous_commit = off")
			require.NoError(t, err)

			for first := range chunks {
				loadSessionChunk(t, conn, now, first, min(first+loadChunk, n), n)
			}
		})
	}

	for first := 0; first < n; first += loadChunk {
		chunks <- first
	}

	close(chunks)
	group.Wait()
	execute(t, url, definition)
	loadHandling(t, url)
	execute(t, url, "VACUUM ANALYZE")
}

// loadHandling makes nine of ten sessions that are over resolved ones of fifty people. Half of them have a tag that many have, and one of a
// thousand has a rare one.
func loadHandling(t *testing.T, url string) {
	t.Helper()

	for _, sql := range []string{
		`INSERT INTO session_handling (session_id, state, assignee, acknowledged_by, acknowledged_at, resolved_by, resolved_at, resolution, version, updated_at, updated_by)
SELECT session_id, 'resolved', 'person-' || n % 50, '', NULL, 'person-' || n % 50, created_at, 'Restarted it.', 1, created_at, 'person-' || n % 50
FROM (SELECT session_id, created_at, row_number() OVER (ORDER BY created_at) AS n FROM session_list WHERE status <> '') AS l WHERE n % 10 > 0`,
		`INSERT INTO session_tags (session_id, key, tag)
SELECT session_id, tag, tag FROM (SELECT session_id, row_number() OVER (ORDER BY session_id) AS n FROM session_handling) AS h
CROSS JOIN LATERAL (SELECT 'common' AS tag WHERE n % 2 = 0 UNION ALL SELECT 'rare-' || n % 5 WHERE n % 1000 = 0) AS t`,
		`UPDATE session_list l SET handling = h.state, assignee = h.assignee FROM session_handling h WHERE h.session_id = l.session_id`,
	} {
		execute(t, url, sql)
	}
}

func execute(t *testing.T, url, sql string) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func loadSessionChunk(t *testing.T, conn *pgx.Conn, now time.Time, first, end, n int) {
	t.Helper()

	var sessions, calls [][]any

	for i := first; i < end; i++ {
		id, at := tarsy.NewID(), now.Add(-loadedDays*24*time.Hour/time.Duration(n)*time.Duration(n-i))
		status := loadedStatus(i, n)

		var completed *time.Time
		if status.Terminal() {
			completed = new(at.Add(40 * time.Second))
		}

		service := []string{"checkout", "payments", "search", "cart", "auth", "billing", "catalog", "mail"}[i%8]
		sessions = append(sessions, []any{
			id, "type-" + strconv.Itoa(i/8%20), fmt.Sprintf("Pod %s-%s in prod/%s was OOMKilled on node 10.%d.%d.%d, exit_code=137, trace %s",
				service, hash(i)[:10], service, i>>16&255, i>>8&255, i&255, hash(-i)),
			"chain-" + strconv.Itoa(i/8%5), string(status), "user-" + strconv.Itoa(i/8%50),
			"The pod ran out of memory because its cache has no bound. Restart " + service + " with a limit; see runbook " + strconv.Itoa(i%1000) + ".",
			"Memory of " + service + " ran out.", at, at, completed, 12, 1, 1, 1,
			"Pod of " + service + " was killed", string(tarsy.Severities()[i/3%4]), service, "namespace-" + strconv.Itoa(i/8%40), "cluster-" + strconv.Itoa(i%3),
			"team-" + strconv.Itoa(i/8%12), hash(i / 10)[:16], map[string]string{"service": service, "env": "prod", "pod": hash(i / 100)[:10]},
		})

		for call := range callsPerSession {
			calls = append(calls, []any{
				tarsy.NewID(), id, "iteration", "provider-" + strconv.Itoa(call%2), "model-" + strconv.Itoa(call%3),
				`{"input_tokens": 900, "output_tokens": 600, "total_tokens": 1500, "cost_usd": 0.0125}`, at.Add(time.Duration(call) * 5 * time.Second),
			})
		}
	}

	_, err := conn.CopyFrom(t.Context(), pgx.Identifier{"sessions"}, []string{
		"id", "alert_type", "alert_data", "chain_id", "status", "author", "final_analysis", "executive_summary", "created_at", "started_at",
		"completed_at", "last_seq", "fence", "stage_count", "trimmed_fence",
		"title", "severity", "service", "namespace", "cluster", "team", "fingerprint", "labels",
	}, pgx.CopyFromRows(sessions))
	require.NoError(t, err)

	_, err = conn.CopyFrom(t.Context(), pgx.Identifier{"llm_interactions"}, []string{
		"id", "session_id", "interaction_type", "provider", "model_name", "usage", "created_at",
	}, pgx.CopyFromRows(calls))
	require.NoError(t, err)
}

// loadedStatus is that of a session: the newest 10,000 are not over, of which the newest 200 run or wait and the others wait, and one
// of twelve did not complete.
func loadedStatus(i, n int) tarsy.SessionStatus {
	switch {
	case i >= n-min(200, n/5):
		return []tarsy.SessionStatus{tarsy.SessionPending, tarsy.SessionInProgress, tarsy.SessionCancelling}[i%3]
	case i >= n-min(10_000, n/5):
		return tarsy.SessionPending
	case i%20 == 1:
		return tarsy.SessionFailed
	case i%50 == 2:
		return tarsy.SessionCancelled
	case i%100 == 3:
		return tarsy.SessionTimedOut
	default:
		return tarsy.SessionCompleted
	}
}

func hash(i int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))

	return hex.EncodeToString(sum[:16])
}
