package postgres_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// addColumns changes every table of ours in ways that migrations of a newer release may.
func (f *fixture) addColumns(t *testing.T) []string {
	t.Helper()

	rows, err := f.Admin.Query(t.Context(), `SELECT tablename FROM pg_tables
WHERE schemaname = 'public' AND tablename NOT LIKE 'river%' AND tablename NOT LIKE 'schema%' ORDER BY tablename`)
	require.NoError(t, err)

	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	for _, table := range tables {
		f.Exec(t, "ALTER TABLE "+table+" ADD COLUMN newer_kind text NOT NULL DEFAULT 'plain', ADD COLUMN newer_note jsonb")
	}

	return tables
}

// runFullLifecycle takes a session through everything that writes or reads its rows.
func (f *fixture) runFullLifecycle(t *testing.T, db *postgres.DB) string {
	t.Helper()

	claim := f.Hold(t, db, storetest.NewEvents("created", 1)...)
	id, now := claim.SessionID, f.Clock.Now()

	stage := storetest.NewStage(id, 1, now)
	execution := storetest.NewExecution(stage, 1, now)
	event := storetest.NewTimelineEvent(id, 1, now)
	message := storetest.NewMessage(execution, 1, "«text»", now)
	call := tarsy.LLMInteraction{
		ID: ident.New(), SessionID: id, StageID: &stage.ID, ExecutionID: &execution.ID, InteractionType: tarsy.InteractionIteration,
		MessageCount: 1, LLMResponse: json.RawMessage(`{"text":"hello"}`), Usage: tarsy.Usage{InputTokens: 3}, CreatedAt: now,
	}
	tool := tarsy.MCPInteraction{
		ID: ident.New(), SessionID: id, StageID: stage.ID, ExecutionID: execution.ID, TimelineEventID: event.ID, ToolCallID: "call",
		ServerName: "server", ToolName: "tool", ToolArguments: json.RawMessage(`{"a":1}`), Status: tarsy.CallStarted, CreatedAt: now,
	}
	first := progress.Step{
		Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, Timeline: []tarsy.TimelineEvent{event},
		Messages: []tarsy.Message{message}, LLMInteractions: []tarsy.LLMInteraction{call}, MCPInteractions: []tarsy.MCPInteraction{tool},
		Events: storetest.NewEvents("first", 2),
	}

	_, err := db.Hold(claim.Lease).Commit(t.Context(), first)
	require.NoError(t, err)

	_, err = db.Renew(t.Context(), []postgres.Lease{claim.Lease}, now.Add(storetest.Lease))
	require.NoError(t, err)

	// Another server takes over, and changes every row that a step can change.
	require.NoError(t, db.HandOver(t.Context(), claim.Lease))

	claims := f.Claim(t, db, storetest.ServerB, 1)
	require.Len(t, claims, 1)
	claim = claims[0]

	want := progress.State{Session: claim.State.Session, LastSeq: 1}
	want.Apply(first)

	loaded, err := db.Load(t.Context(), claim.Lease)
	require.NoError(t, err)

	want.LLMInteractions[0].LLMResponse = nil // not loaded
	storetest.RequireSame(t, want, *loaded)

	session := claim.State.Session
	session.Status, session.CompletedAt, session.FinalAnalysis = tarsy.SessionCompleted, &now, "it was the disk"
	execution.Status, execution.CompletedAt = tarsy.StatusCompleted, &now
	event.Status, event.Content = tarsy.EventCompleted, "all of it"
	message.Content = "shorter"
	tool.Status, tool.ToolResult, tool.CompletedAt = tarsy.CallCompleted, "result", &now

	committed, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{
		Session: &session, Stages: []tarsy.Stage{storetest.Ended(stage, now)}, Executions: []tarsy.Execution{execution},
		Timeline: []tarsy.TimelineEvent{event}, Messages: []tarsy.Message{message}, MCPInteractions: []tarsy.MCPInteraction{tool},
		Events: storetest.NewEvents("second", 1), Release: true,
	})
	require.NoError(t, err)
	require.True(t, committed.Released)

	// A question, its answer, and a request to cancel the answer.
	f.Question(t, db, id)

	asked := f.ClaimAsked(t, db, storetest.ServerA, 1)
	require.Len(t, asked, 1)

	answer := f.Begin(t, db, asked[0])

	ok, err := db.AddCancel(t.Context(), storetest.NewRequest(id, tarsy.RequestCancel, now))
	require.NoError(t, err)
	require.True(t, ok)

	open, err := db.OpenRequests(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, open, 1)

	_, err = db.Hold(asked[0].Lease).Commit(t.Context(), progress.Step{
		Stages: []tarsy.Stage{storetest.Ended(answer, now)}, Answered: []tarsy.Request{storetest.Closed(open[0], now)}, Release: true,
	})
	require.NoError(t, err)

	f.readAll(t, db, id, call.ID, tool.ID, event.ID)

	return id
}

// readAll reads a session in every possible way.
func (f *fixture) readAll(t *testing.T, db *postgres.DB, id, call, tool, event string) {
	t.Helper()

	detail, err := db.SessionDetail(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "it was the disk", detail.FinalAnalysis)
	require.Len(t, detail.Stages, 2)
	require.NotNil(t, detail.Chat)

	_, err = db.SessionSummary(t.Context(), id)
	require.NoError(t, err)
	_, err = db.SessionProgress(t.Context(), id)
	require.NoError(t, err)

	items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 10})
	require.NoError(t, err)
	require.NotEmpty(t, items)

	for _, preview := range []int{0, 3} {
		timeline, _ := storetest.WholeTimeline(t, db, id, preview)
		require.Len(t, timeline, 1)
		require.Equal(t, preview > 0, timeline[0].Truncated)
		require.Equal(t, len("all of it"), timeline[0].ContentLength)
	}

	one, err := db.TimelineEvent(t.Context(), id, event)
	require.NoError(t, err)
	require.Equal(t, "all of it", one.Content)

	trace := storetest.WholeTrace(t, db, id)
	require.Len(t, trace.Stages[0].Executions[0].LLMInteractions, 1)
	require.Len(t, trace.Stages[0].Executions[0].MCPInteractions, 1)

	llm, err := db.LLMInteraction(t.Context(), id, call)
	require.NoError(t, err)
	require.Len(t, llm.Conversation, 1)

	mcp, err := db.MCPInteraction(t.Context(), id, tool)
	require.NoError(t, err)
	require.Equal(t, "result", mcp.ToolResult)

	export, err := db.Export(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, export.Timeline, 1)

	_, err = db.UsageSummary(t.Context(), storetest.Epoch().Add(-storetest.Lease), storetest.Epoch().Add(storetest.Lease))
	require.NoError(t, err)

	require.Equal(t, []string{"created.1", "first.1", "first.2", "second.1"}, f.Journal(t, id))

	for record, err := range db.Journal(id).Backward(t.Context(), 0) {
		require.NoError(t, err)
		require.Equal(t, id, record.Entry.SessionID)
	}
}

// The release that added the columns runs as well, or did. The server that is already open prepared its statements before.
func TestNewerColumnsAreIgnored(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	open := f.Server(t)
	f.runFullLifecycle(t, open)

	tables := f.addColumns(t)
	require.Contains(t, tables, "stages")

	for _, table := range tables {
		if table == "audit_log" {
			continue // takes no updates, not even of a newer release
		}

		f.Exec(t, "UPDATE "+table+` SET newer_kind = 'special', newer_note = '{"n": 1}'`)
	}

	for _, db := range []*postgres.DB{open, f.Server(t)} {
		id := f.runFullLifecycle(t, db)

		for _, table := range []string{"stages", "executions", "timeline_events", "messages", "llm_interactions", "mcp_interactions", "events", "chats", "chat_user_messages", "requests"} {
			require.Positive(t, storetest.Value[int](t, f.Admin, "SELECT count(*) FROM "+table+" WHERE session_id = $1 AND newer_kind = 'plain' AND newer_note IS NULL", id),
				"new rows of %s take the defaults", table)
		}
	}

	key := storetest.NewKey("name", tarsy.ScopeRead)
	require.NoError(t, account.New(open).CreateKey(t.Context(), key, []byte("hash")))
	_, err := account.New(open).KeyByHash(t.Context(), []byte("hash"))
	require.NoError(t, err)
	require.NoError(t, account.New(open).CreateBrowserSession(t.Context(), []byte("cookie"), key.ID, "csrf", storetest.Epoch(), storetest.Epoch().Add(storetest.Lease), 0))
	_, err = account.New(open).BrowserSession(t.Context(), []byte("cookie"), storetest.Epoch())
	require.NoError(t, err)
}

// What the newer release wrote to a row survives this release's changes of the row.
func TestChangedRowsKeepNewerColumns(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	f.addColumns(t)

	claim := f.Hold(t, db)
	holder := db.Hold(claim.Lease)
	stage := storetest.NewStage(claim.SessionID, 1, storetest.Epoch())

	_, err := holder.Commit(t.Context(), progress.Step{Stages: []tarsy.Stage{stage}})
	require.NoError(t, err)

	f.Exec(t, `UPDATE sessions SET newer_kind = 'special'`)
	f.Exec(t, `UPDATE stages SET newer_kind = 'special'`)

	session := claim.State.Session
	session.Status = tarsy.SessionInProgress

	_, err = holder.Commit(t.Context(), progress.Step{Session: &session, Stages: []tarsy.Stage{storetest.Ended(stage, storetest.Epoch())}})
	require.NoError(t, err)

	require.Equal(t, "in_progress special", storetest.Value[string](t, f.Admin, `SELECT status || ' ' || newer_kind FROM sessions`))
	require.Equal(t, "completed special", storetest.Value[string](t, f.Admin, `SELECT status || ' ' || newer_kind FROM stages`))
}
