package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// never is a cost that PostgreSQL gives to disabled scans, up to version 17, and that nothing else has.
const never = 1e9

// statementGroup is what connections with the same settings have sent.
type statementGroup struct {
	settings map[string]string
	// statements are those with a plan, by text.
	statements map[string]*wireStatement
	// without counts the others by kind.
	without map[string]int
}

// indexOnly reports whether sequential scans are disabled.
func (g *statementGroup) indexOnly() bool { return g.settings["enable_seqscan"] == "off" }

func (g *statementGroup) String() string {
	var set []string

	for _, name := range slices.Sorted(maps.Keys(g.settings)) {
		if strings.HasPrefix(name, "enable_") || name == "plan_cache_mode" {
			set = append(set, name+"="+g.settings[name])
		}
	}

	if len(set) == 0 {
		return "connections with default settings"
	}

	return "connections with " + strings.Join(set, ", ")
}

// groupStatements groups the recorded statements by the settings of their connections.
func groupStatements(t *testing.T, wires ...*wire) []*statementGroup {
	t.Helper()

	groups := map[string]*statementGroup{}

	for _, w := range wires {
		for _, c := range w.connections() {
			settings := maps.Clone(c.settings)
			delete(settings, "database")

			key := fmt.Sprint(settings)
			if groups[key] == nil {
				groups[key] = &statementGroup{settings: settings, statements: map[string]*wireStatement{}, without: map[string]int{}}
			}

			for _, s := range c.statements {
				groups[key].add(t, s)
			}
		}
	}

	var all []*statementGroup
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, groups[key])
	}

	return all
}

func (g *statementGroup) add(t *testing.T, s *wireStatement) {
	t.Helper()

	switch kind := statementKind(s.sql); kind {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "MERGE":
		if known := g.statements[s.sql]; known == nil || !known.bound {
			g.statements[s.sql] = s
		}
	case "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET", "SHOW", "LISTEN", "UNLISTEN", "LOCK", "EMPTY", "EXECUTE", "EXPLAIN", "DEALLOCATE":
		g.without[kind]++
	default:
		require.Fail(t, "unknown kind of statement", "Add %s to the kinds that have a plan or to those that have none:\n%s", kind, s.sql)
	}
}

// statementKind returns the first word of a statement. The claim and the pause lock and execute a prepared statement in one
// message; the prepared statement was recorded separately.
func statementKind(sql string) string {
	var code []string

	for line := range strings.Lines(sql) {
		if before, _, _ := strings.Cut(line, "--"); strings.TrimSpace(before) != "" {
			code = append(code, before)
		}
	}

	words := strings.Fields(strings.Join(code, " "))

	switch {
	case len(words) == 0:
		return "EMPTY"
	case strings.Contains(sql, `; EXECUTE "`):
		return "EXECUTE"
	default:
		return strings.ToUpper(strings.Trim(words[0], "(;"))
	}
}

// planNode is a node of a plan as EXPLAIN writes it.
type planNode struct {
	Type     string     `json:"Node Type"`
	Relation string     `json:"Relation Name"`
	Alias    string     `json:"Alias"`
	Filter   string     `json:"Filter"`
	Cost     float64    `json:"Total Cost"`
	Disabled bool       `json:"Disabled"` // since PostgreSQL 18
	Hit      float64    `json:"Shared Hit Blocks"`
	Read     float64    `json:"Shared Read Blocks"`
	Plans    []planNode `json:"Plans"`
}

// each visits the node and those below it.
func (n planNode) each(visit func(planNode)) {
	visit(n)

	for _, child := range n.Plans {
		child.each(visit)
	}
}

// avoided returns the nodes that PostgreSQL was told not to use, but used for lack of an alternative. The cost of a node
// includes that of its children, so the lowest ones are at fault.
func (n planNode) avoided() []planNode {
	var found []planNode
	for _, child := range n.Plans {
		found = append(found, child.avoided()...)
	}

	if n.Disabled || (n.Cost >= never && len(found) == 0) {
		found = append(found, n)
	}

	return found
}

func (n planNode) String() string {
	text := n.Type
	if n.Relation != "" {
		text += " on " + n.Relation
	}

	if n.Alias != "" && n.Alias != n.Relation {
		text += " as " + n.Alias
	}

	if n.Filter != "" {
		text += ", filter " + n.Filter
	}

	return fmt.Sprintf("%s, cost %.0f", text, n.Cost)
}

// explainer explains statements on a connection with the settings of a group.
type explainer struct {
	t    *testing.T
	conn *pgx.Conn
	made int
}

func newExplainer(t *testing.T, database string, group *statementGroup) *explainer {
	t.Helper()

	conn := settledConn(t, database, group, nil)

	return &explainer{t: t, conn: conn}
}

// settledConn returns a connection with the settings of a group.
func settledConn(t *testing.T, database string, group *statementGroup, notice pgconn.NoticeHandler) *pgx.Conn {
	t.Helper()

	config, err := pgx.ParseConfig(database)
	require.NoError(t, err)

	config.OnNotice = notice

	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })

	for name, value := range group.settings {
		// The parameters of the start-up message are recorded among them.
		if name != "user" && name != "application_name" && name != "statement_timeout" {
			_, err := conn.Exec(t.Context(), "SELECT set_config($1, $2, false)", name, value)
			require.NoError(t, err)
		}
	}

	return conn
}

// generic explains the plan for all values, which force_generic_plan makes PostgreSQL use.
func (e *explainer) generic(s *wireStatement) planNode {
	e.t.Helper()
	e.made++
	name := fmt.Sprintf("explained_%d", e.made)

	prepared, err := e.conn.PgConn().Prepare(e.t.Context(), name, s.sql, s.types)
	require.NoError(e.t, err, s.sql)

	sql := "EXPLAIN (FORMAT JSON) EXECUTE " + name
	if n := len(prepared.ParamOIDs); n > 0 {
		sql += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
	}

	results, err := e.conn.PgConn().Exec(e.t.Context(), sql).ReadAll()
	require.NoError(e.t, err, s.sql)

	return decodePlan(e.t, results[0])
}

// custom explains the plan for the values with which the statement was executed.
func (e *explainer) custom(s *wireStatement) planNode {
	e.t.Helper()

	result := e.conn.PgConn().ExecParams(e.t.Context(), "EXPLAIN (FORMAT JSON) "+s.sql, s.values, s.types, s.formats, nil).Read()
	require.NoError(e.t, result.Err, s.sql)

	return decodePlan(e.t, result)
}

// buffers executes a statement again with its recorded values, and returns how many pages were read, from memory or not.
func (e *explainer) buffers(s *wireStatement) float64 {
	e.t.Helper()

	result := e.conn.PgConn().ExecParams(e.t.Context(), "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+s.sql, s.values, s.types, s.formats, nil).Read()
	require.NoError(e.t, result.Err, s.sql)

	plan := decodePlan(e.t, result)

	return plan.Hit + plan.Read
}

func decodePlan(t *testing.T, result *pgconn.Result) planNode {
	t.Helper()

	var plans []struct{ Plan planNode }

	require.NoError(t, json.Unmarshal(result.Rows[0][0], &plans))

	return plans[0].Plan
}
