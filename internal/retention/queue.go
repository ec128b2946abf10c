package retention

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"tarsy.dev/tarsy/internal/jobs"
)

const (
	queueName = "retention"
	// purgeQueueName is a separate queue because servers of the previous release work on queueName and would fail a job of an
	// unknown kind.
	purgeQueueName = "purge"
)

// Workers are the retention jobs, as a part of the job queue.
type Workers struct{ cfg Config }

// NewWorkers creates the workers for the same configuration as New; Jobs is not needed.
func NewWorkers(cfg Config) *Workers { return &Workers{cfg: cfg.withDefaults()} }

// AddTo implements jobs.Part.
func (w *Workers) AddTo(workers *river.Workers, queues map[string]river.QueueConfig) error {
	for _, add := range []func() error{
		func() error { return river.AddWorkerSafely(workers, &trimWorker{cfg: w.cfg}) },
		func() error { return river.AddWorkerSafely(workers, &expireWorker{cfg: w.cfg}) },
		func() error { return river.AddWorkerSafely(workers, &purgeWorker{cfg: w.cfg}) },
	} {
		if err := add(); err != nil {
			return err
		}
	}

	for _, name := range []string{queueName, purgeQueueName} {
		queues[name] = river.QueueConfig{MaxWorkers: 1, FetchPollInterval: jobs.SlowPoll}
	}

	return nil
}

// KeepJobs returns how long completed jobs must be kept: servers that schedule the same period must find its job even if it is
// done.
func (c Config) KeepJobs() time.Duration { return 2 * c.withDefaults().Every }

// add schedules the jobs of a period, unless another server has.
func (r *Retention) add(ctx context.Context, period time.Time) error {
	var planned []river.InsertManyParams

	if r.cfg.EventTTL > 0 {
		planned = append(planned, river.InsertManyParams{Args: trimJournals{Period: period}})
	}

	if r.cfg.SessionRetention > 0 {
		planned = append(planned, river.InsertManyParams{Args: expireSessions{Period: period}})
	}

	if r.cfg.PurgeAfter > 0 {
		planned = append(planned, river.InsertManyParams{Args: purgeSessions{Period: period}})
	}

	if _, err := r.cfg.Jobs.Client().InsertMany(ctx, planned); err != nil {
		return fmt.Errorf("add jobs: %w", err)
	}

	return nil
}
