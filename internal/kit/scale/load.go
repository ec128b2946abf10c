package scale

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// chunk is how many sessions one statement creates. Their rows are kept in memory for the triggers.
const chunk = 50_000

// Size is how much data Load creates.
type Size struct {
	Sessions int
	// Calls is how many LLM calls each session has.
	Calls int
	// Until is when the last session was created. The first is 90 days older.
	Until time.Time
}

// Load fills a database that has only the schema. The schema's triggers run, except session_list_insert, whose work listSQL
// does. Indexes are created afterwards, which is faster. The same arguments produce the same rows in the same places, and
// the planner's statistics cover all rows, so the same statement reads the same pages every time. Autovacuum is off for all
// tables.
func Load(ctx context.Context, url string, size Size) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was left undone on it

	if _, err := conn.Exec(ctx, settingsSQL); err != nil {
		return fmt.Errorf("prepare to load sessions: %w", err)
	}

	restore, err := dropIndexes(ctx, conn)
	if err != nil {
		return fmt.Errorf("drop indexes: %w", err)
	}

	for first := 0; first < size.Sessions; first += chunk {
		if err := loadChunk(ctx, conn, size, first); err != nil {
			return err
		}
	}

	for _, sql := range append([]string{executionsSQL, toolCallsSQL, approvalsSQL, handlingSQL, tagsSQL, handledListSQL}, restore...) {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("load sessions: %w:\n%s", err, sql)
		}
	}

	if _, err := conn.Exec(ctx, "VACUUM (ANALYZE, FREEZE)"); err != nil {
		return fmt.Errorf("analyze the tables: %w", err)
	}

	return nil
}

// loadChunk creates the sessions starting at first, their list entries and their calls.
func loadChunk(ctx context.Context, conn *pgx.Conn, size Size, first int) error {
	numbers := []any{first, min(first+chunk, size.Sessions), size.Sessions, size.Until}

	for _, step := range []struct {
		sql  string
		args []any
	}{
		{"ALTER TABLE sessions DISABLE TRIGGER session_list_insert", nil},
		{sessionsSQL, numbers},
		{listSQL, numbers},
		{"ALTER TABLE sessions ENABLE TRIGGER session_list_insert", nil},
		{callsSQL, append(numbers, size.Calls)},
	} {
		if _, err := conn.Exec(ctx, step.sql, step.args...); err != nil {
			return fmt.Errorf("load sessions: %w:\n%s", err, step.sql)
		}
	}

	return nil
}

// loadedTables are the tables whose indexes are created after loading.
const loadedTables = "'sessions', 'session_list', 'llm_interactions', 'session_handling', 'session_tags'"

// dropIndexes drops the indexes that no constraint needs and returns the statements that recreate them.
func dropIndexes(ctx context.Context, conn *pgx.Conn) (restore []string, err error) {
	rows, err := conn.Query(ctx, `SELECT pg_get_indexdef(i.indexrelid), i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN (`+loadedTables+`) AND NOT i.indisunique ORDER BY 2`)
	if err != nil {
		return nil, err
	}

	type index struct{ Definition, Name string }

	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	if err != nil {
		return nil, err
	}

	for _, i := range indexes {
		if _, err := conn.Exec(ctx, "DROP INDEX "+i.Name); err != nil {
			return nil, err
		}

		restore = append(restore, i.Definition)
	}

	return restore, nil
}
