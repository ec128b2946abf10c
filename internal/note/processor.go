// Package note is the pipeline from captured text to filed work: capture, extraction, organization. Its child packages contain the rows
// (store), the questions to the model (infer), people's decisions (review) and the projects and epics that entities are filed under
// (board).
package note

import (
	"context"
	"errors"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/structured"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/notebook"
)

// The default thresholds.
const (
	DefaultConfidence = 0.7
	DefaultSimilarity = 0.5
)

// Processor processes notes. It is called by the workers of the queue, and directly by tests. It keeps no state between calls.
type Processor struct {
	// Required.
	Store *store.DB
	Model *infer.Model
	// Confidence below which a person decides about an entity or its place; zero means DefaultConfidence.
	Confidence float64
	// Similarity of words from which an entity is a possible duplicate; zero means DefaultSimilarity.
	Similarity float64
	// Price returns a usage with its cost for a model at the given time; nil disables pricing.
	Price func(model string, at time.Time, u tarsy.Usage) tarsy.Usage
	// Called is called after each LLM call, with its priced usage and its error; may be nil.
	Called func(provider, model, purpose string, u tarsy.Usage, err error)
}

func (p *Processor) confidence() float64 {
	if p.Confidence == 0 {
		return DefaultConfidence
	}

	return p.Confidence
}

func (p *Processor) similarity() float64 {
	if p.Similarity == 0 {
		return DefaultSimilarity
	}

	return p.Similarity
}

// changeNote runs change, in a transaction, on a note that still waits for it according to waits. For other notes it runs skipped instead.
func (p *Processor) changeNote(
	ctx context.Context, noteID string, waits func(notebook.Note) bool, skipped func(*store.Tx) error, change func(*store.Tx, notebook.Note) error,
) error {
	return p.Store.Change(ctx, func(tx *store.Tx) error {
		note, err := store.LockNote(ctx, tx, noteID)

		switch {
		case tarsy.CodeOf(err) == tarsy.CodeNoteNotFound, err == nil && !waits(note):
			return skipped(tx)
		case err != nil:
			return err
		default:
			return change(tx, note)
		}
	})
}

// load reads a note. It returns nil if the note does not exist or does not wait for the job.
func (p *Processor) load(ctx context.Context, noteID string, waits func(notebook.Note) bool) (*notebook.Note, error) {
	note, err := store.Note(ctx, p.Store.Writer(), noteID)

	switch {
	case tarsy.CodeOf(err) == tarsy.CodeNoteNotFound, err == nil && !waits(note):
		return nil, nil //nolint:nilnil // there is nothing to do
	case err != nil:
		return nil, err
	default:
		return &note, nil
	}
}

const (
	// recordTimeout limits how long recording an error takes.
	recordTimeout = 10 * time.Second
	// maxError is how much of an error is kept on a note, in bytes.
	maxError = 2_000
)

// Fail records an error on a note. If final is set the note has failed, otherwise it waits for another attempt. A note that has another
// version or is done is left alone. The error is recorded even if ctx is done.
func (p *Processor) Fail(ctx context.Context, noteID string, version int64, cause error, final bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()

	waits := func(n notebook.Note) bool { return n.Version == version && n.Status != notebook.NoteDone }

	return p.changeNote(ctx, noteID, waits, func(*store.Tx) error { return nil }, func(tx *store.Tx, note notebook.Note) error {
		note.ProcessingError = errorForPeople(cause)
		event := notebook.TypeNoteRequeued

		if final {
			note.Status = notebook.NoteFailed
			event = notebook.TypeNoteFailed
		}

		payload := noteEvent(event, note)
		payload.Error = note.ProcessingError
		tx.Emit(payload)

		store.UpdateNote(tx, note)

		return nil
	})
}

// Permanent reports whether retrying the job is pointless: the answer did not fit the schema, or the provider refused the text. The caller
// then calls Fail with final set.
func Permanent(err error) bool {
	if errors.Is(err, structured.ErrSchema) {
		return true
	}

	e, ok := errors.AsType[*llm.Error](err)

	return ok && (e.Class == llm.ClassSafety || e.Class == llm.ClassContextTooLong)
}

// errorForPeople returns the error text shown on a note. Errors of the database and internal errors are only logged.
func errorForPeople(err error) string {
	text := "Processing failed because of an internal error; the server's log has the details."

	_, fromModel := errors.AsType[*llm.Error](err)
	_, reported := errors.AsType[llm.ErrorChunk](err)
	_, ours := errors.AsType[*tarsy.Error](err)

	if fromModel || reported || ours || errors.Is(err, structured.ErrSchema) || errors.Is(err, errPlaceClosed) {
		text = err.Error()
	}

	return plaintext.Cut(plaintext.Clean(text), maxError)
}

func noteEvent(eventType string, n notebook.Note) notebook.NotePayload {
	return notebook.NotePayload{
		Type: eventType, NoteID: n.ID, SessionID: store.IDText(n.SessionID), Status: string(n.Status), EntityCount: n.EntityCount,
	}
}
