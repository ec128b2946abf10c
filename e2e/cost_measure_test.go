package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/private"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// costVariable makes the test binary measure costs; its value is the file for the results.
const costVariable = "TARSY_E2E_COSTS"

const (
	costWarmUp   = 20
	costSessions = 200
)

const costConfig = `
llm_providers: {test: {type: scripted, model: test-model}}
defaults: {llm_provider: test, verdict: false}
queue: {worker_count: 1, max_concurrent_sessions: 1}
agents: {Investigator: {custom_instructions: Find out what happened.}}
agent_chains:
  test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}
`

// measureProcess runs in the process that measureCosts starts. It ends the process.
func measureProcess(file string) {
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: "costs", F: func(t *testing.T) {
			costs := mockCosts(t)
			maps.Copy(costs, newCostServer(t).measure())

			raw, err := json.Marshal(costs)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, raw, 0o600))
		},
	}}, nil, nil)
}

// costServer is a PostgreSQL server that nobody else uses, so that all of its write-ahead log is ours, and that does nothing on its own.
type costServer struct {
	t   *testing.T
	url string
}

func newCostServer(t *testing.T) *costServer {
	t.Helper()

	dir, err := os.MkdirTemp("", "tarsy-costs-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))

	server, err := private.Open(t.Context(), private.Config{Dir: dir, BinDir: os.Getenv("TARSY_PG_BIN"), Settings: map[string]string{
		"fsync": "off", "full_page_writes": "off", "autovacuum": "off", "jit": "off", "checkpoint_timeout": "1h", "max_wal_size": "4GB",
	}})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, server.Stop(context.Background()))
		require.NoError(t, os.RemoveAll(dir))
	})

	return &costServer{t: t, url: server.URL()}
}

// database creates an empty database with our tables.
func (s *costServer) database(name string) string {
	s.t.Helper()

	conn, err := pgx.Connect(s.t.Context(), s.url)
	require.NoError(s.t, err)

	_, err = conn.Exec(s.t.Context(), "CREATE DATABASE "+name)
	require.NoError(s.t, err)
	require.NoError(s.t, conn.Close(s.t.Context()))

	url := strings.Replace(s.url, "/tarsy?", "/"+name+"?", 1)
	require.NoError(s.t, postgres.Migrate(s.t.Context(), url))

	return url
}

// measure returns costs by name: of the start of a server, and of a session. Everything is done twice, once without
// sessions, and the difference is the cost of the sessions.
func (s *costServer) measure() map[string]float64 {
	s.t.Helper()

	start := s.run("idle", 0)
	work := s.run("busy", costWarmUp+costSessions)
	costs := map[string]float64{
		"start: heap in bytes": start["heap in bytes"],
	}

	for _, name := range []string{
		"round trips", "statements", "transactions", "rows inserted", "rows updated", "rows deleted", "updates of sessions", "buffers", "write-ahead log in bytes",
	} {
		costs["session: "+name] = (work[name] - start[name]) / (costWarmUp + costSessions)
	}

	costs["session: allocations"] = work["allocations"]
	costs["session: allocated bytes"] = work["allocated bytes"]

	return costs
}

// run runs a server with a number of sessions and returns what it cost. All alerts are submitted before the first session
// continues, and one worker runs the sessions one after another: nothing depends on the speed of the machine.
func (s *costServer) run(name string, sessions int) map[string]float64 {
	s.t.Helper()

	url := s.database(name)
	before := s.counters(url)
	through := newWire(s.t, url)
	model := newCostModel()
	a := s.open(through.URL, model.script)
	costs := map[string]float64{}

	require.NoError(s.t, a.Start(s.t.Context()))

	client := &http.Client{}
	for range sessions {
		submitCostAlert(s.t, client, a)
	}

	client.CloseIdleConnections()
	model.gate.Open()
	model.wait(s.t, sessions)
	s.waitEnded(url, sessions)

	if sessions > 0 {
		costs["allocations"] = model.median(func(a allocated) uint64 { return a.objects })
		costs["allocated bytes"] = model.median(func(a allocated) uint64 { return a.bytes })
	}

	costs["heap in bytes"] = heapInUse()

	require.NoError(s.t, a.Stop(context.Background()))

	counted := through.counts()
	costs["round trips"], costs["statements"], costs["transactions"] = float64(counted.trips), float64(counted.statements), float64(counted.transactions)

	for name, after := range s.counters(url) {
		costs[name] = after - before[name]
	}

	return costs
}

// open creates a server without starting it.
func (s *costServer) open(url string, model llm.Client) *app.App {
	s.t.Helper()

	cfg, err := config.Load(config.Source{Files: []config.File{{Name: "costs.yaml", Text: []byte(costConfig)}}})
	require.NoError(s.t, err)

	a, err := app.New(s.t.Context(), app.Options{
		// Jobs poll now and then, and so does everything else that uses a clock.
		Config: cfg, DatabaseURL: url, Listen: "127.0.0.1:0", LLM: model, JobsOff: true, StepsPerCommit: 1, Clock: clockwork.NewFakeClockAt(time.Now()),
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(s.t, err)

	return a
}

// counters reads PostgreSQL's counters for a database. They are complete once all connections that did something are closed.
func (s *costServer) counters(url string) map[string]float64 {
	s.t.Helper()

	conn, err := pgx.Connect(s.t.Context(), url)
	require.NoError(s.t, err)

	defer conn.Close(context.Background())

	awaitLastConnection(s.t, conn)

	numbers := map[string]float64{}
	names := []string{"rows inserted", "rows updated", "rows deleted", "updates of sessions", "buffers", "write-ahead log in bytes"}
	values := make([]float64, len(names))
	into := make([]any, len(names))

	for i := range values {
		into[i] = &values[i]
	}

	require.NoError(s.t, conn.QueryRow(s.t.Context(), `SELECT t.inserted, t.updated, t.deleted, t.sessions, b.buffers, (pg_current_wal_insert_lsn() - '0/0')::float8
FROM (SELECT coalesce(sum(n_tup_ins), 0)::float8 AS inserted, coalesce(sum(n_tup_upd), 0)::float8 AS updated, coalesce(sum(n_tup_del), 0)::float8 AS deleted,
        coalesce(sum(n_tup_upd) FILTER (WHERE relname = 'sessions'), 0)::float8 AS sessions FROM pg_stat_user_tables) AS t,
    (SELECT coalesce(sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0)
        + coalesce(toast_blks_hit + toast_blks_read, 0) + coalesce(tidx_blks_hit + tidx_blks_read, 0)), 0)::float8 AS buffers FROM pg_statio_user_tables) AS b`).
		Scan(into...))

	for i, name := range names {
		numbers[name] = values[i]
	}

	return numbers
}

// awaitLastConnection waits until a connection is the only one to its database: the others report what they did when they end.
func awaitLastConnection(t *testing.T, conn *pgx.Conn) {
	t.Helper()

	wait.Until(t, "the end of all other connections", func() bool {
		var others int

		require.NoError(t, conn.QueryRow(t.Context(),
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()").Scan(&others))

		return others == 0
	})
}

// costModel answers immediately once its gate is open, with texts as long as real ones.
type costModel struct {
	script *script.Script
	gate   *script.Gate
	ended  atomic.Int64
	// memory has what the process had allocated when each session asked for its last answer.
	memory []allocated
}

type allocated struct{ objects, bytes uint64 }

func newCostModel() *costModel {
	analysis := strings.Repeat("The pod ran out of memory because its cache has no bound. ", 40)
	summary := strings.Repeat("The pod ran out of memory. ", 8)
	m := &costModel{script: script.New(script.Options{Forget: true}), gate: script.NewGate(), memory: make([]allocated, costWarmUp+costSessions)}

	m.script.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply {
		if req.Purpose == "executive_summary" {
			var memory runtime.MemStats

			runtime.ReadMemStats(&memory)
			m.memory[m.ended.Load()] = allocated{memory.Mallocs, memory.TotalAlloc}
			m.ended.Add(1)

			return script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: summary}, llm.UsageChunk{InputTokens: 600, OutputTokens: 60}}}
		}

		return script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: analysis}, llm.UsageChunk{InputTokens: 900, OutputTokens: 600}}, Gate: m.gate}
	})

	return m
}

// wait waits until this many sessions have requested their last answer.
func (m *costModel) wait(t *testing.T, sessions int) {
	t.Helper()

	wait.Until(t, "the last answers", func() bool { return m.ended.Load() >= int64(sessions) })
}

// median returns the median by which a number grew from one session to the next after the warm-up. A busy machine opens more connections to the
// database, each of which allocates as much as several sessions.
func (m *costModel) median(of func(allocated) uint64) float64 {
	grown := make([]uint64, costSessions)

	for i := range grown {
		grown[i] = of(m.memory[costWarmUp+i]) - of(m.memory[costWarmUp+i-1])
	}

	slices.Sort(grown)

	return float64(grown[len(grown)/2])
}

// waitEnded waits for the end of the last sessions. It polls the database, so call it when hardly anything is left to do.
func (s *costServer) waitEnded(url string, sessions int) {
	s.t.Helper()

	conn, err := pgx.Connect(s.t.Context(), url)
	require.NoError(s.t, err)

	defer conn.Close(context.Background())

	wait.Until(s.t, "the end of all sessions", func() bool {
		var ended int

		require.NoError(s.t, conn.QueryRow(s.t.Context(), "SELECT count(*) FROM session_quality").Scan(&ended))

		return ended == sessions
	})
}

func submitCostAlert(t *testing.T, client *http.Client, a *app.App) {
	t.Helper()

	resp, err := client.Post("http://"+a.Addr()+"/api/v1/alerts", "application/json", strings.NewReader(`{"alert_type":"test","data":"app-1 was killed"}`))
	require.NoError(t, err)

	defer resp.Body.Close()

	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, resp.StatusCode, "%s", body)
}

// heapInUse returns the reachable memory after a collection, as the median of several: what startup has just used is freed
// by one of the next collections, and what is replaced now and then is missing for a moment.
func heapInUse() float64 {
	values := make([]uint64, 11)

	for i := range values {
		var memory runtime.MemStats

		runtime.GC()
		runtime.ReadMemStats(&memory)
		values[i] = memory.HeapAlloc
	}

	slices.Sort(values)
	fmt.Fprintln(os.Stdout, "heap after each collection:", values)

	return float64(values[len(values)/2])
}
