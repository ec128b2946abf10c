package note

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// reprocessBatch is how many notes one transaction requeues.
const reprocessBatch = 100

// Reprocess queues a note to be processed from the beginning, whatever its status. Jobs of its earlier versions no longer store anything.
func (s *Service) Reprocess(ctx context.Context, id, author string) (notebook.Note, error) {
	if !ident.Valid(id) {
		return notebook.Note{}, store.NoNote(id)
	}

	var note notebook.Note

	err := s.cfg.Store.Change(ctx, func(tx *store.Tx) (err error) {
		if note, err = store.LockNote(ctx, tx, id); err != nil {
			return err
		}

		note, err = requeue(ctx, tx, s.cfg.Jobs, s.cfg.Tries, note, author)

		return err
	})
	if err != nil {
		return notebook.Note{}, fmt.Errorf("process note again: %w", err)
	}

	return note, nil
}

// requeue gives a locked note its next version and queues it.
func requeue(ctx context.Context, tx *store.Tx, client *river.Client[pgx.Tx], tries Tries, n notebook.Note, author string) (notebook.Note, error) {
	n.Version++
	n.Status, n.Processed, n.ProcessedAt, n.ProcessingError, n.UpdatedAt = notebook.NoteQueued, false, nil, "", tx.Now

	if err := tries.add(ctx, client, tx, next(n)); err != nil {
		return n, fmt.Errorf("queue the note: %w", err)
	}

	tx.Emit(requeued(n, author))

	store.UpdateNote(tx, n)

	return n, nil
}

func requeued(n notebook.Note, author string) notebook.NotePayload {
	return notebook.NotePayload{
		Type: notebook.TypeNoteRequeued, NoteID: n.ID, SessionID: store.IDText(n.SessionID), Status: string(n.Status), Author: author,
	}
}

// ReprocessSince queues a job that reprocesses, in batches, all notes captured since the given time, and returns how many there are. Notes
// that are being processed are left alone.
func (s *Service) ReprocessSince(ctx context.Context, since time.Time, author string) (int, error) {
	var count int

	err := s.cfg.Store.Change(ctx, func(tx *store.Tx) (err error) {
		job := reprocessJob{Since: since, Until: tx.Now, Author: author}

		count, err = store.CountFinishedNotes(ctx, tx, job.Since, job.Until)
		switch {
		case err != nil:
			return err
		case count == 0:
			return audit.ErrUnchanged
		}

		audit.Detail(ctx, "since", since.UTC().Format(time.RFC3339))
		audit.Detail(ctx, "notes", strconv.Itoa(count))

		return s.cfg.Tries.add(ctx, s.cfg.Jobs, tx, job)
	})
	if err != nil {
		return 0, fmt.Errorf("process notes again: %w", err)
	}

	return count, nil
}

type reprocessWorker struct{ workersOf[reprocessJob] }

// Work implements river.Worker. One transaction requeues a batch, queues the next job and completes this one: no note is queued twice.
func (w *reprocessWorker) Work(ctx context.Context, job *river.Job[reprocessJob]) error {
	client, following := river.ClientFromContext[pgx.Tx](ctx), job.Args

	return w.cfg.Store.Change(ctx, func(tx *store.Tx) error {
		notes, err := store.LockFinishedNotes(ctx, tx, job.Args.Since, job.Args.Until, job.Args.After, reprocessBatch)
		if err != nil {
			return fmt.Errorf("find notes: %w", err)
		}

		for _, n := range notes {
			if _, err := requeue(ctx, tx, client, w.cfg.Tries, n, job.Args.Author); err != nil {
				return err
			}

			following.After = &notebook.TimeCursor{CreatedAt: n.CreatedAt, ID: n.ID}
		}

		if len(notes) == reprocessBatch {
			if err := w.cfg.Tries.add(ctx, client, tx, following); err != nil {
				return fmt.Errorf("queue the next batch: %w", err)
			}
		}

		return complete(ctx, tx, job)
	})
}
