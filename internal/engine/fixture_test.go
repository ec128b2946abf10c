package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// patience limits every wait of a test; a wait that takes that long has failed.
var patience = slowness.Scale(time.Minute)

// fixture is one database, and everything that its servers share.
type fixture struct {
	t      *testing.T
	ctx    context.Context
	url    string
	sql    *pgxpool.Pool
	clock  clockwork.Clock
	model  *script.Script
	tools  *toolbox
	recipe chain.Chain
	// noRecipes makes sessions follow the configuration, like those of a release without recipes.
	noRecipes bool
	// maxWaiting limits the number of waiting sessions; 0 means no limit.
	maxWaiting int
	// pollEvery is how often the database polls for changes without a signal, in real time; 0 means the server's default.
	pollEvery time.Duration
	// configured guards the recipe, which tests change while servers run.
	configured sync.Mutex
}

// configure changes the chain for running servers.
func (h *fixture) configure(change func()) {
	h.configured.Lock()
	defer h.configured.Unlock()

	change()
}

func (h *fixture) current() chain.Chain {
	h.configured.Lock()
	defer h.configured.Unlock()

	return h.recipe
}

func newFixture(t *testing.T) *fixture {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)

	url := pgtest.New(t)
	sql, err := pgxpool.New(ctx, url)
	require.NoError(t, err)
	t.Cleanup(sql.Close)

	return &fixture{
		t: t, ctx: ctx, url: url, sql: sql, clock: clockwork.NewRealClock(), model: script.New(script.Options{}),
		tools: &toolbox{}, recipe: recipeOf([]string{"investigator"}),
	}
}

// recipeOf returns a chain with these agents in its stages.
func recipeOf(stages ...[]string) chain.Chain {
	recipe := chain.Chain{ID: "chain", Summary: chain.Summary{Models: []agent.Fallback{{}}, Limit: time.Minute}}

	for _, agents := range stages {
		stage := chain.Stage{Name: "stage of " + agents[0], Policy: tarsy.PolicyAll}
		for _, name := range agents {
			stage.Agents = append(stage.Agents, chain.Agent{
				Servers: []tarsy.MCPServerSelection{{Name: "box"}},
				Spec:    agent.Spec{Name: name, Strategy: agent.FunctionCalling, MaxIterations: 5, IterationTimeout: time.Minute},
			})
		}

		stage.Parallel = tarsy.ParallelMultiAgent
		stage.Synthesis = chain.Agent{Spec: agent.Spec{Name: "synthesizer", Strategy: agent.Synthesis, MaxIterations: 5, IterationTimeout: time.Minute}}

		recipe.Stages = append(recipe.Stages, stage)
	}

	return recipe
}

// decode reads a recipe like a server whose configuration has everything.
func (h *fixture) decode(body json.RawMessage) (recipe chain.Recipe, err error) {
	return recipe, json.Unmarshal(body, &recipe)
}

// server is one engine of the fixture, with its own connections.
type server struct {
	*Engine

	fixture *fixture
	intake  *Intake
	logged  *logWatch
}

// open returns a server that is not started. change is applied to its configuration.
func (h *fixture) open(id string, change func(*Config)) *server {
	h.t.Helper()

	db, err := postgres.Open(h.ctx, postgres.Config{
		URL: h.url, Clock: h.clock, MaxConns: 5, MaxWaiting: h.maxWaiting, PollEvery: h.pollEvery,
	})
	require.NoError(h.t, err)
	db.Start()

	logged := &logWatch{Handler: slog.NewTextHandler(h.t.Output(), nil), waits: map[string]chan struct{}{}}
	logger := slog.New(logged)
	cfg := Config{
		Settings: Settings{
			Chain:  func(string) (chain.Chain, bool) { return h.current(), true },
			Server: func(id string) (chain.Server, bool) { return chain.Server{}, id == "box" },
			Decode: h.decode, Has: []string{"chain:chain", "mcp:box"},
			Agent:   agent.Config{LLM: h.model, Clock: h.clock, Logger: logger},
			Workers: 4, MaxSessions: 100, SessionTimeout: time.Hour,
		},
		DB: db, OpenTools: h.tools.open, ServerID: id, Lease: 20 * time.Second, RenewEvery: 5 * time.Second,
		Grace: time.Minute, Clock: h.clock, Logger: logger,
	}

	if change != nil {
		change(&cfg)
	}

	s := &server{Engine: New(cfg), fixture: h, logged: logged}
	s.intake = NewIntake(IntakeConfig{
		DB: db, Clock: h.clock, Mask: func(text string) string { return text },
		TakesQuestions: func(string) (takes, known bool) { return h.current().Chat != nil, true }, Decode: h.decode,
		Route: func(alert tarsy.Alert) (chain.Route, error) {
			current := h.current()

			route := chain.Route{Chain: current, AgentType: current.Stages[0].Agents[0].Spec.Name, AlertType: alert.AlertType}
			if !h.noRecipes {
				recipe := chain.Recipe{Chain: current}.Stored(alert.MCPSelection)
				route.Recipe = &recipe
			}

			return route, nil
		},
	})

	h.t.Cleanup(func() {
		s.stop()
		db.Stop()
	})

	return s
}

// start opens a server and starts it.
func (h *fixture) start(id string, change func(*Config)) *server {
	h.t.Helper()

	s := h.open(id, change)
	s.Start()

	return s
}

// stop gives tool calls no grace.
func (s *server) stop() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Stop(ctx)
}

func (s *server) submit() string {
	s.fixture.t.Helper()

	session, err := s.intake.Submit(s.fixture.ctx, tarsy.Alert{AlertType: "test", Data: "it hurts"})
	require.NoError(s.fixture.t, err)

	return session.ID
}

func (s *server) cancel(id string) {
	s.fixture.t.Helper()

	_, err := s.intake.Cancel(s.fixture.ctx, id, "somebody")
	require.NoError(s.fixture.t, err)
}

// ask asks a question that must be accepted.
func (s *server) ask(id, content string) tarsy.Question {
	s.fixture.t.Helper()

	question, err := s.intake.Ask(s.fixture.ctx, id, "asker", content)
	require.NoError(s.fixture.t, err)

	return question
}

// answered waits until the journal shows the end of the stage that answers a question, and returns the stage.
func (s *server) answered(id string, q tarsy.Question) tarsy.StageDetail {
	s.fixture.t.Helper()

	for record, err := range s.DB.Journal(id).Tail(s.fixture.ctx, 0) {
		require.NoError(s.fixture.t, err)

		if record.Entry.Type != tarsy.TypeStageStatus {
			continue
		}

		var payload tarsy.StageStatusPayload

		require.NoError(s.fixture.t, json.Unmarshal(record.Entry.Payload, &payload))

		if payload.StageID == q.StageID && tarsy.Status(payload.Status).Terminal() {
			break
		}
	}

	detail := s.detail(id)
	i := slices.IndexFunc(detail.Stages, func(stage tarsy.StageDetail) bool { return stage.ID == q.StageID })
	require.GreaterOrEqual(s.fixture.t, i, 0)

	return detail.Stages[i]
}

// answers asks a question and requires an answer.
func (s *server) answers(id, content string) tarsy.StageDetail {
	s.fixture.t.Helper()

	stage := s.answered(id, s.ask(id, content))
	require.Equal(s.fixture.t, tarsy.StatusCompleted, stage.Status, stage.ErrorMessage)

	return stage
}

// ended waits until the journal shows the end of a session, and returns its statuses in order.
func (s *server) ended(id string) []string {
	s.fixture.t.Helper()

	var statuses []string

	for record, err := range s.DB.Journal(id).Tail(s.fixture.ctx, 0) {
		require.NoError(s.fixture.t, err)

		if record.Entry.Type != tarsy.TypeSessionStatus {
			continue
		}

		var payload tarsy.SessionStatusPayload

		require.NoError(s.fixture.t, json.Unmarshal(record.Entry.Payload, &payload))

		statuses = append(statuses, string(payload.Status))
		if payload.Status.Terminal() {
			break
		}
	}

	return statuses
}

func (s *server) detail(id string) tarsy.SessionDetail {
	s.fixture.t.Helper()

	detail, err := s.DB.SessionDetail(s.fixture.ctx, id)
	require.NoError(s.fixture.t, err)

	return *detail
}

// completes waits for a session and requires it to have completed.
func (s *server) completes(id string) tarsy.SessionDetail {
	s.fixture.t.Helper()
	s.ended(id)

	detail := s.detail(id)
	require.Equal(s.fixture.t, tarsy.SessionCompleted, detail.Status, detail.ErrorMessage)

	return detail
}

func (h *fixture) exec(sql string, args ...any) {
	h.t.Helper()

	_, err := h.sql.Exec(h.ctx, sql, args...)
	require.NoError(h.t, err)
}

func query[T any](h *fixture, sql string, args ...any) T {
	h.t.Helper()

	var value T

	require.NoError(h.t, h.sql.QueryRow(h.ctx, sql, args...).Scan(&value))

	return value
}

// footprint returns everything that the database contains about a session, except its lease.
func (h *fixture) footprint(id string) string {
	h.t.Helper()

	return query[string](h, `SELECT jsonb_build_object(
    'session', (SELECT to_jsonb(s) - 'lease_until' - 'pod_id' FROM sessions s WHERE id = $1),
    'stages', (SELECT jsonb_agg(r ORDER BY r.id) FROM stages r WHERE session_id = $1),
    'executions', (SELECT jsonb_agg(r ORDER BY r.id) FROM executions r WHERE session_id = $1),
    'timeline', (SELECT jsonb_agg(r ORDER BY r.id) FROM timeline_events r WHERE session_id = $1),
    'messages', (SELECT jsonb_agg(r ORDER BY r.id) FROM messages r WHERE session_id = $1),
    'llm', (SELECT jsonb_agg(r ORDER BY r.id) FROM llm_interactions r WHERE session_id = $1),
    'chats', (SELECT jsonb_agg(r ORDER BY r.id) FROM chats r WHERE session_id = $1),
    'questions', (SELECT jsonb_agg(r ORDER BY r.id) FROM chat_user_messages r WHERE session_id = $1),
    'requests', (SELECT jsonb_agg(r ORDER BY r.id) FROM requests r WHERE session_id = $1),
    'mcp', (SELECT jsonb_agg(r ORDER BY r.id) FROM mcp_interactions r WHERE session_id = $1),
    'events', (SELECT jsonb_agg(r ORDER BY r.seq) FROM events r WHERE session_id = $1))::text`, id)
}

// requireWhole checks that a session has one effect of each kind and a journal without gaps, and that nothing is open.
func (h *fixture) requireWhole(id string) {
	h.t.Helper()
	require.True(h.t, query[bool](h, `SELECT s.last_seq = count(e.*) AND max(e.seq) = count(e.*) AND s.lease_until IS NULL
    AND s.runnable_at IS NULL AND s.open_requests = 0
FROM sessions s JOIN events e ON e.session_id = s.id WHERE s.id = $1 GROUP BY s.id`, id), "the journal has a gap, or the lease is left")
	require.Zero(h.t, query[int](h, `SELECT count(*) FROM timeline_events WHERE session_id = $1 AND status = 'streaming'`, id))
	require.Zero(h.t, query[int](h, `SELECT count(*) FROM mcp_interactions WHERE session_id = $1 AND status = 'started'`, id))
	require.Zero(h.t, query[int](h, `SELECT count(*) FROM executions x WHERE session_id = $1 AND status = 'completed' AND
    (SELECT count(*) FROM timeline_events t WHERE t.execution_id = x.id AND t.event_type = 'final_analysis') <> 1`, id))
	require.Equal(h.t, query[int](h, `SELECT count(*) FROM timeline_events WHERE session_id = $1`, id),
		query[int](h, `SELECT count(*) FROM events WHERE session_id = $1 AND type = 'timeline_event.created'`, id))
}

// wait waits until a channel is closed or delivers a value.
func (h *fixture) wait(c <-chan struct{}, what string) {
	h.t.Helper()

	select {
	case <-c:
	case <-h.ctx.Done():
		require.FailNow(h.t, "waited too long", what)
	}
}

// forAgent scripts an agent. It chooses the reply by the number of answers in the call's messages, so that a repeated call gets the same
// reply. Summaries are answered too.
func (h *fixture) forAgent(name string, replies ...script.Reply) {
	h.model.RouteFunc(func(r *llm.Request) bool { return r.Agent == name }, func(r *llm.Request, _ int) script.Reply {
		answered := 0

		for _, m := range r.Messages {
			if m.Role == llm.RoleAssistant {
				answered++
			}
		}

		return replies[answered]
	})
}

func (h *fixture) summary(reply script.Reply) {
	h.forAgent("ExecSummaryAgent", reply)
}

// chat adds an agent that answers questions to the chain.
func (h *fixture) chat(replies ...script.Reply) {
	h.recipe.Chat = &chain.Agent{
		Servers: []tarsy.MCPServerSelection{{Name: "box"}},
		Spec:    agent.Spec{Name: "answerer", Strategy: agent.FunctionCalling, MaxIterations: 5, IterationTimeout: 24 * time.Hour},
	}

	if len(replies) > 0 {
		h.forAgent("answerer", replies...)
	}
}

// investigated scripts a session that ends immediately.
func (h *fixture) investigated() {
	h.forAgent("investigator", script.Reply{Text: "the root cause"})
	h.summary(script.Reply{Text: "in short"})
}

func call(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: "box__" + name, Arguments: arguments}
}

// toolbox has a tool that reads and one that writes, and records their calls.
type toolbox struct {
	mu    sync.Mutex
	opens int
	calls []agent.Call
	// during is called while a tool runs, and its error is an infrastructure error; onList is called while tools are listed.
	during func(ctx context.Context, call agent.Call) error
	onList func()
}

func (b *toolbox) open(context.Context, string, []tarsy.MCPServerSelection, []agent.ToolRule) (agent.Tools, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.opens++

	return b, nil
}

func (b *toolbox) List(context.Context) ([]agent.Tool, error) {
	if b.onList != nil {
		b.onList()
	}

	return []agent.Tool{
		{Server: "box", Name: "look", ReadOnly: true, Schema: json.RawMessage(`{}`)},
		{Server: "box", Name: "change", Schema: json.RawMessage(`{}`)},
	}, nil
}

func (b *toolbox) Call(ctx context.Context, c agent.Call) (agent.Result, error) {
	b.mu.Lock()
	b.calls = append(b.calls, c)
	b.mu.Unlock()

	if b.during != nil {
		if err := b.during(ctx, c); err != nil {
			return agent.Result{}, err
		}
	}

	return agent.Result{Content: "done " + c.Arguments, Attempts: 1}, nil
}

// duringCall signals in when a call has begun and blocks it until leave is signalled.
func duringCall(in, leave chan struct{}) func(context.Context, agent.Call) error {
	return func(ctx context.Context, _ agent.Call) error {
		select {
		case in <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}

		select {
		case <-leave:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (b *toolbox) Unavailable() map[string]string { return nil }
func (b *toolbox) Missing() map[string]string     { return nil }
func (b *toolbox) Close() error                   { return nil }

func (b *toolbox) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.calls = nil
}

// made counts the calls of a tool.
func (b *toolbox) made(name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()

	count := 0

	for _, c := range b.calls {
		if strings.HasSuffix(c.Name, name) {
			count++
		}
	}

	return count
}

// logWatch signals when a message is logged.
type logWatch struct {
	slog.Handler

	mu    sync.Mutex
	waits map[string]chan struct{}
}

// watch returns a channel that receives a value each time the message is logged from now on.
func (w *logWatch) watch(message string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()

	const room = 16

	c := make(chan struct{}, room)
	w.waits[message] = c

	return c
}

func (w *logWatch) Handle(ctx context.Context, record slog.Record) error {
	w.mu.Lock()
	c := w.waits[record.Message]
	w.mu.Unlock()

	if c != nil {
		wake(c)
	}

	return w.Handler.Handle(ctx, record)
}

func (w *logWatch) WithAttrs([]slog.Attr) slog.Handler { return w }

// fakeClock makes the fixture use a fake clock. It must be called before starting a server.
func (h *fixture) fakeClock() *clockwork.FakeClock {
	clock := clockwork.NewFakeClockAt(time.Now())
	h.clock = clock

	return clock
}

func claimParams(s *server) postgres.ClaimParams {
	return postgres.ClaimParams{ServerID: s.ServerID, Slots: 1, MaxSessions: s.settings.Load().MaxSessions, Lease: s.Lease, Version: Version, Has: s.settings.Load().Has}
}
