// Package jobs is the single River client of a server. River's leader rescues the stuck jobs of all queues with its own workers
// and discards those of unknown kinds, so two clients in one process with different workers would discard each other's jobs.
// Therefore everything with background work is a Part of this client.
//
// The package knows queues and job states. The work of a job is up to the part that registers it.
package jobs

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"tarsy.dev/tarsy/internal/background"
)

const (
	// Limit is the time limit of a job unless its worker sets another one.
	Limit = 2 * time.Minute
	// RescueAfter is when a job counts as lost with its server. River checks every half minute, so a job of a killed server
	// runs again within about three minutes. A worker with a longer limit gets that time.
	RescueAfter = Limit + 30*time.Second
	// SlowPoll is the polling interval of queues whose jobs can wait. Jobs are started by notification; polling finds those
	// whose notification was lost.
	SlowPoll = 10 * time.Second

	defaultPollEvery = time.Second
	defaultGrace     = 2 * time.Second
	defaultKeep      = 24 * time.Hour
	// keepFailed is how long failed jobs are kept.
	keepFailed = 7 * 24 * time.Hour
	attempts   = 5
	// cooldown is the minimum time between two fetches of a queue. River's default of 100 ms would limit a queue with four
	// workers to forty jobs a second.
	cooldown = 5 * time.Millisecond
	// startEvery is the delay between attempts to start without a database.
	startEvery = time.Second
)

// Part registers workers and the queues that they work on.
type Part interface {
	AddTo(workers *river.Workers, queues map[string]river.QueueConfig) error
}

// Config configures a Queue. Pool is required.
type Config struct {
	// Pool is the database with River's tables. One of its connections is used to listen.
	Pool *pgxpool.Pool
	// Readers is used to show queues and jobs; defaults to Pool.
	Readers *pgxpool.Pool
	Logger  *slog.Logger
	// PollEvery is the polling interval of queues that do not set their own; defaults to one second.
	PollEvery time.Duration
	// Grace is how long running jobs may continue after Stop; then they are cancelled, and another server runs them. Defaults
	// to two seconds.
	Grace time.Duration
	// Keep is how long completed jobs are kept, during which they count as existing for unique jobs; defaults to one day.
	Keep time.Duration
	// Hasty skips the startup delay of a second or two before maintenance; for tests.
	Hasty bool
}

// Queue is the River client of a server. Any number of servers can use the same database.
type Queue struct {
	cfg    Config
	client *river.Client[pgx.Tx]
	// names are the queues that this server works on, sorted.
	names []string

	mu       sync.Mutex
	started  bool
	stopped  bool
	starting background.Task
}

// New creates the client. Jobs can be inserted before Start.
func New(cfg Config, parts ...Part) (*Queue, error) {
	cfg = cfg.withDefaults()
	workers, queues := river.NewWorkers(), map[string]river.QueueConfig{}

	for _, part := range parts {
		if err := part.AddTo(workers, queues); err != nil {
			return nil, fmt.Errorf("register workers: %w", err)
		}
	}

	client, err := river.NewClient(riverpgxv5.New(cfg.Pool), &river.Config{
		Queues:                      queues,
		Workers:                     workers,
		Logger:                      slog.New(demoted{cfg.Logger.Handler()}).With("component", "river"),
		MaxAttempts:                 attempts,
		JobTimeout:                  Limit,
		RescueStuckJobsAfter:        RescueAfter,
		CompletedJobRetentionPeriod: cfg.Keep,
		CancelledJobRetentionPeriod: keepFailed,
		DiscardedJobRetentionPeriod: keepFailed,
		FetchCooldown:               min(cooldown, cfg.PollEvery),
		FetchPollInterval:           cfg.PollEvery,
		SoftStopTimeout:             cfg.Grace,
		// Reindexing takes locks, and autovacuum is sufficient for tables of this size.
		ReindexerSchedule: river.NeverSchedule(),
		TestOnly:          cfg.Hasty,
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the job queue: %w", err)
	}

	q := &Queue{cfg: cfg, client: client}
	q.names = slices.Sorted(maps.Keys(queues))

	return q, nil
}

func (c Config) withDefaults() Config {
	c.PollEvery = cmp.Or(c.PollEvery, defaultPollEvery)
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	c.Keep = cmp.Or(c.Keep, defaultKeep)
	c.Readers = cmp.Or(c.Readers, c.Pool)

	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}

	return c
}

// Client returns the River client, which inserts jobs.
func (q *Queue) Client() *river.Client[pgx.Tx] { return q.client }

// Start starts working in the background, because River first queries the database. If the database is unavailable, it retries
// until Stop. Start can be called again, and does nothing after Stop.
func (q *Queue) Start() {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.started || q.stopped {
		return
	}

	q.started = true
	q.starting.Start(func(ctx context.Context) {
		for !q.start(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(startEvery):
			}
		}
	})
}

// start reports whether no further attempt is needed.
func (q *Queue) start(ctx context.Context) bool {
	// The client runs until Stop, so it must not be cancelled with ctx.
	err := q.client.Start(context.WithoutCancel(ctx))
	if err != nil && ctx.Err() == nil {
		q.cfg.Logger.WarnContext(ctx, "could not start the job queue", "error", err)
	}

	return err == nil || ctx.Err() != nil
}

// Stop stops fetching and waits up to Config.Grace for running jobs; jobs that are then cancelled run again immediately on
// another server. If ctx is done first, Stop returns its error. Stop can be called again, and before Start.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.stopped = true
	q.starting.Stop()

	if err := q.client.Stop(ctx); err != nil {
		return fmt.Errorf("stop the job queue: %w", err)
	}

	return nil
}
