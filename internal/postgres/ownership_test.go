package postgres_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// After intake, the step commit is the only code that writes session-owned tables. Claims, renewals, hand-overs and requests
// write the queue's columns of sessions; the clean-up drops events and marks what it did; purging removes what was deleted long
// ago. A restore fills the tables of an empty database, under locks that keep servers out.

const ownedTable = `(?:ONLY\s+)?(?:"?public"?\.)?"?` +
	`(sessions|stages|executions|timeline_events|messages|llm_interactions|mcp_interactions|verdicts|events|` + computed + `)\b"?`

// computed replaces what is not a literal in a statement. A table whose name is computed may be session-owned.
const computed = "computed__"

// updatePattern and writePattern match statements that change a session-owned table, but not DDL or FOR UPDATE.
var (
	updatePattern = regexp.MustCompile(`(?is)\b(UPDATE)\s+` + ownedTable + `(?:\s+(?:AS\s+)?[a-z]+)?\s+SET\b`)
	writePattern  = regexp.MustCompile(`(?is)\b(INSERT\s+INTO|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE(?:\s+TABLE)?|COPY)\s+` + ownedTable)
)

// restoreFile loads backups.
const restoreFile = "internal/postgres/dump/load.go"

// ownership is what a file may do to a table.
type ownership struct {
	verbs   []string
	columns []string // of an UPDATE; nil means any
}

// queueColumns are the columns that claims, leases and requests write.
func queueColumns() []string {
	return []string{"runnable_at", "lease_until", "lease_counted", "fence", "pod_id", "open_requests", "interruptions"}
}

// owner returns what a file may do to a table; the step commit may do anything.
func owner(file, table string) ownership {
	switch {
	case file == "internal/postgres/step.go":
		return ownership{verbs: []string{"INSERT", "UPDATE", "DELETE"}}
	case file == "internal/postgres/intake.go" && (table == "sessions" || table == "events"):
		return ownership{verbs: []string{"INSERT"}}
	case slices.Contains([]string{"internal/postgres/queue.go", "internal/postgres/renew.go", "internal/postgres/request.go"}, file) && table == "sessions":
		return ownership{verbs: []string{"UPDATE"}, columns: queueColumns()}
	case file == "internal/postgres/purge.go":
		return ownership{verbs: []string{"DELETE"}}
	// Its trigger is part of the statement that ends a session, for releases that leave the waiting calls as they are.
	case file == "internal/postgres/migrations/0044_withdrawn_calls.sql" && table == "mcp_interactions":
		return ownership{verbs: []string{"UPDATE"}, columns: []string{"status", "is_error", "error_message", "completed_at"}}
	case file == "internal/postgres/migrations/0044_withdrawn_calls.sql" && table == "timeline_events":
		return ownership{verbs: []string{"UPDATE"}, columns: []string{"metadata"}}
	// COPY writes in a restore and reads in a backup. Only the rows of migrations are deleted.
	case file == restoreFile && table == computed:
		return ownership{verbs: []string{"COPY", "DELETE"}}
	case file == "internal/postgres/dump/write.go" && table == computed:
		return ownership{verbs: []string{"COPY"}}
	case file == "internal/postgres/retention.go" && table == "events":
		return ownership{verbs: []string{"DELETE"}}
	case file == "internal/postgres/retention.go" && table == "sessions":
		return ownership{verbs: []string{"UPDATE"}, columns: []string{"deleted_at", "trimmed_seq", "trimmed_fence"}}
	}

	return ownership{}
}

// violations returns the statements of a text that write what the file does not own.
func violations(file, text string) []string {
	var found []string

	for _, match := range append(writePattern.FindAllStringSubmatchIndex(text, -1), updatePattern.FindAllStringSubmatchIndex(text, -1)...) {
		verb := strings.ToUpper(strings.Fields(text[match[2]:match[3]])[0])
		table := strings.ToLower(text[match[4]:match[5]])
		may := owner(file, table)

		switch {
		case !slices.Contains(may.verbs, verb):
			found = append(found, fmt.Sprintf("%s: %s %s", file, verb, table))
		case verb == "UPDATE" && may.columns != nil:
			for _, column := range assigned(text[match[1]:]) {
				if !slices.Contains(may.columns, column) {
					found = append(found, fmt.Sprintf("%s: UPDATE %s SET %s", file, table, column))
				}
			}
		}
	}

	return found
}

// assigned returns the columns of the assignments at the beginning of text.
func assigned(text string) []string {
	var (
		columns []string
		depth   int
		begin   int
	)

	end := regexp.MustCompile(`(?i)^\s(FROM|WHERE|RETURNING)\s`)

	for i := 0; i <= len(text); i++ {
		last := i == len(text) || text[i] == ';' || (depth == 0 && end.MatchString(text[i:]))

		if last || (depth == 0 && text[i] == ',') {
			column, _, _ := strings.Cut(text[begin:i], "=")
			columns = append(columns, strings.ToLower(strings.TrimSpace(column)))
			begin = i + 1
		}

		if last {
			break
		}

		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}

	return columns
}

// statements returns the strings of a Go file, with those joined by + as one, and the calls that write without a statement.
func statements(t *testing.T, path string) (texts, copies []string) {
	t.Helper()

	files := token.NewFileSet()

	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)

	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.BinaryExpr:
			if text, ok := joined(n); ok {
				texts = append(texts, text)

				return false
			}
		case *ast.BasicLit:
			if text, ok := joined(n); ok {
				texts = append(texts, text)
			}
		case *ast.SelectorExpr:
			if n.Sel.Name == "CopyFrom" {
				copies = append(copies, files.Position(n.Pos()).String())
			}
		}

		return true
	})

	return texts, copies
}

// joined returns the text of a string, or of strings joined by +, with computed in place of what is not a literal.
func joined(expression ast.Expr) (string, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}

		text, err := strconv.Unquote(e.Value)

		return text, err == nil
	case *ast.BinaryExpr:
		left, isLeft := joined(e.X)
		right, isRight := joined(e.Y)

		return left + right, e.Op == token.ADD && (isLeft || isRight)
	}

	return computed, false
}

func TestOnlyStepCommitWritesSessions(t *testing.T) {
	t.Parallel()

	root := moduleRoot(t)

	var (
		found []string
		seen  int
	)

	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		if name := entry.Name(); entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
			return fs.SkipDir
		}

		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}

		file := filepath.ToSlash(relative)

		switch {
		// A corpus of texts to search for secrets is data, including SQL in it. What internal/kit/scale loads is only imported by tests.
		case entry.IsDir() || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "internal/kit/corpus/") || strings.HasPrefix(file, "internal/kit/scale/"):
		case strings.HasSuffix(file, ".sql"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}

			seen++
			found = append(found, violations(file, string(text))...)
		case strings.HasSuffix(file, ".go"):
			texts, copies := statements(t, path)
			seen++

			for _, text := range texts {
				found = append(found, violations(file, text)...)
			}

			for _, at := range copies {
				if file != restoreFile {
					found = append(found, at+": CopyFrom")
				}
			}
		}

		return nil
	}))

	require.Greater(t, seen, 15, "the module was read")
	require.Empty(t, found, "only internal/postgres/step.go writes session-owned tables (intake.go creates sessions, retention.go cleans up)")
}

// moduleRoot returns the directory of go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()

	dir, err := os.Getwd()
	require.NoError(t, err)

	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}

		parent := filepath.Dir(dir)
		require.NotEqual(t, parent, dir, "there is no go.mod above")
		dir = parent
	}
}

// The check itself must find each of the violations, and nothing else.
func TestOwnershipCheckFindsViolations(t *testing.T) {
	t.Parallel()

	const queue, request, intake, step, retention, other = "internal/postgres/queue.go", "internal/postgres/request.go",
		"internal/postgres/intake.go", "internal/postgres/step.go", "internal/postgres/retention.go", "internal/engine/run.go"

	for _, test := range []struct {
		file, text string
		want       int
	}{
		{other, "INSERT INTO stages (id) VALUES ($1)", 1},
		{other, "insert into\n  events select * from x", 1},
		{other, `INSERT INTO "messages"(id) VALUES ($1)`, 1},
		{other, "INSERT INTO public.executions SELECT 1", 1},
		{other, "UPDATE sessions SET status = $1", 1},
		{other, "UPDATE sessions AS s SET lease_until = NULL", 1},
		{other, "UPDATE ONLY sessions s SET fence = 0", 1},
		{other, "DELETE FROM timeline_events", 1},
		{other, "TRUNCATE sessions", 1},
		{other, "COPY events FROM STDIN", 1},
		{other, "WITH x AS (DELETE FROM messages RETURNING id) SELECT * FROM x", 1},
		{other, "UPDATE sessions SET a = 1; DELETE FROM events", 2},
		{"internal/postgres/migrations/0009_x.sql", "UPDATE sessions SET status = 'failed';", 1},
		{queue, "UPDATE sessions SET lease_until = $1, status = 'failed' WHERE id = $2", 1},
		{queue, "UPDATE sessions s SET last_seq = s.last_seq + 1 FROM held", 1},
		{queue, "INSERT INTO sessions (id) VALUES ($1)", 1},
		{queue, "DELETE FROM sessions WHERE id = $1", 1},
		{request, "UPDATE sessions SET open_requests = coalesce(open_requests, 1), error_code = ''", 1},
		{intake, "UPDATE sessions SET status = 'pending'", 1},
		{intake, "INSERT INTO stages (id) VALUES ($1)", 1},
		{retention, "UPDATE sessions SET deleted_at = $1, status = 'failed'", 1},
		{retention, "UPDATE sessions s SET trimmed_seq = 0, last_seq = 0 FROM x", 1},
		{retention, "DELETE FROM sessions WHERE id = $1", 1},
		{retention, "DELETE FROM timeline_events WHERE session_id = $1", 1},
		{retention, "INSERT INTO events SELECT 1", 1},
		{retention, "UPDATE events SET payload = '{}'", 1},
		{"internal/retention/worker.go", "DELETE FROM events", 1},
		{other, "UPDATE sessions SET deleted_at = $1", 1},
		{other, "INSERT INTO " + computed + " (" + computed + ") SELECT 1", 1},
		{queue, "DELETE FROM " + computed, 1},

		{retention, "UPDATE sessions s SET trimmed_seq = t.last_seq, trimmed_fence = t.fence FROM t", 0},
		{retention, "UPDATE sessions SET deleted_at = $2 WHERE id = $1", 0},
		{retention, "DELETE FROM events e USING t WHERE e.session_id = t.id", 0},
		{step, "UPDATE sessions SET status = 'failed'", 0},
		{step, "INSERT INTO llm_interactions SELECT 1", 0},
		{step, "INSERT INTO " + computed + " (" + computed + ") SELECT 1", 0},
		{intake, "INSERT INTO sessions (id) VALUES ($1)", 0},
		{intake, "INSERT INTO events SELECT 1", 0},
		{queue, "UPDATE sessions s SET fence = s.fence + 1, pod_id = $1, lease_counted = CASE WHEN (a, b) = (1, 2) THEN true END\nFROM t", 0},
		{request, "UPDATE sessions SET open_requests = open_requests + 1, runnable_at = coalesce(runnable_at, $6)\n    WHERE id = $2", 0},
		{other, "SELECT * FROM sessions FOR UPDATE", 0},
		{other, "SELECT 1 FROM sessions s FOR UPDATE OF s SKIP LOCKED", 0},
		{other, "INSERT INTO requests (id) VALUES ($1)", 0},
		{other, "INSERT INTO chat_user_messages (id) VALUES ($1)", 0},
		{other, "CREATE TABLE events (seq bigint)", 0},
		{other, "could not update sessions in time", 0},
		{other, "UPDATE sessions_archive SET id = 1", 0},
	} {
		require.Len(t, violations(test.file, test.text), test.want, "%s: %s", test.file, test.text)
	}
}
