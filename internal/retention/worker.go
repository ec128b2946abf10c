package retention

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"tarsy.dev/tarsy/internal/postgres"
)

// trimJournals is the job that trims journals.
type trimJournals struct {
	// Period identifies the job: there is one per period.
	Period time.Time `json:"period" river:"unique"`
}

// Kind implements river.JobArgs.
func (trimJournals) Kind() string { return "trim_journals" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (trimJournals) InsertOpts() river.InsertOpts { return oncePerPeriod() }

// expireSessions is the job that marks old sessions as deleted.
type expireSessions struct {
	Period time.Time `json:"period" river:"unique"`
}

// Kind implements river.JobArgs.
func (expireSessions) Kind() string { return "expire_sessions" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (expireSessions) InsertOpts() river.InsertOpts { return oncePerPeriod() }

// purgeSessions is the job that removes the rows of sessions that were deleted long ago.
type purgeSessions struct {
	Period time.Time `json:"period" river:"unique"`
}

// Kind implements river.JobArgs.
func (purgeSessions) Kind() string { return "purge_sessions" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (purgeSessions) InsertOpts() river.InsertOpts { return oncePerPeriodIn(purgeQueueName) }

func oncePerPeriod() river.InsertOpts { return oncePerPeriodIn(queueName) }

func oncePerPeriodIn(queue string) river.InsertOpts {
	return river.InsertOpts{Queue: queue, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

type trimWorker struct {
	river.WorkerDefaults[trimJournals]

	cfg Config
}

// Work implements river.Worker. What is due depends on when the job runs, not on when it was scheduled.
func (w *trimWorker) Work(ctx context.Context, job *river.Job[trimJournals]) error {
	if err := w.trimNotes(ctx); err != nil {
		return err
	}

	done, err := sweep(ctx, job, func(ctx context.Context, last func(pgx.Tx) error) (postgres.Swept, error) {
		return w.cfg.DB.TrimJournals(ctx, w.cfg.Clock.Now().Add(-w.cfg.EventTTL), w.cfg.batch, last)
	})
	if done.Sessions > 0 {
		w.cfg.Logger.InfoContext(ctx, "journals trimmed", "sessions", done.Sessions, "events", done.Events)
	}

	return err
}

// trimNotes is idempotent, so it can run again when the job is retried.
func (w *trimWorker) trimNotes(ctx context.Context) error {
	if w.cfg.TrimNotes == nil {
		return nil
	}

	events, err := w.cfg.TrimNotes(ctx, w.cfg.Clock.Now().Add(-w.cfg.EventTTL))
	if err != nil {
		return fmt.Errorf("trim the journal of notes: %w", err)
	}

	if events > 0 {
		w.cfg.Logger.InfoContext(ctx, "journal of notes trimmed", "events", events)
	}

	return nil
}

type expireWorker struct {
	river.WorkerDefaults[expireSessions]

	cfg Config
}

// Work implements river.Worker.
func (w *expireWorker) Work(ctx context.Context, job *river.Job[expireSessions]) error {
	done, err := sweep(ctx, job, func(ctx context.Context, last func(pgx.Tx) error) (postgres.Swept, error) {
		return w.cfg.DB.ExpireSessions(ctx, w.cfg.Clock.Now().Add(-w.cfg.SessionRetention), w.cfg.batch, last)
	})
	if done.Sessions > 0 {
		w.cfg.Logger.InfoContext(ctx, "sessions expired", "sessions", done.Sessions)
	}

	return err
}

type purgeWorker struct {
	river.WorkerDefaults[purgeSessions]

	cfg Config
}

// Work implements river.Worker.
func (w *purgeWorker) Work(ctx context.Context, job *river.Job[purgeSessions]) error {
	done, err := sweep(ctx, job, func(ctx context.Context, last func(pgx.Tx) error) (postgres.Swept, error) {
		return w.cfg.DB.PurgeSessions(ctx, w.cfg.Clock.Now().Add(-w.cfg.PurgeAfter), max(w.cfg.batch.Sessions/purgeShare, 1), last)
	})
	if done.Sessions > 0 || done.Recipes > 0 {
		w.cfg.Logger.InfoContext(ctx, "sessions purged", "sessions", done.Sessions, "recipes", done.Recipes)
	}

	return err
}

// sweep runs batches until nothing is left, and returns their total. The last batch also completes the job, in the same
// transaction.
func sweep[A river.JobArgs](ctx context.Context, job *river.Job[A],
	run func(ctx context.Context, last func(pgx.Tx) error) (postgres.Swept, error),
) (postgres.Swept, error) {
	var total postgres.Swept

	for {
		swept, err := run(ctx, func(tx pgx.Tx) error {
			_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)

			return err
		})
		total.Sessions += swept.Sessions
		total.Events += swept.Events
		total.Recipes += swept.Recipes

		if err != nil || !swept.More {
			return total, err
		}
	}
}
