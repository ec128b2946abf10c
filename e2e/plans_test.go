package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// mustBeSeen returns parts of statements without which the recording is incomplete.
func mustBeSeen() map[string]string {
	return map[string]string{
		"the claim":                      `w.runnable_at, w.id LIMIT (SELECT n FROM room)`,
		"the claim with limits of teams": `::jsonb ->> e.team`,
		"the commit of steps":            `UPDATE sessions s SET last_seq = w.last_seq`,
		"the renewal of leases":          `UPDATE sessions s SET lease_until = greatest(s.lease_until`,
		"the release of a lease":         `UPDATE sessions SET lease_until = NULL, lease_counted = true`,
		"the intake":                     `INSERT INTO sessions`,
		"the lock of triage":             `FOR UPDATE OF a`,
		"the announcement of a server":   `INSERT INTO servers`,
		"the sum of a budget":            `usage_buckets`,
		"the count of the backlog":       `SELECT count(*) FROM (SELECT 1 FROM sessions s WHERE s.runnable_at IS NOT NULL`,
		"the outbox":                     `INSERT INTO announcements`,
		"the deletion of old sessions":   `UPDATE sessions s SET deleted_at`,
		"the purge":                      `DELETE FROM sessions WHERE id = ANY($1)`,
		"the trimming of journals":       `UPDATE sessions s SET trimmed_seq`,
		"the search for similar notes":   `counted AS MATERIALIZED`,
		"the review of notes":            `review_decisions`,
		"the completion of jobs":         `JobSetStateIfRunningMany`,
		"the election of River's leader": `LeaderAttemptElect`,
		"the question":                   `chat_user_messages`,
		"the decision about an approval": `JOIN approvals a ON a`,
		"a pause":                        `INSERT INTO pauses`,
		"feedback":                       `INSERT INTO feedback`,
		"handling":                       `UPDATE session_handling SET`,
	}
}

// isRight reports whether a scan without an index is the right plan. River's tables of leaders and queues have one row, or
// one row per queue, and we add no indexes to them. While jit is off, the cost of such a plan has no effect.
func isRight(sql string, node planNode) bool {
	for statement, table := range map[string]string{
		"-- name: Leader": "river_leader", "-- name: QueuePause": "river_queue", "-- name: QueueResume": "river_queue",
	} {
		if strings.Contains(sql, statement) && node.Relation == table {
			return true
		}
	}

	return false
}

// On connections with sequential scans disabled, a statement without an index has a plan with a prohibitive cost. Such a
// cost also makes PostgreSQL compile the statement on every execution, which took seconds for the claim.
func TestEveryStatementHasIndexWhereScansAreOff(t *testing.T) {
	t.Parallel()

	database, wires := recordStatements(t)

	for what, text := range mustBeSeen() {
		assert.True(t, slices.ContainsFunc(wires, func(w *wire) bool { return w.seen(text) }), "%s was not recorded: no statement contains %q", what, text)
	}

	groups := groupStatements(t, wires...)
	for _, g := range groups {
		t.Logf("%s: %d statements with a plan; without one: %v", g, len(g.statements), g.without)
	}

	found := &findings{scans: map[string]*finding{}}
	defer found.report(t)

	began := time.Now()

	for _, step := range []struct {
		name string
		run  func(where string)
	}{
		{"an empty database", func(where string) { found.unindexed(t, where, pgtest.New(t), groups) }},
		{"a small database", func(where string) {
			analyze(t, database)
			found.unindexed(t, where, database, groups)
			found.nested(t, where, database, groups)
		}},
		{"a large database", func(where string) {
			requireLarge(t, enlarge(t, database))
			found.unindexed(t, where, database, groups)
			found.nested(t, where, database, groups)
			found.reading(t, where, database, groups)
		}},
	} {
		step.run(step.name)
		t.Logf("all plans on %s: after %s", step.name, time.Since(began).Round(time.Millisecond))
	}
}

func requireLarge(t *testing.T, sizes map[string]int) {
	t.Helper()

	require.GreaterOrEqual(t, sizes["sessions"], manySessions)

	for table := range growing() {
		require.GreaterOrEqual(t, sizes[table], manyRows, "rows of %s", table)
	}
}

func analyze(t *testing.T, database string) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)

	_, err = conn.Exec(t.Context(), "ANALYZE")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}
