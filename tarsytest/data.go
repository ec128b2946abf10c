package tarsytest

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// Rows reads rows from the database as structs, matching columns to fields by name: for data that the API does not show.
func Rows[T any](a *App, sql string, args ...any) []T {
	a.t.Helper()

	var all []T

	a.connected(func(ctx context.Context, conn *pgx.Conn) {
		rows, err := conn.Query(ctx, sql, args...)
		require.NoError(a.t, err)

		all, err = pgx.CollectRows(rows, pgx.RowToStructByName[T])
		require.NoError(a.t, err)
	})

	return all
}

// Exec runs a statement on the database.
func (a *App) Exec(sql string, args ...any) {
	a.t.Helper()

	a.connected(func(ctx context.Context, conn *pgx.Conn) {
		_, err := conn.Exec(ctx, sql, args...)
		require.NoError(a.t, err)
	})
}

// connected provides a separate connection, so that a test never waits for one of the server's.
func (a *App) connected(use func(ctx context.Context, conn *pgx.Conn)) {
	a.t.Helper()

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	conn, err := pgx.Connect(ctx, a.Database)
	require.NoError(a.t, err)

	defer func() { require.NoError(a.t, conn.Close(ctx)) }()

	use(ctx, conn)
}

// Journal reads a session's journal as it is stored.
func (a *App) Journal(sessionID string) []tarsy.Event {
	a.t.Helper()

	return Rows[tarsy.Event](a, `SELECT session_id, seq, type, payload, created_at FROM events WHERE session_id = $1 ORDER BY seq`, sessionID)
}

// Messages reads the conversations of a session's executions.
func (a *App) Messages(sessionID string) []tarsy.Message {
	a.t.Helper()

	return Rows[tarsy.Message](a, `SELECT * FROM messages WHERE session_id = $1 ORDER BY execution_id, sequence_number`, sessionID)
}

// LLMInteractions reads a session's LLM calls in full.
func (a *App) LLMInteractions(sessionID string) []tarsy.LLMInteraction {
	a.t.Helper()

	return Rows[tarsy.LLMInteraction](a, `SELECT * FROM llm_interactions WHERE session_id = $1 ORDER BY created_at, id`, sessionID)
}

// MCPInteractions reads a session's tool calls in full.
func (a *App) MCPInteractions(sessionID string) []tarsy.MCPInteraction {
	a.t.Helper()

	return Rows[tarsy.MCPInteraction](a, `SELECT c.*, (SELECT a.approval FROM approvals a WHERE a.id = c.id) AS approval
FROM mcp_interactions c WHERE c.session_id = $1 ORDER BY c.created_at, c.id`, sessionID)
}
