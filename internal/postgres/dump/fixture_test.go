package dump_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/dump"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// hostile is text that could break a format with separators and escapes: what ends a COPY, what represents null, and letters of
// which some C libraries take single bytes for spaces.
var hostile = []string{
	"", " ", "\\.", "\\.\n", "a\n\\.\nb", "\\N", "NULL", "null", "a\tb\tc", "a\\tb", "\\", "\\\\", "\r\n", "\r", "one\ntwo\n", "'; DROP TABLE notes; --",
	`"quoted"`, "{1,2}", "(a,b)", "à Å \u0085 \u00a0 \u2028", "👩‍👩‍👧 \u202e\ufeff\u200d", "\x01\x02\x1b[2J\x7f", "ÿ€𝄞\U0010ffff",
}

// filled is a database in which a server, which has stopped, has done everything once.
func filled(t *testing.T) string {
	t.Helper()

	cluster := tarsytest.NewMCPServer("cluster", tarsytest.Tool{Name: "look", ReadOnly: true, Text: "a\tb\\.\n\\."})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{cluster}})
	app.Script.Add(
		script.Reply{Text: "Looking.", ToolCalls: []llm.ToolCall{{Name: "cluster__look", Arguments: `{}`}}},
		script.Reply{Text: "The cache has no bound."},
		script.Reply{Text: "No bound."},
	)

	app.Key("reader", tarsy.ScopeRead)

	session := app.Submit("test", "it is slow\t\\.\n")
	app.Watch(session).WaitStatus("completed")

	project := app.Project("Website")
	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Repair the machine"}))
	app.Script.Route(tarsytest.NoteOrganizer, tarsytest.Organizes(tarsytest.Place{ProjectID: project.ID}))
	app.CaptureAndProcess("Repair the machine")
	app.Stop()
	addHostileNotes(t, app.Database)

	return app.Database
}

func addHostileNotes(t *testing.T, database string) {
	t.Helper()

	conn := connect(t, database)

	for i, text := range hostile {
		_, err := conn.Exec(t.Context(), `INSERT INTO notes (id, content, source, author, idempotency_hash, idempotency_fingerprint, created_at, updated_at)
			VALUES (gen_random_uuid(), $1, 'cli', $1, $2, '\x00ff5c2e0a', now(), 'infinity')`, text, fmt.Appendf(nil, "\x00\\.%d", i))
		require.NoError(t, err)

		// A copy that sorts before the entity it was merged into, and numbers that are not numbers.
		_, err = conn.Exec(t.Context(), `WITH target AS (
				INSERT INTO entities (id, type, title, content, state, position, created_by, created_at, updated_at)
				VALUES (gen_random_uuid(), 'task', $1, $1, 'accepted', 0.1 + 0.2, $1, now(), now()) RETURNING id)
			INSERT INTO entities (id, type, title, state, position, merged_into, due_on, created_by, created_at, updated_at)
			SELECT gen_random_uuid(), 'task', $1, 'merged', 'NaN', id, '2026-03-01', 'me', now(), now() FROM target`, text)
		require.NoError(t, err)
	}

	require.NoError(t, conn.Close(t.Context()))
}

func connect(t *testing.T, database string) *pgx.Conn {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })

	return conn
}

func exec(t *testing.T, database, sql string) {
	t.Helper()

	conn := connect(t, database)
	_, err := conn.Exec(t.Context(), sql)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

func rows(t *testing.T, database, sql string) []string {
	t.Helper()

	conn := connect(t, database)
	texts := rowsOn(t, conn, sql)
	require.NoError(t, conn.Close(t.Context()))

	return texts
}

func rowsOn(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()

	found, err := conn.Query(t.Context(), sql)
	require.NoError(t, err)
	texts, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(t, err)

	return texts
}

// objects is the whole schema: tables with columns, indexes, constraints, triggers, functions, types and sequences.
func objects(t *testing.T, database string) []string {
	t.Helper()

	return rows(t, database, `
		SELECT 'column ' || attrelid::regclass || ' ' || attname || ' ' || format_type(atttypid, atttypmod) || attnotnull || attgenerated::text || attidentity::text
			FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
		UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
		UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
		UNION ALL SELECT 'trigger ' || tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL SELECT 'function ' || oid::regprocedure || coalesce(proconfig::text, '') FROM pg_proc WHERE pronamespace = 'public'::regnamespace
		UNION ALL SELECT 'type ' || typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e'
		UNION ALL SELECT 'relation ' || relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S', 'v', 'm')
		ORDER BY 1`)
}

// contents returns every row of every table, as JSON, which is not the notation of backups. It includes generated columns.
func contents(t *testing.T, database string) map[string][]string {
	t.Helper()

	all, conn := map[string][]string{}, connect(t, database)
	for _, table := range rowsOn(t, conn, `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relpersistence = 'p'`) {
		all[table] = rowsOn(t, conn, "SELECT to_json(t)::text FROM "+table+" t ORDER BY 1")
	}

	for _, name := range rowsOn(t, conn, `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'`) {
		all[name] = rowsOn(t, conn, "SELECT last_value || ' ' || is_called FROM "+name)
	}

	require.NoError(t, conn.Close(t.Context()))

	return all
}

func backup(t *testing.T, database string) string {
	t.Helper()

	file := filepath.Join(t.TempDir(), "tarsy.backup")
	_, err := dump.Write(t.Context(), dump.Options{URL: database, File: file, Version: "v1.2.3"})
	require.NoError(t, err)

	return file
}

func restore(t *testing.T, database, file string) *dump.Result {
	t.Helper()

	result, err := dump.Restore(t.Context(), dump.Options{URL: database, File: file})
	require.NoError(t, err)

	return result
}

func restoreError(t *testing.T, database, file string) string {
	t.Helper()

	_, err := dump.Restore(t.Context(), dump.Options{URL: database, File: file})
	require.Error(t, err)

	return err.Error()
}
