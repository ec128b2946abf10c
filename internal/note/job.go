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
	// The note, and its version when the job was queued: a job of an older version stores nothing. Together they name the job.
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

// reprocessJob queues a batch of notes again, and the job of the next batch.
type reprocessJob struct {
	// Notes that were captured from Since through Until.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// The last note of the previous batch.
	After *notebook.TimeCursor `json:"after,omitempty"`
	// Who asked for it.
	Author string `json:"author"`
}

// Kind implements river.JobArgs.
func (reprocessJob) Kind() string { return "notes_reprocess" }

// Tries is how often a job is tried before it counts as failed.
type Tries int

// add queues a job. One that exists for the same note and version is left as it is.
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

// next is the job that a note of a status waits for; nil if it waits for none.
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
