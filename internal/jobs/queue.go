// Package jobs is the one River client of a server. River's leader rescues the stuck jobs of all queues with its own workers and
// discards those of kinds that it does not know: two clients in one process with different workers would discard each other's jobs. So
// whatever has background work is a Part of this client.
//
// The package knows queues and the states of jobs. What a job does is for the part that registers it.
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
	// Limit is how long a job may take unless its worker sets another limit.
	Limit = 2 * time.Minute
	// RescueAfter is when a job counts as lost with its server. River looks every half a minute, so a job of a server that was killed
	// runs again within about three minutes. A worker with a longer limit is waited for.
	RescueAfter = Limit + 30*time.Second
	// SlowPoll is how often queues are polled whose jobs can wait. Jobs start by notification; polling finds those whose notification
	// was lost.
	SlowPoll = 10 * time.Second

	defaultPollEvery = time.Second
	defaultGrace     = 2 * time.Second
	defaultKeep      = 24 * time.Hour
	// keepFailed is how long failed jobs are shown.
	keepFailed = 7 * 24 * time.Hour
	attempts   = 5
	// cooldown is the shortest time between two fetches of a queue. River's own of 100 ms would limit a queue with four workers to
	// forty jobs a second.
	cooldown = 5 * time.Millisecond
	// startEvery is how long to wait before another attempt to start without a database.
	startEvery = time.Second
)

// Part registers workers and the queues that they work on.
type Part interface {
	AddTo(workers *river.Workers, queues map[string]river.QueueConfig) error
}

// Config says where jobs are. Pool is required.
type Config struct {
	// Pool has the tables of River. One of its connections is used to listen.
	Pool *pgxpool.Pool
	// Readers is used to show queues and jobs; Pool if nil.
	Readers *pgxpool.Pool
	Logger  *slog.Logger
	// PollEvery is how often queues are polled unless they say otherwise; a second if zero.
	PollEvery time.Duration
	// Grace is how long running jobs may go on after Stop; then they are cut off, and another server runs them. Two seconds if zero.
	Grace time.Duration
	// Keep is how long completed jobs are kept, during which they count as existing for unique jobs; a day if zero.
	Keep time.Duration
	// Hasty saves the second or two that maintenance takes to begin; for tests.
	Hasty bool
}

// Queue is the River client of a server. Any number of servers may have one on the same database.
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

// New makes the client. Jobs can be inserted before Start.
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
		// Reindexing takes locks, and autovacuum is enough for tables of this size.
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

// Client inserts jobs.
func (q *Queue) Client() *river.Client[pgx.Tx] { return q.client }

// Start begins to work, in the background: River asks the database several things first. If the database is not available it is tried again
// until Stop. Start may be called again, and does nothing after Stop.
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

// start reports whether there is nothing more to do.
func (q *Queue) start(ctx context.Context) bool {
	// The client lives until Stop, longer than this call.
	err := q.client.Start(context.WithoutCancel(ctx))
	if err != nil && ctx.Err() == nil {
		q.cfg.Logger.WarnContext(ctx, "could not start the job queue", "error", err)
	}

	return err == nil || ctx.Err() != nil
}

// Stop ends fetching and waits for running jobs as long as Config.Grace; those that are then cut off run again at once on another server.
// When ctx ends first, Stop returns its error. It may be called again, and before Start.
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
