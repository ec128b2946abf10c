//go:build bench

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const noteConfig = `
llm_providers: {test: {type: scripted, model: test-model}}
defaults: {llm_provider: test}
notes: {rate_per_minute: 1000000, concurrency: {extract: 16, organize: 16}}
agents: {Investigator: {custom_instructions: Find out what happened.}}
agent_chains:
  test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}
`

// TestNotes measures how many notes per second are captured, extracted and organized with a model that answers immediately,
// next to River and BullMQ running two steps that do nothing. All three have 16 senders, and 16 workers for each step.
func TestNotes(t *testing.T) {
	const notes = 1500

	server := durableServer(t)

	fmt.Printf("\n%-62s %10s   %s\n", "notes", "measured", "for comparison")

	alone := riverAlone(t, fresh(t, server, "river"), notes)
	fmt.Printf("%-62s %10.0f   %s\n", "River alone, two steps that do nothing, per second", alone, "")

	pipeline := pipelineRate(t, fresh(t, server, "notes"), notes, 0)
	fmt.Printf("%-62s %10.0f   %.2f of River alone; aim: 0.25\n", "notes through the whole pipeline, per second", pipeline, pipeline/alone)

	filled := pipelineRate(t, fresh(t, server, "filled"), notes, 100_000)
	fmt.Printf("%-62s %10.0f   %.2f of an empty database\n", "the same with 100,000 entities, per second", filled, filled/pipeline)

	if rate, reason := bullMQ(t, notes); reason != "" {
		fmt.Printf("%-62s %10s   %s\n", "BullMQ on Redis, two steps that do nothing, per second", "-", "not measured: "+reason)
	} else {
		fmt.Printf("%-62s %10.0f   nothing is written to disk\n", "BullMQ on Redis, two steps that do nothing, per second", rate)
	}
}

// pipelineRate captures notes over HTTP and waits until all are processed. Each has one entity, filed under one of two
// projects. The database already contains the given number of entities, with words as in real titles: a few are in all of
// them, most are rare.
func pipelineRate(t *testing.T, url string, n, entities int) float64 {
	t.Helper()

	cfg, err := config.Load(config.Source{Files: []config.File{{Name: "bench.yaml", Text: []byte(noteConfig)}}})
	require.NoError(t, err)

	var project atomic.Value

	a, err := app.New(t.Context(), app.Options{
		Config: cfg, DatabaseURL: url, Listen: "127.0.0.1:0", LLM: noteModel(&project),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, a.Stop(context.Background())) })

	if entities > 0 {
		fill(t, url, entities)
	}

	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}

	for _, name := range []string{"Login", "Search"} {
		var created struct {
			ID string `json:"id"`
		}

		post(t, client, a, "/api/v1/projects", map[string]string{"name": name}, &created)
		project.Store(created.ID)
	}

	var (
		group errgroup.Group
		next  atomic.Int64
		began = time.Now()
	)

	for range workers {
		group.Go(func() error {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				post(t, client, a, "/api/v1/notes", map[string]string{"source": "web", "content": fmt.Sprintf("Fix the login of customer %d.", i)}, nil)
			}

			return nil
		})
	}

	require.NoError(t, group.Wait())

	for query[int](t, url, "SELECT count(*) FROM notes WHERE status = 'done'") < n {
		require.Zero(t, query[int](t, url, "SELECT count(*) FROM notes WHERE status = 'failed'"))
		require.Less(t, time.Since(began), 2*time.Minute)
		<-time.After(20 * time.Millisecond)
	}

	took := time.Since(began)
	require.Equal(t, n, query[int](t, url, "SELECT count(*) FROM entities WHERE project_id IS NOT NULL"))

	return float64(n) / took.Seconds()
}

func fill(t *testing.T, url string, entities int) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	_, err = conn.Exec(t.Context(), `
		INSERT INTO entities (id, type, title, state, created_by, created_at, updated_at)
		SELECT gen_random_uuid(), 'task', 'fix the ' || string_agg('w' || floor(power(20000, random()))::int, ' ') || ' on the server', 'accepted', 'ana', now(), now()
		FROM generate_series(1, $1) AS n, generate_series(1, 8) AS w GROUP BY n`, entities)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `VACUUM ANALYZE entities`)
	require.NoError(t, err)
}

func post(t *testing.T, client *http.Client, a *app.App, path string, body, into any) {
	t.Helper()

	raw, err := json.Marshal(body)
	require.NoError(t, err)

	response, err := client.Post("http://"+a.Addr()+path, "application/json", bytes.NewReader(raw))
	require.NoError(t, err)

	defer response.Body.Close()

	require.Equal(t, http.StatusCreated, response.StatusCode)

	if into != nil {
		require.NoError(t, json.NewDecoder(response.Body).Decode(into))
	}
}

var customer = regexp.MustCompile(`customer (\d+)`)

// noteModel answers immediately. Each title has its own words, so that no two entities are similar.
func noteModel(project *atomic.Value) llm.Client {
	s := script.New(script.Options{Forget: true})
	s.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply {
		var answer any

		if req.Purpose == infer.PurposeExtract {
			number := customer.FindStringSubmatch(req.Messages[len(req.Messages)-1].Content)[1]
			answer = infer.ExtractAnswer{Entities: []infer.EntityAnswer{{
				Type: "task", Title: "login" + number + " fix" + number, Tags: []string{"login"}, Evidence: "Fix the login", Confidence: 0.9,
			}}}
		} else {
			answer = infer.OrganizeAnswer{Entities: []infer.PlaceAnswer{{Entity: 1, ProjectID: project.Load().(string), Confidence: 0.9}}}
		}

		raw, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}

		return script.Reply{Text: string(raw)}
	})

	return s
}

type (
	firstStep  struct{ Note int }
	secondStep struct{ Note int }
)

func (firstStep) Kind() string  { return "first" }
func (secondStep) Kind() string { return "second" }

// riverAlone runs two steps that do nothing; the first inserts the second.
func riverAlone(t *testing.T, url string, n int) float64 {
	t.Helper()
	require.NoError(t, postgres.Migrate(t.Context(), url))

	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	var (
		done     atomic.Int64
		finished = make(chan struct{})
		jobs     = river.NewWorkers()
	)

	river.AddWorker(jobs, river.WorkFunc(func(ctx context.Context, job *river.Job[firstStep]) error {
		_, err := river.ClientFromContext[pgx.Tx](ctx).Insert(ctx, secondStep{job.Args.Note}, &river.InsertOpts{Queue: "second"})

		return err
	}))
	river.AddWorker(jobs, river.WorkFunc(func(context.Context, *river.Job[secondStep]) error {
		if done.Add(1) == int64(n) {
			close(finished)
		}

		return nil
	}))

	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues: map[string]river.QueueConfig{"first": {MaxWorkers: workers}, "second": {MaxWorkers: workers}},
		// The default of 100 ms would limit 16 workers to 160 jobs a second; the pipeline uses 5 ms too.
		FetchCooldown: 5 * time.Millisecond,
		Workers:       jobs, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	require.NoError(t, client.Start(t.Context()))

	var (
		group errgroup.Group
		next  atomic.Int64
		began = time.Now()
	)

	for range workers {
		group.Go(func() error {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if _, err := client.Insert(t.Context(), firstStep{int(i)}, &river.InsertOpts{Queue: "first"}); err != nil {
					return err
				}
			}

			return nil
		})
	}

	require.NoError(t, group.Wait())
	<-finished

	took := time.Since(began)
	require.NoError(t, client.Stop(context.Background()))

	return float64(n) / took.Seconds()
}

// bullMQ runs bullmq.mjs on its own Redis, or returns the reason why it cannot.
func bullMQ(t *testing.T, n int) (rate float64, reason string) {
	t.Helper()

	for _, name := range []string{"redis", "bullmq"} {
		if text, err := os.ReadFile("../.cache/" + name + ".reason"); err == nil {
			return 0, string(bytes.TrimSpace(text))
		}
	}

	packages, err := filepath.Abs("../.cache/bullmq")
	require.NoError(t, err)

	if _, err := os.Stat(packages); err != nil {
		return 0, "make bench installs BullMQ and Redis"
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	require.NoError(t, listener.Close())

	redis := exec.CommandContext(t.Context(), "../.cache/redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	require.NoError(t, redis.Start())

	defer func() {
		_ = redis.Process.Kill()
		_ = redis.Wait()
	}()

	for began := time.Now(); ; {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			require.NoError(t, conn.Close())

			break
		}

		require.Less(t, time.Since(began), 10*time.Second, "Redis does not start")
		<-time.After(10 * time.Millisecond)
	}

	node := exec.CommandContext(t.Context(), "node", "bullmq.mjs", port, strconv.Itoa(n), strconv.Itoa(workers))
	node.Env = append(os.Environ(), "BULLMQ_DIR="+packages)
	node.Stderr = os.Stderr

	output, err := node.Output()
	require.NoError(t, err)

	var result struct {
		Rate float64 `json:"rate"`
	}

	require.NoError(t, json.Unmarshal(output, &result))

	return result.Rate, ""
}
