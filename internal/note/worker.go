package note

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// WorkersConfig configures how notes are processed. Everything is required except Logger.
type WorkersConfig struct {
	Store     *store.DB
	Processor *Processor
	// Tries is the maximum number of attempts of a job, Timeout how long the model may take in one attempt.
	Tries   Tries
	Timeout time.Duration
	// How many jobs of each queue run concurrently on this server.
	Extract, Organize, Reprocess int
	Logger                       *slog.Logger
}

// Workers process notes. They are a part of the job queue.
type Workers struct{ cfg WorkersConfig }

// NewWorkers returns the workers.
func NewWorkers(cfg WorkersConfig) *Workers {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}

	return &Workers{cfg: cfg}
}

// AddTo implements jobs.Part.
func (w *Workers) AddTo(workers *river.Workers, queues map[string]river.QueueConfig) error {
	err := errors.Join(
		river.AddWorkerSafely(workers, &extractWorker{workersOf: workersOf[extractJob]{cfg: w.cfg}}),
		river.AddWorkerSafely(workers, &organizeWorker{workersOf: workersOf[organizeJob]{cfg: w.cfg}}),
		river.AddWorkerSafely(workers, &reprocessWorker{workersOf: workersOf[reprocessJob]{cfg: w.cfg}}),
	)
	queues[notebook.QueueExtract] = river.QueueConfig{MaxWorkers: w.cfg.Extract}
	queues[notebook.QueueOrganize] = river.QueueConfig{MaxWorkers: w.cfg.Organize}
	queues[notebook.QueueReprocess] = river.QueueConfig{MaxWorkers: w.cfg.Reprocess, FetchPollInterval: jobs.SlowPoll}

	return err
}

// workersOf is the part that all workers share.
type workersOf[A river.JobArgs] struct {
	river.WorkerDefaults[A]

	cfg WorkersConfig
}

// storeLimit is how long an attempt may take in addition to the model's time.
const storeLimit = 10 * time.Second

// Timeout implements river.Worker.
func (w *workersOf[A]) Timeout(*river.Job[A]) time.Duration { return w.cfg.Timeout + storeLimit }

// complete ends a job in the transaction of its result. It fails if this attempt no longer owns the job, so that no result is stored twice.
func complete[A river.JobArgs](ctx context.Context, tx pgx.Tx, job *river.Job[A]) error {
	_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)

	return err
}

type extractWorker struct{ workersOf[extractJob] }

// Work implements river.Worker.
func (w *extractWorker) Work(ctx context.Context, job *river.Job[extractJob]) error {
	err := w.cfg.Processor.Extract(ctx, job.Args.NoteID, job.Args.Version, func(tx *store.Tx, entities []notebook.EntityDetail) error {
		if len(entities) > 0 {
			following := organizeJob{NoteID: job.Args.NoteID, Version: job.Args.Version}
			if err := w.cfg.Tries.add(ctx, river.ClientFromContext[pgx.Tx](ctx), tx, following); err != nil {
				return fmt.Errorf("queue the organization: %w", err)
			}
		}

		return complete(ctx, tx, job)
	})

	return w.cfg.recordFailure(ctx, job.JobRow, job.Args.NoteID, job.Args.Version, err)
}

type organizeWorker struct{ workersOf[organizeJob] }

// Work implements river.Worker.
func (w *organizeWorker) Work(ctx context.Context, job *river.Job[organizeJob]) error {
	err := w.cfg.Processor.Organize(ctx, job.Args.NoteID, job.Args.Version, func(tx *store.Tx) error { return complete(ctx, tx, job) })

	return w.cfg.recordFailure(ctx, job.JobRow, job.Args.NoteID, job.Args.Version, err)
}

// recordFailure records why an attempt failed. The error that it returns determines what River does with the job.
func (cfg WorkersConfig) recordFailure(ctx context.Context, job *rivertype.JobRow, noteID string, version int64, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rivertype.ErrNotFound):
		// It took so long that the job was rescued: another attempt has the result.
		cfg.Logger.WarnContext(ctx, "note job was taken over while it ran", "note_id", noteID, "job_id", job.ID)

		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		// The server is shutting down. River makes the job available again, for any server, without counting the attempt.
		return fmt.Errorf("%w: %w", context.Canceled, err)
	case tarsy.CodeOf(err) == tarsy.CodeNoteNotFound:
		return river.JobCancel(err)
	}

	permanent := Permanent(err)
	final := permanent || job.Attempt >= job.MaxAttempts

	cfg.Logger.WarnContext(ctx, "note not processed", "note_id", noteID, "kind", job.Kind, "attempt", job.Attempt, "final", final, "error", err)

	// If this fails too, the sweep finds the note without a job.
	if failure := cfg.Processor.Fail(ctx, noteID, version, err, final); failure != nil {
		return errors.Join(err, fmt.Errorf("record the error: %w", failure))
	}

	if permanent {
		return river.JobCancel(err)
	}

	return err
}
