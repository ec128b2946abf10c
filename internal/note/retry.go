package note

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/riverqueue/river/rivertype"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// RetryJob retries a failed job, or runs now a job that is scheduled for a retry. The note of a failed job waits for it again.
func (s *Service) RetryJob(ctx context.Context, id int64, author string) error {
	err := s.cfg.Store.Change(ctx, func(tx *store.Tx) error {
		job, err := s.cfg.Jobs.JobGetTx(ctx, tx, id)

		switch {
		case errors.Is(err, rivertype.ErrNotFound):
			return jobs.NoJob(id)
		case err != nil:
			return err
		case job.State == rivertype.JobStateRunning, job.State == rivertype.JobStateCompleted:
			return tarsy.Errorf(tarsy.CodeConflict, "the job is %s: only a failed job can be retried", job.State)
		}

		if err := s.revive(ctx, tx, job, author); err != nil {
			return err
		}

		_, err = s.cfg.Jobs.JobRetryTx(ctx, tx, id)

		return err
	})

	switch {
	case store.IsTaken(err):
		return tarsy.Errorf(tarsy.CodeConflict, "another job does the same work already")
	case err != nil:
		return fmt.Errorf("retry job: %w", err)
	default:
		return nil
	}
}

// revive makes the note of a job wait for it again. Jobs that are not about a note are left alone.
func (s *Service) revive(ctx context.Context, tx *store.Tx, job *rivertype.JobRow, author string) error {
	status := map[string]notebook.NoteStatus{extractJob{}.Kind(): notebook.NoteQueued, organizeJob{}.Kind(): notebook.NoteExtracted}[job.Kind]
	if status == "" {
		return nil
	}

	// Both kinds have the same arguments.
	var args extractJob
	if err := json.Unmarshal(job.EncodedArgs, &args); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}

	note, err := store.LockNote(ctx, tx, args.NoteID)
	if err != nil {
		return err
	}

	if note.Version != args.Version || note.Status != notebook.NoteFailed && note.Status != status {
		return tarsy.Errorf(tarsy.CodeConflict, "the note has been reprocessed since; this job is obsolete")
	}

	note.Status, note.ProcessingError = status, ""
	tx.Emit(requeued(note, author))

	store.UpdateNote(tx, note)

	return nil
}
