package note

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"tarsy.dev/tarsy/notebook"
)

// extractJob finds the entities of a note.
type extractJob struct {
	// The note, and its version when the job was queued: a job of an older version stores nothing. Together they identify the job.
	NoteID  string `json:"note_id" river:"unique"`
	Version int64  `json:"version" river:"unique"`
}

// Kind implements river.JobArgs.
func (extractJob) Kind() string { return "notes_extract" }

// organizeJob files the entities of a note.
type organizeJob struct {
	NoteID  string `json:"note_id" river:"unique"`
	Version int64  `json:"version" river:"unique"`
}

// Kind implements river.JobArgs.
func (organizeJob) Kind() string { return "entities_organize" }

// reprocessJob requeues a batch of notes, and queues the job for the next batch.
type reprocessJob struct {
	// Notes that were captured from Since through Until.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// The last note of the previous batch.
	After *notebook.TimeCursor `json:"after,omitempty"`
	// Who requested it.
	Author string `json:"author"`
}

// Kind implements river.JobArgs.
func (reprocessJob) Kind() string { return "notes_reprocess" }

// Tries is the maximum number of attempts of a job.
type Tries int

// add queues a job, unless one for the same note and version exists.
func (t Tries) add(ctx context.Context, client *river.Client[pgx.Tx], tx pgx.Tx, job river.JobArgs) error {
	options := river.InsertOpts{MaxAttempts: int(t)}

	switch job.(type) {
	case extractJob:
		options.Queue, options.UniqueOpts = notebook.QueueExtract, river.UniqueOpts{ByArgs: true}
	case organizeJob:
		options.Queue, options.UniqueOpts = notebook.QueueOrganize, river.UniqueOpts{ByArgs: true}
	case reprocessJob:
		options.Queue = notebook.QueueReprocess
	}

	_, err := client.InsertTx(ctx, tx, job, &options)

	return err
}

// next returns the job that a note waits for, according to its status; nil if none.
func next(n notebook.Note) river.JobArgs {
	switch n.Status {
	case notebook.NoteQueued:
		return extractJob{NoteID: n.ID, Version: n.Version}
	case notebook.NoteExtracted:
		return organizeJob{NoteID: n.ID, Version: n.Version}
	case notebook.NoteDone, notebook.NoteFailed:
	}

	return nil
}
