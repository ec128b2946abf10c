package board_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/board"
	"tarsy.dev/tarsy/notebook"
)

// many stores entities in one statement. Of every hundred, one is filed, one is a risk, one done, one proposed, and one contains "needle".
func (f *fixture) many(t *testing.T, count int) {
	t.Helper()

	_, err := f.pool.Exec(t.Context(), `
		WITH project AS (
			INSERT INTO projects (id, name, created_by, created_at, updated_at) VALUES (gen_random_uuid(), 'Many', 'ana', $2, $2) RETURNING id
		), epic AS (
			INSERT INTO epics (id, project_id, name, created_by, created_at, updated_at) SELECT gen_random_uuid(), id, 'Some', 'ana', $2, $2 FROM project RETURNING id
		), stored AS (
			INSERT INTO entities (id, type, title, content, owner, due_on, status, state, project_id, epic_id, session_id, position, created_by, created_at, updated_at)
			SELECT gen_random_uuid(), CASE WHEN n % 100 = 5 THEN 'risk' ELSE 'task' END, 'number ' || n, CASE WHEN n % 100 = 2 THEN 'needle' ELSE 'hay' END,
				'owner' || n % 100, date '2026-01-01' + n % 1000, CASE WHEN n % 100 = 0 THEN 'done' ELSE 'open' END, CASE WHEN n % 100 = 1 THEN 'proposed' ELSE 'accepted' END,
				CASE WHEN n % 100 = 3 THEN project.id END, CASE WHEN n % 100 = 3 THEN epic.id END, CASE WHEN n % 100 = 3 THEN gen_random_uuid() END,
				n, 'ana', $2::timestamptz - n * interval '1 second', $2
			FROM generate_series(1, $1) AS n, project, epic
			RETURNING id, position
		), tag AS (
			INSERT INTO tags (name, created_at) SELECT 'tag' || n, $2 FROM generate_series(0, 99) AS n RETURNING name
		)
		INSERT INTO entity_tags (entity_id, tag) SELECT stored.id, 'tag' || position::bigint % 100 FROM stored JOIN tag ON tag.name = 'tag' || position::bigint % 100`,
		count, f.rows.Now())
	require.NoError(t, err)
}

// node is a node of an executed plan.
type node struct {
	Type    string  `json:"Node Type"`
	Table   string  `json:"Relation Name"`
	Removed float64 `json:"Rows Removed by Filter"`
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Plans   []node  `json:"Plans"`
}

// read returns how many entities a plan reads, and whether it scans the whole table.
func (n node) read() (rows float64, whole bool) {
	if n.Table == "entities" {
		rows, whole = (n.Rows+n.Removed)*n.Loops, n.Type == "Seq Scan"
	}

	for _, child := range n.Plans {
		more, all := child.read()
		rows, whole = rows+more, whole || all
	}

	return rows, whole
}

// run runs a statement and returns its plan. It disables sequential scans, which the planner would choose for a table this small.
func (f *fixture) run(t *testing.T, statement board.Statement) (plan node, text []byte) {
	t.Helper()

	err := pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SET LOCAL enable_seqscan = off`); err != nil {
			return err
		}

		return tx.QueryRow(t.Context(), `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) `+statement.SQL, statement.Args...).Scan(&text)
	})
	require.NoError(t, err)

	var plans []struct{ Plan node }

	require.NoError(t, json.Unmarshal(text, &plans))

	return plans[0].Plan, text
}

// Every list reads its page through an index, and with a selective filter reads little more than the matches. Exact totals count the
// matches: without a filter, that is the whole table.
func TestEveryListIsServedByIndex(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.many(t, 6000)

	_, err := f.pool.Exec(t.Context(), `ANALYZE entities, entity_tags, entity_sources, projects, epics, tags`)
	require.NoError(t, err)

	var project, epic, session string
	require.NoError(t, f.pool.QueryRow(t.Context(), `SELECT project_id, epic_id, session_id FROM entities WHERE epic_id IS NOT NULL LIMIT 1`).Scan(&project, &epic, &session))

	day, err := calendar.ParseDate("2026-02-01")
	require.NoError(t, err)

	// A page may scan some of the newest entities instead.
	most := func(s board.Statement) float64 {
		if s.Count {
			return 150
		}

		return 1500
	}

	accepted := []notebook.EntityState{notebook.EntityAccepted}

	for name, c := range map[string]struct {
		query notebook.EntityQuery
		// all means that nearly all entities match, so that counting reads them all.
		all bool
	}{
		"all":      {notebook.EntityQuery{}, true},
		"accepted": {notebook.EntityQuery{States: accepted}, true},
		"proposed": {notebook.EntityQuery{States: []notebook.EntityState{notebook.EntityProposed}}, false},
		"rejected or merged": {
			notebook.EntityQuery{States: []notebook.EntityState{notebook.EntityRejected, notebook.EntityMerged}}, false,
		},
		"type":    {notebook.EntityQuery{Types: []notebook.EntityType{notebook.EntityRisk}, States: accepted}, false},
		"status":  {notebook.EntityQuery{Statuses: []notebook.EntityStatus{notebook.EntityDone}, States: accepted}, false},
		"project": {notebook.EntityQuery{ProjectID: project, States: accepted}, false},
		"epic":    {notebook.EntityQuery{EpicID: epic, States: accepted}, false},
		"unfiled": {notebook.EntityQuery{Unfiled: true, States: accepted}, true},
		"note":    {notebook.EntityQuery{NoteID: ident.New(), States: accepted}, false},
		"session": {notebook.EntityQuery{SessionID: session, States: accepted}, false},
		"owner":   {notebook.EntityQuery{Owner: "Owner7", States: accepted}, false},
		"tag":     {notebook.EntityQuery{Tag: "tag7", States: accepted}, false},
		"due":     {notebook.EntityQuery{DueFrom: &day, DueTo: &day, States: accepted}, false},
		"words":   {notebook.EntityQuery{Search: "needle number", States: accepted}, false},
	} {
		for _, c.query.Board = range []bool{false, true} {
			c.query.Limit = 10

			for _, statement := range board.Statements(c.query) {
				if statement.Count && c.all {
					continue
				}

				plan, text := f.run(t, statement)
				rows, whole := plan.read()
				require.False(t, whole, "%s, board %t: %s\n%s", name, c.query.Board, statement.SQL, text)
				require.LessOrEqual(t, rows, most(statement), "%s, board %t: %s\n%s", name, c.query.Board, statement.SQL, text)
			}
		}
	}
}
