package retention

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

const (
	queueName = "retention"
	// purgeQueueName is a queue of its own because servers of the previous release work on queueName and would fail a
	// job of a kind that they do not know.
	purgeQueueName = "purge"
	// jobLimit is how long a job may take. One that does not finish is tried again, and goes on where it was.
	jobLimit = 5 * time.Minute
	// rescueAfter is when a job counts as lost with its server.
	rescueAfter = 6 * time.Minute
	attempts    = 5
	// batchLimit is how long a job that is stopped may take for its batch.
	batchLimit = 2 * time.Second
	keepJobs   = 24 * time.Hour
)

// queue is the River client. It is started by the first job that is added.
//
// It polls and does not listen: a connection of its own for a handful of jobs a day is too much. It shares the pool of
// the readers. Its own clock is real time; which jobs are due is decided by Retention, on the injected one.
type queue struct {
	cfg    Config
	client *river.Client[pgx.Tx]

	mu      sync.Mutex
	started bool
}

func newQueue(cfg Config) (*queue, error) {
	workers := river.NewWorkers()

	if err := river.AddWorkerSafely(workers, &trimWorker{cfg: cfg}); err != nil {
		return nil, err
	}

	if err := river.AddWorkerSafely(workers, &expireWorker{cfg: cfg}); err != nil {
		return nil, err
	}

	if err := river.AddWorkerSafely(workers, &purgeWorker{cfg: cfg}); err != nil {
		return nil, err
	}

	client, err := river.NewClient(riverpgxv5.New(cfg.DB.Jobs()), &river.Config{
		Queues:      map[string]river.QueueConfig{queueName: {MaxWorkers: 1}, purgeQueueName: {MaxWorkers: 1}},
		Workers:     workers,
		PollOnly:    true,
		Logger:      slog.New(demoted{cfg.Logger.Handler()}).With("component", "river"),
		MaxAttempts: attempts,
		JobTimeout:  jobLimit,
		// Two servers that plan the same period must find its job, also when it is done.
		CompletedJobRetentionPeriod: max(keepJobs, 2*cfg.Every),
		FetchCooldown:               min(cfg.PollEvery, river.FetchCooldownDefault),
		FetchPollInterval:           cfg.PollEvery,
		RescueStuckJobsAfter:        rescueAfter,
		SoftStopTimeout:             batchLimit,
		// The table has a few dozen rows.
		ReindexerSchedule: river.NeverSchedule(),
		TestOnly:          cfg.hasty,
	})
	if err != nil {
		return nil, err
	}

	return &queue{cfg: cfg, client: client}, nil
}

// add plans the jobs of a period, if nobody has, and starts working.
func (q *queue) add(ctx context.Context, period time.Time) error {
	var jobs []river.InsertManyParams

	if q.cfg.EventTTL > 0 {
		jobs = append(jobs, river.InsertManyParams{Args: trimJournals{Period: period}})
	}

	if q.cfg.SessionRetention > 0 {
		jobs = append(jobs, river.InsertManyParams{Args: expireSessions{Period: period}})
	}

	if q.cfg.PurgeAfter > 0 {
		jobs = append(jobs, river.InsertManyParams{Args: purgeSessions{Period: period}})
	}

	if _, err := q.client.InsertMany(ctx, jobs); err != nil {
		return fmt.Errorf("add jobs: %w", err)
	}

	q.mu.Lock()
	defer q.mu.Unlock()

	if q.started {
		return nil
	}

	// The queue lives until stop, longer than this call.
	if err := q.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the job queue: %w", err)
	}

	q.started = true

	return nil
}

// stop waits for a running job's batch.
func (q *queue) stop(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()

	if !q.started {
		return nil
	}

	if err := q.client.Stop(ctx); err != nil {
		return fmt.Errorf("stop the job queue: %w", err)
	}

	q.started = false

	return nil
}
