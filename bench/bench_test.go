//go:build bench

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/postgres/private"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

const workers = 16

const benchConfig = `
llm_providers: {test: {type: scripted, model: test-model}}
defaults: {llm_provider: test, verdict: false}
queue: {worker_count: %d, max_concurrent_sessions: %d}
agents: {Investigator: {custom_instructions: Find out what happened.}}
agent_chains:
  test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}
`

// analysis and summary are as long as real ones.
var (
	analysis = strings.Repeat("The pod ran out of memory because its cache has no bound. ", 40)
	summary  = strings.Repeat("The pod ran out of memory. ", 8)
)

func TestMain(m *testing.M) {
	app.Tune(os.LookupEnv)
	pgtest.Main(m)
}

type row struct{ what, got, note string }

func TestTable(t *testing.T) {
	url := durableServer(t)

	fmt.Printf("\n%-62s %10s   %s\n", "what", "measured", "for comparison")

	for _, measure := range []func(*testing.T, string) []row{yardstick, throughput, roundTrips, latency, boot, memory} {
		for _, r := range measure(t, url) {
			fmt.Printf("%-62s %10s   %s\n", r.what, r.got, r.note)
		}
	}
}

// durableServer starts a private PostgreSQL with the settings that users get: fsync on.
func durableServer(t *testing.T) string {
	t.Helper()

	dir, err := os.MkdirTemp("", "tarsy-bench")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))

	server, err := private.Open(t.Context(), private.Config{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, server.Stop(context.Background()))
		require.NoError(t, os.RemoveAll(dir))
	})

	return server.URL()
}

// fresh creates an empty database on the durable server.
func fresh(t *testing.T, url, name string) string {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)

	return strings.Replace(url, "/tarsy?", "/"+name+"?", 1)
}

func instant() llm.Client {
	s := script.New(script.Options{Forget: true})
	s.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply {
		if req.Purpose == "executive_summary" {
			return script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: summary}, llm.UsageChunk{InputTokens: 600, OutputTokens: 60}}}
		}

		return script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: analysis}, llm.UsageChunk{InputTokens: 900, OutputTokens: 600}}}
	})

	return s
}

func start(t *testing.T, url string, workers int, model llm.Client) *app.App {
	t.Helper()

	cfg, err := config.Load(config.Source{Files: []config.File{{Name: "bench.yaml", Text: fmt.Appendf(nil, benchConfig, workers, workers)}}})
	require.NoError(t, err)

	a, err := app.New(t.Context(), app.Options{
		Config: cfg, DatabaseURL: url, Listen: "127.0.0.1:0", LLM: model,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, a.Stop(context.Background())) })

	return a
}

func submit(t testing.TB, client *http.Client, a *app.App) string {
	resp, err := client.Post("http://"+a.Addr()+"/api/v1/alerts", "application/json", strings.NewReader(`{"alert_type":"test","data":"app-1 was killed"}`))
	require.NoError(t, err)

	defer resp.Body.Close()

	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, resp.StatusCode, "%s", raw)

	var body struct {
		SessionID string `json:"session_id"`
	}

	require.NoError(t, json.Unmarshal(raw, &body))

	return body.SessionID
}

// drive submits n alerts from as many clients as there are workers and waits until all sessions are done.
func drive(t *testing.T, a *app.App, url string, n int) time.Duration {
	t.Helper()

	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	defer client.CloseIdleConnections()

	// Reuse one connection for polling: opening one costs more than a session does.
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	completed := func() (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM sessions WHERE status = 'completed'").Scan(&n))

		return n
	}

	before := completed()
	began := time.Now()

	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range n / workers {
				submit(t, client, a)
			}
		})
	}

	group.Wait()

	for range time.Tick(50 * time.Millisecond) {
		if completed() >= before+n/workers*workers {
			break
		}
	}

	return time.Since(began)
}

func completed(t *testing.T, url string) int {
	t.Helper()

	return query[int](t, url, "SELECT count(*) FROM sessions WHERE status = 'completed'")
}

func query[T any](t *testing.T, url, sql string) T {
	t.Helper()

	conn, err := pgx.Connect(context.Background(), url)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	var v T

	require.NoError(t, conn.QueryRow(context.Background(), sql).Scan(&v))

	return v
}

// yardstick measures how fast this machine is right now: durable one-row transactions on as many connections as there are
// workers. Read the rates below against it.
func yardstick(t *testing.T, url string) []row {
	url = fresh(t, url, "yardstick")

	pool, err := pgxpool.New(t.Context(), url+"&pool_max_conns="+strconv.Itoa(workers))
	require.NoError(t, err)

	defer pool.Close()

	_, err = pool.Exec(t.Context(), "CREATE TABLE rows (id bigserial PRIMARY KEY, text text)")
	require.NoError(t, err)

	var (
		group sync.WaitGroup
		count atomic.Int64
	)

	const lasting = 2 * time.Second

	began := time.Now()

	for range workers {
		group.Go(func() {
			for time.Since(began) < lasting {
				if _, err := pool.Exec(t.Context(), "INSERT INTO rows (text) VALUES ($1)", summary); err != nil {
					return
				}

				count.Add(1)
			}
		})
	}

	group.Wait()

	rate := float64(count.Load()) / time.Since(began).Seconds()

	return []row{{"yardstick: plain durable one-row transactions per second", fmt.Sprintf("%.0f", rate), "how fast this machine is just now"}}
}

func throughput(t *testing.T, url string) []row {
	url = fresh(t, url, "throughput")
	a := start(t, url, workers, instant())
	drive(t, a, url, 480)

	const n = 4000

	const written, updated = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint", "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'sessions'"

	commits := query[int](t, url, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
	wal, updates := query[int](t, url, written), query[int](t, url, updated)
	own, others := cpu(t)
	took := drive(t, a, url, n)
	own2, others2 := cpu(t)

	require.NoError(t, a.Stop(context.Background()))
	<-time.After(time.Second) // PostgreSQL reports its statistics with a delay

	commits = query[int](t, url, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()") - commits
	wal, updates = query[int](t, url, written)-wal, query[int](t, url, updated)-updates

	return []row{
		{"sessions per second (1 stage, summary, 16 workers, HTTP intake)", fmt.Sprintf("%.0f", n/took.Seconds()), "the published TARSy: 51; aim: 500"},
		{"CPU per session: server and load generator", fmt.Sprintf("%.2f ms", 1000*(own2-own)/n), "one process in this measurement"},
		{"CPU per session: PostgreSQL", fmt.Sprintf("%.2f ms", 1000*(others2-others)/n), "CPU says more than seconds do on a machine with other work"},
		{"transactions per session under that load", fmt.Sprintf("%.1f", float64(commits)/n), "intake, claims, grouped steps, signals and reads"},
		{"updates of a session's row under that load", fmt.Sprintf("%.1f", float64(updates)/n), "a claim and two steps; each costs an entry in most indexes"},
		{"write-ahead log per session under that load", fmt.Sprintf("%.1f kB", float64(wal)/n/1024), ""},
	}
}

func roundTrips(t *testing.T, url string) []row {
	url = fresh(t, url, "roundtrips")
	proxy := newProxy(t, url)
	a := start(t, proxy.url, 1, instant())
	drive(t, a, url, 64)

	const n = 160

	before := proxy.trips.Load()
	drive(t, a, url, n)
	perSession := float64(proxy.trips.Load()-before) / n

	return []row{{"round trips to PostgreSQL per session, 1 worker", fmt.Sprintf("%.1f", perSession), "waits of the client for the server, all connections"}}
}

// latency measures from the submission of an alert to the session's first event on a WebSocket.
func latency(t *testing.T, url string) []row {
	url = fresh(t, url, "latency")
	a := start(t, url, workers, instant())

	conn, _, err := websocket.Dial(t.Context(), "ws://"+a.Addr()+"/api/v1/ws", nil)
	require.NoError(t, err)

	defer conn.CloseNow()

	require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(`{"action":"subscribe","channel":"sessions"}`)))

	seen := sync.Map{}

	go func() {
		for {
			_, raw, err := conn.Read(context.Background())
			if err != nil {
				return
			}

			var e struct {
				SessionID string `json:"session_id"`
			}

			if json.Unmarshal(raw, &e) == nil && e.SessionID != "" {
				seen.LoadOrStore(e.SessionID, time.Now())
			}
		}
	}()

	client := &http.Client{}
	defer client.CloseIdleConnections()

	var waits []time.Duration

	for range 500 {
		began := time.Now()
		id := submit(t, client, a)

		for {
			if at, ok := seen.Load(id); ok {
				waits = append(waits, at.(time.Time).Sub(began))

				break
			}

			runtime.Gosched()
		}
	}

	slices.Sort(waits)

	return []row{
		{"alert sent to first event on a WebSocket, p50", ms(waits[len(waits)/2]), "includes the HTTP request and the durable commit"},
		{"alert sent to first event on a WebSocket, p99", ms(waits[len(waits)*99/100]), ""},
	}
}

func boot(t *testing.T, _ string) []row {
	var times []time.Duration

	for range 25 {
		t.Run("boot", func(t *testing.T) {
			began := time.Now()
			tarsytest.New(t, tarsytest.Options{})
			times = append(times, time.Since(began))
		})
	}

	slices.Sort(times)

	return []row{{"boot of a tarsytest app with its own database, median", ms(times[len(times)/2]), "the published TARSy: 186 ms; aim: 60 ms"}}
}

func memory(t *testing.T, url string) []row {
	const n = 400

	url = fresh(t, url, "memory")
	gate := script.NewGate()
	s := script.New(script.Options{Forget: true})
	s.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply {
		return script.Reply{Text: analysis, Gate: gate}
	})

	a := start(t, url, n, s)
	client := &http.Client{}
	idle := heap()

	for range n {
		submit(t, client, a)
	}

	for range time.Tick(50 * time.Millisecond) {
		if query[int](t, url, "SELECT count(*) FROM messages") >= 2*n {
			break
		}
	}

	client.CloseIdleConnections()

	running := heap()

	gate.Open()

	for range time.Tick(50 * time.Millisecond) {
		if completed(t, url) >= n {
			break
		}
	}

	return []row{
		{"resident memory of an idle server process", idleProcess(t, url), ""},
		{"heap and stacks per running session", fmt.Sprintf("%.0f kB", float64(running-idle)/n/1024), fmt.Sprintf("%d sessions waiting for the model", n)},
	}
}

// cpu returns the CPU seconds that this process and the private PostgreSQL have used so far.
func cpu(t *testing.T) (own, database float64) {
	t.Helper()

	const ticks = 100

	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)

	parents, times, names := map[int]int{}, map[int]float64{}, map[int]string{}

	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}

		open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
		pid, _ := strconv.Atoi(strings.TrimSpace(string(raw[:open])))
		fields := strings.Fields(string(raw[end+1:]))
		parents[pid], _ = strconv.Atoi(fields[1])
		names[pid] = string(raw[open+1 : end])

		for _, i := range []int{11, 12} {
			v, _ := strconv.ParseFloat(fields[i], 64)
			times[pid] += v / ticks
		}
	}

	for pid := range times {
		switch {
		case pid == os.Getpid():
			own = times[pid]
		case names[pid] == "postgres" && (parents[pid] == os.Getpid() || parents[parents[pid]] == os.Getpid()):
			database += times[pid]
		}
	}

	return own, database
}

func heap() uint64 {
	var m runtime.MemStats

	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)

	return m.HeapInuse + m.StackInuse
}

// idleProcess runs the real binary and reads its resident memory from the system.
func idleProcess(t *testing.T, url string) string {
	binary := filepath.Join(t.TempDir(), "tarsy")
	out, err := exec.Command("go", "build", "-o", binary, "../cmd/tarsy").CombinedOutput()
	require.NoError(t, err, "%s", out)

	cmd := exec.Command(binary, "serve", "--listen", "127.0.0.1:0", "--database-url", url)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, stderr)
		_ = cmd.Wait()
	}()

	buffer := make([]byte, 4096)
	n, err := stderr.Read(buffer)
	require.NoError(t, err, "%s", buffer[:n])
	<-time.After(2 * time.Second) // let startup finish

	status, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status")
	if err != nil {
		return "unknown"
	}

	for line := range bytes.Lines(status) {
		if fields := strings.Fields(string(line)); len(fields) == 3 && fields[0] == "VmRSS:" {
			kb, _ := strconv.Atoi(fields[1])

			return fmt.Sprintf("%.0f MB", float64(kb)/1024)
		}
	}

	return "unknown"
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
