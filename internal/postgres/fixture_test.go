package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/progress"
)

const (
	serverA = "server-a"
	serverB = "server-b"
	lease   = 30 * time.Second
	noLimit = 1000
)

// epoch is when tests begin. PostgreSQL stores microseconds, so tests use no finer times.
func epoch() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// fixture is a database with servers on it. Its own connections see what servers cannot.
type fixture struct {
	url   string
	clock *clockwork.FakeClock
	admin *pgxpool.Pool
}

func newFixture(t *testing.T) *fixture {
	t.Helper()

	return newFixtureAt(t, pgtest.New(t))
}

func newFixtureAt(t *testing.T, address string) *fixture {
	t.Helper()

	f := &fixture{url: address, clock: clockwork.NewFakeClockAt(epoch())}

	admin, err := pgxpool.New(t.Context(), f.url)
	require.NoError(t, err)
	t.Cleanup(admin.Close)

	f.admin = admin

	return f
}

// server starts one more server on the database.
func (f *fixture) server(t *testing.T) *postgres.DB {
	t.Helper()

	return f.serverAt(t, f.url)
}

func (f *fixture) serverAt(t *testing.T, address string) *postgres.DB {
	t.Helper()

	// A step of 15 MB takes longer than ten seconds on a busy machine with the race detector, which is not a stall.
	db, err := postgres.Open(t.Context(), postgres.Config{URL: address, Clock: f.clock, StalledAfter: slowness.Scale(time.Minute)})
	require.NoError(t, err)

	db.Start()
	t.Cleanup(db.Stop)

	return db
}

// named returns the database's address with an application name that identifies its connections.
func (f *fixture) named(t *testing.T, name string) string {
	t.Helper()

	address, err := url.Parse(f.url)
	require.NoError(t, err)

	query := address.Query()
	query.Set("application_name", name)
	address.RawQuery = query.Encode()

	return address.String()
}

// exec runs a statement that no server would.
func (f *fixture) exec(t require.TestingT, sql string, args ...any) {
	_, err := f.admin.Exec(context.Background(), sql, args...)
	require.NoError(t, err)
}

// value reads one value.
func value[T any](t require.TestingT, f *fixture, sql string, args ...any) T {
	rows, err := f.admin.Query(context.Background(), sql, args...)
	require.NoError(t, err)

	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	require.NoError(t, err)

	return v
}

// lock locks sessions in a transaction of its own until unlock is called.
func (f *fixture) lock(t *testing.T, ids ...string) (unlock func()) {
	t.Helper()

	tx, err := f.admin.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })

	_, err = tx.Exec(t.Context(), `SELECT 1 FROM sessions WHERE id = ANY($1) ORDER BY id FOR UPDATE`, ids)
	require.NoError(t, err)

	return func() { require.NoError(t, tx.Rollback(context.Background())) }
}

// lockTable blocks writes to a table until unlock is called.
func (f *fixture) lockTable(t *testing.T, table string) (unlock func()) {
	t.Helper()

	return f.lockTableIn(t, table, "SHARE")
}

// lockAll blocks reads and writes of a table until unlock is called.
func (f *fixture) lockAll(t *testing.T, table string) (unlock func()) {
	t.Helper()

	return f.lockTableIn(t, table, "ACCESS EXCLUSIVE")
}

func (f *fixture) lockTableIn(t *testing.T, table, mode string) (unlock func()) {
	t.Helper()

	tx, err := f.admin.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })

	_, err = tx.Exec(t.Context(), "LOCK TABLE "+table+" IN "+mode+" MODE")
	require.NoError(t, err)

	return func() { require.NoError(t, tx.Rollback(context.Background())) }
}

// listen receives the signals between servers; awaitSignal waits for a signal of a topic.
func (f *fixture) listen(t *testing.T) (awaitSignal func(topic string)) {
	t.Helper()

	conn, err := f.admin.Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Conn().Close(context.Background())

		conn.Release()
	})

	_, err = conn.Exec(t.Context(), "LISTEN tarsy")
	require.NoError(t, err)

	return func(topic string) {
		t.Helper()

		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()

		for {
			n, err := conn.Conn().WaitForNotification(ctx)
			require.NoError(t, err, "no server told of %q", topic)

			if strings.Contains(n.Payload, "\n"+topic+" ") {
				return
			}
		}
	}
}

// awaitBlocked returns when n connections wait for a lock.
func (f *fixture) awaitBlocked(t *testing.T, n int) {
	t.Helper()
	f.awaitf(t, func() bool {
		return value[int](t, f, `SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'`) >= n
	}, "%d connections to wait for a lock", n)
}

// awaitf polls until happened returns true; each poll takes a round trip.
func (f *fixture) awaitf(t *testing.T, happened func() bool, format string, args ...any) {
	t.Helper()

	for deadline := time.Now().Add(patience); !happened(); {
		if time.Now().After(deadline) {
			require.FailNow(t, "timed out waiting for "+fmt.Sprintf(format, args...))
		}
	}
}

// patience is how long tests wait for what must happen.
var patience = slowness.Scale(20 * time.Second)

// create stores a new session that is runnable now.
func (f *fixture) create(t require.TestingT, db *postgres.DB, events ...tarsy.Event) tarsy.Session {
	session := newSession(f.clock.Now())
	require.NoError(t, db.CreateSession(context.Background(), session, postgres.Terms{}, events...))

	return session
}

// hold stores a new session and claims it; nothing else may wait in the queue.
func (f *fixture) hold(t require.TestingT, db *postgres.DB, events ...tarsy.Event) postgres.Claim {
	session := f.create(t, db, events...)
	claims := f.claim(t, db, serverA, 1)
	require.Len(t, claims, 1)
	require.Equal(t, session.ID, claims[0].SessionID)

	return claims[0]
}

func (f *fixture) claim(t require.TestingT, db *postgres.DB, server string, slots int) []postgres.Claim {
	claims, err := db.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: defaultCapabilities(),
		ServerID: server, Slots: slots, MaxSessions: noLimit, Lease: lease,
	})
	require.NoError(t, err)

	return claims
}

// journal returns the types of the events in a session's journal, which must be gap-free.
func (f *fixture) journal(t require.TestingT, id string) []string {
	rows, err := f.admin.Query(context.Background(), `SELECT seq, type FROM events WHERE session_id = $1 ORDER BY seq`, id)
	require.NoError(t, err)

	type event struct {
		Seq  int
		Type string
	}

	events, err := pgx.CollectRows(rows, pgx.RowToStructByName[event])
	require.NoError(t, err)

	types := make([]string, 0, len(events))
	for i, e := range events {
		require.Equal(t, i+1, e.Seq, "the journal of %s has a gap", id)
		types = append(types, e.Type)
	}

	require.Equal(t, len(events), value[int](t, f, `SELECT last_seq FROM sessions WHERE id = $1`, id))

	return types
}

// transactions returns the transactions that wrote the events of sessions.
func (f *fixture) transactions(t *testing.T, ids ...string) []string {
	t.Helper()

	rows, err := f.admin.Query(t.Context(), `SELECT DISTINCT xmin::text FROM events WHERE session_id = ANY($1)`, ids)
	require.NoError(t, err)

	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return found
}

func newSession(at time.Time) tarsy.Session {
	return tarsy.Session{
		ID: ident.New(), AlertType: "test", AlertData: "disk full", ChainID: "chain", AgentType: "agent",
		Status: tarsy.SessionPending, Author: "somebody", CreatedAt: at,
		MCPSelection: &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: "kubernetes-server", Tools: []string{"get"}}}},
		AlertFacts:   tarsy.AlertFacts{Labels: map[string]string{}, Links: []tarsy.AlertLink{}, Source: tarsy.SourceAPI},
	}
}

func newStage(sessionID string, index int, at time.Time) tarsy.Stage {
	return tarsy.Stage{
		ID: ident.New(), SessionID: sessionID, StageName: "stage", StageType: tarsy.StageInvestigation, StageIndex: index, ExpectedAgentCount: 1,
		Status: tarsy.StatusActive, CreatedAt: at, StartedAt: &at,
	}
}

func newExecution(stage tarsy.Stage, index int, at time.Time) tarsy.Execution {
	return tarsy.Execution{
		ID: ident.New(), SessionID: stage.SessionID, StageID: stage.ID, AgentName: "agent", AgentIndex: index,
		IterationStrategy: "native-thinking", Status: tarsy.StatusActive, CreatedAt: at,
	}
}

func newMessage(execution tarsy.Execution, number int, content string, at time.Time) tarsy.Message {
	return tarsy.Message{
		ID: ident.New(), SessionID: execution.SessionID, StageID: execution.StageID, ExecutionID: execution.ID,
		SequenceNumber: number, Role: tarsy.RoleAssistant, Content: content, CreatedAt: at,
		ToolCalls: []tarsy.ToolCall{{ID: "call-1", Name: "server__tool", Arguments: `{"a":1}`}},
	}
}

func newTimelineEvent(sessionID string, number int64, at time.Time) tarsy.TimelineEvent {
	return tarsy.TimelineEvent{
		ID: ident.New(), SessionID: sessionID, SequenceNumber: number, EventType: tarsy.EventResponse,
		Status: tarsy.EventStreaming, Content: "so far", Metadata: tarsy.Metadata(fmt.Sprintf(`{"number":%d}`, number)),
		CreatedAt: at, UpdatedAt: at,
	}
}

// defaultCapabilities is what a server must have to run all sessions of newSession.
func defaultCapabilities() []string { return []string{"chain:chain"} }

// newEvents returns n events with distinct types.
func newEvents(name string, n int) []tarsy.Event {
	events := make([]tarsy.Event, n)
	for i := range events {
		events[i] = tarsy.Event{
			Type: fmt.Sprintf("%s.%d", name, i+1), Payload: json.RawMessage(`{"text":"«` + name + `»"}`), CreatedAt: epoch(),
		}
	}

	return events
}

func newRequest(sessionID string, kind tarsy.RequestKind, at time.Time) tarsy.Request {
	return tarsy.Request{ID: ident.New(), SessionID: sessionID, Kind: kind, Status: tarsy.RequestOpen, Author: "somebody", CreatedAt: at}
}

func closed(r tarsy.Request, at time.Time) tarsy.Request {
	r.Status, r.ClosedAt = tarsy.RequestDone, &at

	return r
}

// sameRows compares rows as the database stores them: JSON by meaning, in any order, and nil equal to empty.
func sameRows() cmp.Options {
	return cmp.Options{
		cmpopts.EquateEmpty(),
		cmpopts.SortSlices(func(a, b tarsy.Stage) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.Execution) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.TimelineEvent) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.Message) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.LLMInteraction) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.MCPInteraction) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.Chat) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.ChatUserMessage) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.Request) bool { return a.ID < b.ID }),
		cmp.FilterValues(func(a, b json.RawMessage) bool { return len(a) > 0 && len(b) > 0 },
			cmp.Transformer("json", func(raw json.RawMessage) any {
				var v any

				_ = json.Unmarshal(raw, &v)

				return v
			})),
	}
}

// requireSame compares rows with sameRows.
func requireSame[T any](t require.TestingT, want, got T) {
	if diff := cmp.Diff(want, got, sameRows()); diff != "" {
		require.FailNow(t, "rows differ (-want +got)", diff)
	}
}

// addRequest adds a request of either kind.
func addRequest(db *postgres.DB, ctx context.Context, r tarsy.Request) (bool, error) { //nolint:revive // reads like the methods it stands for
	if r.Kind == tarsy.RequestCancel {
		return db.AddCancel(ctx, r)
	}

	_, asked, err := db.AddQuestion(ctx, r, newQuestion())

	return asked, err
}

func newQuestion() tarsy.Question {
	return tarsy.Question{ChatID: ident.New(), MessageID: ident.New(), StageID: ident.New(), Content: "why «so»?"}
}

// finished stores a session that has ended with a status and that no server holds.
func (f *fixture) finished(t require.TestingT, db *postgres.DB, status tarsy.SessionStatus) tarsy.Session {
	claim := f.hold(t, db)
	session, now := claim.State.Session, f.clock.Now()
	session.Status, session.CompletedAt = status, &now

	committed, err := db.Hold(claim.Lease).Commit(context.Background(), progress.Step{Session: &session, Release: true})
	require.NoError(t, err)
	require.True(t, committed.Released)

	return session
}

// question asks a question that must be accepted.
func (f *fixture) question(t require.TestingT, db *postgres.DB, sessionID string) tarsy.Question {
	question, asked, err := db.AddQuestion(context.Background(), newRequest(sessionID, tarsy.RequestChat, f.clock.Now()), newQuestion())
	require.NoError(t, err)
	require.True(t, asked)

	return question
}

// claimAsked claims as a server does that has room only for questions.
func (f *fixture) claimAsked(t require.TestingT, db *postgres.DB, server string, chats int) []postgres.Claim {
	claims, err := db.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: defaultCapabilities(), ServerID: server, MaxSessions: 0, Chats: chats, Lease: lease})
	require.NoError(t, err)

	return claims
}

// begin starts the stage that answers the question of a claim.
func (f *fixture) begin(t require.TestingT, db *postgres.DB, claim postgres.Claim) tarsy.Stage {
	now := f.clock.Now()
	request := claim.State.Requests[0]

	var question tarsy.Question

	require.NoError(t, json.Unmarshal(request.Payload, &question))

	chat, message, stage := newChat(claim.SessionID, question, len(claim.State.Stages)+1, now)
	_, err := db.Hold(claim.Lease).Commit(context.Background(), progress.Step{
		Chats: []tarsy.Chat{chat}, ChatMessages: []tarsy.ChatUserMessage{message}, Stages: []tarsy.Stage{stage},
		Answered: []tarsy.Request{closed(request, now)},
	})
	require.NoError(t, err)

	return stage
}

func newChat(sessionID string, q tarsy.Question, index int, at time.Time) (tarsy.Chat, tarsy.ChatUserMessage, tarsy.Stage) {
	stage := newStage(sessionID, index, at)
	stage.ID, stage.StageType, stage.ChatID, stage.ChatUserMessageID = q.StageID, tarsy.StageChat, &q.ChatID, &q.MessageID

	return tarsy.Chat{ID: q.ChatID, SessionID: sessionID, CreatedBy: "somebody", CreatedAt: at, LastInteractionAt: &at},
		tarsy.ChatUserMessage{ID: q.MessageID, ChatID: q.ChatID, SessionID: sessionID, Author: "somebody", Content: q.Content, CreatedAt: at},
		stage
}

// ended returns a completed copy of a stage.
func ended(stage tarsy.Stage, at time.Time) tarsy.Stage {
	stage.Status, stage.CompletedAt = tarsy.StatusCompleted, &at

	return stage
}

// wholeTimeline reads a timeline that fits into one page.
func wholeTimeline(t require.TestingT, db *postgres.DB, id string, preview int) ([]tarsy.TimelineItem, int64) {
	page, err := db.Timeline(context.Background(), id, tarsy.TimelineQuery{Limit: 100_000, Preview: preview})
	require.NoError(t, err)
	require.False(t, page.More)

	return page.Events, page.Version
}

// wholeTrace reads a trace that fits into one page.
func wholeTrace(t require.TestingT, db *postgres.DB, id string) *tarsy.Trace {
	page, err := db.Trace(context.Background(), id, tarsy.TraceQuery{Limit: 100_000})
	require.NoError(t, err)
	require.Nil(t, page.Next)

	return &page.Trace
}
