package note

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

const (
	// sweepEvery is the interval between sweeps, in real time like everything in the queue; sweepLimit is how long a sweep may take.
	sweepEvery = 30 * time.Second
	sweepLimit = 20 * time.Second
	sweepBatch = 500
)

// errLost is the error of a note whose last attempt reported no result, because its server died.
var errLost = tarsy.Errorf(tarsy.CodeInternal, "The last attempt did not finish because its server stopped.")

// Sweeper queues jobs for notes that should have one but do not: its insert failed, or a River leader of an earlier release, which does not
// know the job, discarded it. Every server runs one; if two find the same note concurrently, only one job is queued, because jobs are
// unique.
type Sweeper struct {
	background.Task

	service   *Service
	processor *Processor
	outage    background.Outage
}

// NewSweeper returns a Sweeper.
func NewSweeper(service *Service, processor *Processor) *Sweeper {
	return &Sweeper{service: service, processor: processor, outage: background.Outage{
		Failing: "could not queue notes that have no job", Over: "notes without a job are queued again", Level: slog.LevelWarn,
		Logger: service.cfg.Logger,
	}}
}

// Run sweeps until ctx ends.
func (s *Sweeper) Run(ctx context.Context) {
	background.Every(ctx, sweepEvery, sweepLimit, func(within context.Context) {
		if _, err := s.Sweep(within); ctx.Err() == nil {
			s.outage.Note(ctx, err)
		}
	})
}

// orphan is a note without a job. Lost means that it had one whose attempts are used up.
type orphan struct {
	ID      string
	Version int64
	Lost    bool
}

// orphansSQL joins the live jobs by note, of which there are as many as unfinished notes. Finished jobs are looked up only for the few
// notes that remain.
const orphansSQL = `
SELECT n.id, n.version, EXISTS (
    SELECT 1 FROM river_job d WHERE d.state = 'discarded' AND d.attempt >= d.max_attempts AND d.kind = n.kind
        AND d.args @> jsonb_build_object('note_id', n.id::text, 'version', n.version)
) AS lost
FROM (
    SELECT id, version, CASE status WHEN 'queued' THEN 'notes_extract' ELSE 'entities_organize' END AS kind
    FROM notes WHERE status IN ('queued', 'extracted') ORDER BY updated_at
) AS n
LEFT JOIN (
    SELECT j.kind, j.args->>'note_id' AS note_id, (j.args->>'version')::bigint AS version FROM river_job j
    WHERE j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled') AND j.queue = ANY($2)
) AS j ON j.note_id = n.id::text AND j.version = n.version AND j.kind = n.kind
WHERE j.kind IS NULL LIMIT $1`

// Sweep queues jobs for notes without one, and returns how many notes it handled.
func (s *Sweeper) Sweep(ctx context.Context) (int, error) {
	rows, err := s.service.cfg.Store.Writer().Query(ctx, orphansSQL, sweepBatch, []string{notebook.QueueExtract, notebook.QueueOrganize})
	if err != nil {
		return 0, fmt.Errorf("look for notes without a job: %w", err)
	}

	orphans, err := pgx.CollectRows(rows, pgx.RowToStructByName[orphan])
	if err != nil {
		return 0, fmt.Errorf("look for notes without a job: %w", err)
	}

	for i, found := range orphans {
		if found.Lost {
			err = s.processor.Fail(ctx, found.ID, found.Version, errLost, true)
		} else {
			err = s.adopt(ctx, found)
		}

		if err != nil {
			return i, fmt.Errorf("queue note %s: %w", found.ID, err)
		}
	}

	return len(orphans), nil
}

// adopt queues the job that a note waits for.
func (s *Sweeper) adopt(ctx context.Context, found orphan) error {
	return s.service.cfg.Store.Change(ctx, func(tx *store.Tx) error {
		note, err := store.LockNote(ctx, tx, found.ID)
		if err != nil {
			return err
		}

		job := next(note)
		if job == nil || note.Version != found.Version {
			return nil // it has progressed since
		}

		if err := s.service.cfg.Tries.add(ctx, s.service.cfg.Jobs, tx, job); err != nil {
			return err
		}

		note.ProcessingError = ""
		tx.Emit(requeued(note, ""))

		store.UpdateNote(tx, note)

		return nil
	})
}
