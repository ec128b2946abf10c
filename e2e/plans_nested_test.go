package e2e

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// Statements cause others that no client sends: those of triggers, and those with which PostgreSQL enforces foreign keys.
// They run with the settings of the connection, and EXPLAIN does not show them. With debug_print_plan, PostgreSQL sends the
// plan of every statement as a message, with the statement or function for which it was made.

var (
	writePattern = regexp.MustCompile(`(?i)\b(INSERT INTO|UPDATE|DELETE FROM)\s+(?:ONLY\s+)?([a-z_]+)`)
	// debugPattern matches the type, the disabled nodes (since PostgreSQL 18) and the cost of each node of a plan.
	debugPattern = regexp.MustCompile(`\{([A-Z]+) (?::[a-z.]*disabled_nodes (\d+) )?:[a-z.]*startup_cost \S+ :[a-z.]*total_cost ([0-9.e+]+)`)
	aliasPattern = regexp.MustCompile(`\{(?:ALIAS|RTE) :aliasname (\S+)`)
)

// nestedRows is the number of rows of a table that are changed: enough for triggers with conditions.
const nestedRows = 20

// nestedPlan is a plan that PostgreSQL made for a statement inside another one.
type nestedPlan struct{ context, detail string }

// avoided returns the nodes that PostgreSQL was told not to use.
func (p nestedPlan) avoided() []string {
	var found []string

	for _, node := range debugPattern.FindAllStringSubmatch(p.detail, -1) {
		cost, err := strconv.ParseFloat(node[3], 64)
		if (err == nil && cost >= never) || (node[2] != "" && node[2] != "0") {
			found = append(found, node[1])
		}
	}

	return found
}

// relations returns the names of the tables in a plan, as the statement calls them.
func (p nestedPlan) relations() []string {
	var names []string
	for _, alias := range aliasPattern.FindAllStringSubmatch(p.detail, -1) {
		names = append(names, alias[1])
	}

	slices.Sort(names)

	return slices.Compact(names)
}

// writes returns the tables that a group writes to, each with the operations.
func (g *statementGroup) writes(tables map[string][]column) map[string][]string {
	found := map[string][]string{}

	for sql := range g.statements {
		for _, write := range writePattern.FindAllStringSubmatch(sql, -1) {
			table, verb := write[2], strings.ToUpper(write[1][:6])
			if tables[table] != nil && !slices.Contains(found[table], verb) {
				found[table] = append(found[table], verb)
			}
		}
	}

	return found
}

// nestedPlans applies the operations of a group to some rows of each table, undoes them, and returns the plans of the
// statements that this caused.
func nestedPlans(t *testing.T, database string, group *statementGroup) []nestedPlan {
	t.Helper()

	var plans []nestedPlan

	conn := settledConn(t, database, group, func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Message == "plan:" && n.Where != "" {
			// PostgreSQL breaks lines at any space.
			plans = append(plans, nestedPlan{context: n.Where, detail: strings.ReplaceAll(n.Detail, "\n", " ")})
		}
	})
	tables := tableColumns(t, conn)
	writes := group.writes(tables)

	for _, table := range slices.Sorted(maps.Keys(writes)) {
		rewrite(t, conn, table, tables[table], writes[table])
	}

	return plans
}

// rewrite updates some rows of a table, deletes them and inserts them again. Operations that the group does not use run without triggers.
func rewrite(t *testing.T, conn *pgx.Conn, table string, columns []column, verbs []string) {
	t.Helper()

	var names, values []string

	for _, c := range columns {
		name := pgx.Identifier{c.Name}.Sanitize()
		names = append(names, name)

		if c.Type == "timestamp with time zone" {
			values = append(values, name+" = "+name+" + interval '1 second'")
		} else if c.Name != "id" { // River's id is always generated
			values = append(values, name+" = "+name)
		}
	}

	quoted, list := pgx.Identifier{table}.Sanitize(), strings.Join(names, ", ")

	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)

	defer tx.Rollback(t.Context())

	// Some triggers are only for rows with one status.
	choice := fmt.Sprintf("(SELECT * FROM %s LIMIT %d)", quoted, nestedRows)
	if slices.ContainsFunc(columns, func(c column) bool { return c.Name == "status" }) {
		choice = fmt.Sprintf("(SELECT DISTINCT ON (status) * FROM %s) UNION ALL %s", quoted, choice)
	}

	_, err = tx.Exec(t.Context(), fmt.Sprintf("CREATE TEMPORARY TABLE chosen ON COMMIT DROP AS SELECT * FROM (%s) AS candidates LIMIT %d", choice, nestedRows))
	require.NoError(t, err)

	_, err = tx.Exec(t.Context(), "SET LOCAL debug_pretty_print = off; SET LOCAL client_min_messages = log; SET LOCAL debug_print_plan = on")
	require.NoError(t, err)

	// One row at a time, because some cannot be deleted: the product first changes what refers to them.
	for _, change := range []struct{ verb, sql string }{
		{"UPDATE", fmt.Sprintf("UPDATE %s SET %s WHERE %s = (SELECT %[3]s FROM chosen OFFSET $1 LIMIT 1)", quoted, strings.Join(values, ", "), names[0])},
		{"DELETE", fmt.Sprintf("DELETE FROM %s WHERE %s = (SELECT %[2]s FROM chosen OFFSET $1 LIMIT 1)", quoted, names[0])},
		{"INSERT", fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %[2]s FROM chosen OFFSET $1 LIMIT 1 ON CONFLICT DO NOTHING", quoted, list)},
	} {
		role := "replica"
		if slices.Contains(verbs, change.verb) {
			role = "origin"
		}

		_, err := tx.Exec(t.Context(), "SET LOCAL session_replication_role = "+role)
		require.NoError(t, err)

		for n := range nestedRows {
			err := pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), change.sql, n)

				return err
			})
			if !violatesConstraint(err) {
				require.NoError(t, err, "%s of %s", change.verb, table)
			}
		}
	}
}

func violatesConstraint(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)

	return ok && strings.HasPrefix(refused.Code, "23")
}
