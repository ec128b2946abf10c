package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// findings are the scans that should use an index, by connections and table: many statements can lack the same index.
type findings struct {
	scans map[string]*finding
}

type finding struct {
	// problem, node, statement and remedy describe the first statement.
	problem, node, statement, remedy string
	// where are the databases, statements all statements that scan the table.
	where, statements []string
}

func (f *findings) add(key, where string, first finding) {
	if f.scans[key] == nil {
		f.scans[key] = &first
	}

	known := f.scans[key]
	if !slices.Contains(known.where, where) {
		known.where = append(known.where, where)
	}

	if !slices.Contains(known.statements, first.statement) {
		known.statements = append(known.statements, first.statement)
	}
}

// report fails the test if there are findings.
func (f *findings) report(t *testing.T) {
	t.Helper()

	for _, key := range slices.Sorted(maps.Keys(f.scans)) {
		scan := f.scans[key]
		t.Errorf("%s, on %s:\n  %s\nin the plan of this statement, and of %d others:\n  %.600s\n%s",
			scan.problem, strings.Join(scan.where, " and "), scan.node, len(scan.statements)-1, scan.statement, scan.remedy)
	}
}

const addIndex = "Add an index for it in a new migration (internal/postgres/migrations), or write the statement so that it uses one."

// unindexed looks for scans on connections where scans are disabled.
func (f *findings) unindexed(t *testing.T, where, database string, groups []*statementGroup) {
	t.Helper()

	for _, g := range groups {
		if !g.indexOnly() {
			continue
		}

		e := newExplainer(t, database, g)

		for _, sql := range slices.Sorted(maps.Keys(g.statements)) {
			for _, node := range e.generic(g.statements[sql]).avoided() {
				if !isRight(sql, node) {
					f.add(g.String()+node.Relation, where, finding{
						problem: node.Relation + " has no index that a statement can use on " + g.String() + " (see internal/postgres/settings.go)",
						node:    node.String(), statement: oneLine(sql), remedy: addIndex,
					})
				}
			}
		}
	}
}

func oneLine(sql string) string { return strings.Join(strings.Fields(sql), " ") }

// nested does the same for the statements of triggers and foreign keys.
func (f *findings) nested(t *testing.T, where, database string, groups []*statementGroup) {
	t.Helper()

	var contexts []string

	for _, g := range groups {
		if !g.indexOnly() {
			continue
		}

		for _, plan := range nestedPlans(t, database, g) {
			contexts = append(contexts, plan.context)

			if nodes := plan.avoided(); len(nodes) > 0 {
				f.add(plan.context, where, finding{
					problem: "A trigger or a foreign key has no index that it can use on " + g.String() + " (see internal/postgres/settings.go)",
					node:    strings.Join(nodes, ", ") + " on " + strings.Join(plan.relations(), ", "), statement: oneLine(plan.context), remedy: addIndex,
				})
			}
		}
	}

	expected := []string{`DELETE FROM ONLY "public"."requests"`} // a cascade from sessions
	for _, function := range triggerFunctions(t, database) {
		expected = append(expected, "PL/pgSQL function "+function+"(")
	}

	for _, text := range expected {
		assert.True(t, slices.ContainsFunc(contexts, func(context string) bool { return strings.Contains(context, text) }),
			"nothing of this was seen on %s: %s", where, text)
	}
}

// triggerFunctions returns the trigger functions that contain statements.
func triggerFunctions(t *testing.T, database string) []string {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)

	defer conn.Close(t.Context())

	rows, err := conn.Query(t.Context(), `SELECT DISTINCT p.proname::text FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
WHERE NOT g.tgisinternal AND p.proname NOT IN ('refuse_audit_change', 'clear_assignee_id')`)
	require.NoError(t, err)

	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return names
}

// reading checks readers and other connections with default settings, which can scan tables, but none that grows with sessions.
func (f *findings) reading(t *testing.T, where, database string, groups []*statementGroup) {
	t.Helper()

	for _, g := range groups {
		if g.indexOnly() {
			continue
		}

		e := newExplainer(t, database, g)

		for _, sql := range slices.Sorted(maps.Keys(g.statements)) {
			explain := e.custom
			if !g.statements[sql].bound { // it was executed with EXECUTE
				explain = e.generic
			}

			explain(g.statements[sql]).each(func(node planNode) {
				if node.Type == "Seq Scan" && growing()[node.Relation] {
					f.add(g.String()+node.Relation, where, finding{
						problem: "The whole of " + node.Relation + ", which grows with sessions, is read by " + g.String(),
						node:    node.String(), statement: oneLine(sql), remedy: addIndex,
					})
				}
			})
		}
	}
}
