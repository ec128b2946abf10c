package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/notebook"
)

type ping struct {
	Text string `json:"text"`
}

func (ping) Kind() string { return "ping" }

// part is a queue whose jobs call work.
type part struct {
	river.WorkerDefaults[ping]

	queue string
	work  func(context.Context) error
}

func (p *part) Work(ctx context.Context, _ *river.Job[ping]) error { return p.work(ctx) }

func (p *part) AddTo(workers *river.Workers, queues map[string]river.QueueConfig) error {
	queues[p.queue] = river.QueueConfig{MaxWorkers: 1}

	return river.AddWorkerSafely(workers, p)
}

func newPool(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()

	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	return pool
}

func newQueue(t *testing.T, cfg jobs.Config, parts ...jobs.Part) *jobs.Queue {
	t.Helper()

	cfg.Hasty = true
	queue, err := jobs.New(cfg, parts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, queue.Stop(context.Background())) })

	return queue
}

func insert(t *testing.T, queue *jobs.Queue, name string) {
	t.Helper()

	_, err := queue.Client().Insert(t.Context(), ping{}, &river.InsertOpts{Queue: name})
	require.NoError(t, err)
}

func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()

	return wait.For(t, from, "a channel")
}

// With a polling interval of one hour, only a notification can start the job.
func TestJobStartsByNotification(t *testing.T) {
	t.Parallel()

	ran := make(chan struct{}, 1)
	pool := newPool(t, pgtest.New(t))
	queue := newQueue(t, jobs.Config{Pool: pool, PollEvery: time.Hour}, &part{queue: "one", work: func(context.Context) error {
		ran <- struct{}{}

		return nil
	}})
	queue.Start()
	queue.Start() // does nothing
	insert(t, queue, "one")
	await(t, ran)
}

func TestStopCutsJobOffAfterGraceAndAnotherServerRunsIt(t *testing.T) {
	t.Parallel()

	url := pgtest.New(t)
	began, cut := make(chan struct{}, 2), make(chan error, 1)
	first := newQueue(t, jobs.Config{Pool: newPool(t, url), Grace: time.Millisecond}, &part{queue: "one", work: func(ctx context.Context) error {
		began <- struct{}{}
		<-ctx.Done()
		cut <- ctx.Err()

		return ctx.Err()
	}})
	first.Start()
	insert(t, first, "one")
	await(t, began)
	require.NoError(t, first.Stop(t.Context()))
	require.ErrorIs(t, await(t, cut), context.Canceled)
	require.NoError(t, first.Stop(t.Context()), "again")
	first.Start() // does nothing

	second := newQueue(t, jobs.Config{Pool: newPool(t, url)}, &part{queue: "one", work: func(context.Context) error {
		began <- struct{}{}

		return nil
	}})
	second.Start()
	await(t, began)
}

// Start succeeds although the database is unusable at first.
func TestStartIsRepeatedUntilDatabaseWorks(t *testing.T) {
	t.Parallel()

	pool := newPool(t, pgtest.New(t))
	ran := make(chan struct{}, 1)
	log := &logbook{failed: make(chan struct{}, 100)}
	queue := newQueue(t, jobs.Config{Pool: pool, Logger: slog.New(slog.NewTextHandler(log, nil))}, &part{queue: "one", work: func(context.Context) error {
		ran <- struct{}{}

		return nil
	}})

	insert(t, queue, "one")
	_, err := pool.Exec(t.Context(), `ALTER TABLE river_queue RENAME TO elsewhere`)
	require.NoError(t, err)
	queue.Start()
	await(t, log.failed)

	_, err = pool.Exec(t.Context(), `ALTER TABLE elsewhere RENAME TO river_queue`)
	require.NoError(t, err)
	await(t, ran)
}

// logbook signals each failed start.
type logbook struct {
	mu     sync.Mutex
	failed chan struct{}
}

func (l *logbook) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if strings.Contains(string(text), "could not start the job queue") {
		l.failed <- struct{}{}
	}

	return len(text), nil
}

func TestOnlyQueuesOfServerAreShownAndControlled(t *testing.T) {
	t.Parallel()

	queue := newQueue(t, jobs.Config{Pool: newPool(t, pgtest.New(t))}, &part{queue: "one"})
	insert(t, queue, "one")
	insert(t, queue, "elsewhere")

	overview, err := queue.Overview(t.Context())
	require.NoError(t, err)
	require.Equal(t, []notebook.JobQueue{{Name: "one", Waiting: 1}}, overview)

	page, err := queue.Jobs(t.Context(), notebook.JobQuery{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 1, page.Total)
	require.Nil(t, page.Jobs[0].NoteID)

	_, err = queue.Job(t.Context(), page.Jobs[0].ID)
	require.NoError(t, err)

	_, err = queue.Job(t.Context(), 999)
	require.Equal(t, tarsy.CodeJobNotFound, tarsy.CodeOf(err))
	require.Equal(t, tarsy.CodeQueueNotFound, tarsy.CodeOf(queue.Pause(t.Context(), "elsewhere")))
	require.Equal(t, tarsy.CodeQueueNotFound, tarsy.CodeOf(queue.Pause(t.Context(), "*")))
}

// River prefixes the error of a job that it must not retry.
func TestErrorOfCancelledJobHasNoPrefixInListAndByID(t *testing.T) {
	t.Parallel()

	queue := newQueue(t, jobs.Config{Pool: newPool(t, pgtest.New(t))}, &part{queue: "one", work: func(context.Context) error {
		return river.JobCancel(errors.New("the note is gone"))
	}})
	queue.Start()
	insert(t, queue, "one")

	var listed notebook.Job

	wait.Until(t, "the job fails", func() bool {
		page, err := queue.Jobs(t.Context(), notebook.JobQuery{Limit: 10, State: notebook.JobFailed})
		require.NoError(t, err)

		if len(page.Jobs) == 0 {
			return false
		}

		listed = page.Jobs[0]

		return true
	})
	require.Equal(t, "the note is gone", listed.Error)

	job, err := queue.Job(t.Context(), listed.ID)
	require.NoError(t, err)
	require.Equal(t, listed, job)
}

func TestPausedQueueStartsNothing(t *testing.T) {
	t.Parallel()

	ran := make(chan string, 2)
	queue := newQueue(t, jobs.Config{Pool: newPool(t, pgtest.New(t)), PollEvery: 10 * time.Millisecond}, &part{queue: "one", work: func(context.Context) error {
		ran <- "one"

		return nil
	}})
	require.NoError(t, queue.Pause(t.Context(), "one"), "before the first start")
	queue.Start()
	insert(t, queue, "one")

	overview, err := queue.Overview(t.Context())
	require.NoError(t, err)
	require.Equal(t, []notebook.JobQueue{{Name: "one", Paused: true, Waiting: 1}}, overview)
	require.Empty(t, ran)
	require.NoError(t, queue.Resume(t.Context(), "one"))
	await(t, ran)
}

func TestPartThatCannotRegisterIsAnError(t *testing.T) {
	t.Parallel()

	one := &part{queue: "one"}
	_, err := jobs.New(jobs.Config{Pool: newPool(t, pgtest.New(t))}, one, one)
	require.ErrorContains(t, err, "register workers")
}
