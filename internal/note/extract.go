package note

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// pipeline is the author of everything that the pipeline creates.
const pipeline = "tarsy"

// unprovenConfidence caps the confidence of an entity whose evidence does not occur in the note, whatever the model reports.
const unprovenConfidence = 0.3

// Extract stores what the model finds in a note, in one transaction with the note's status, its events and finish. Finish completes the
// job. If entities is not empty, it also inserts the job that organizes them: the entities just stored, and those of earlier versions that
// a person kept before they were organized.
//
// A note that does not exist, has another version or was already extracted is left alone; finish then runs without entities. Errors come
// from infer.Model.Extract, the database and finish; see Permanent.
func (p *Processor) Extract(ctx context.Context, noteID string, version int64, finish func(tx *store.Tx, entities []notebook.EntityDetail) error) error {
	waits := func(n notebook.Note) bool {
		return n.Version == version && (n.Status == notebook.NoteQueued || n.Status == notebook.NoteFailed && !n.Processed)
	}

	note, err := p.load(ctx, noteID, waits)
	if err != nil {
		return err
	}

	if note == nil {
		return p.Store.Change(ctx, func(tx *store.Tx) error { return finish(tx, nil) })
	}

	found, made, err := p.Model.Extract(ctx, note.Content, note.CreatedAt)
	call := p.priced(noteID, made, err)

	if err != nil {
		return p.keepCall(ctx, call, err)
	}

	finishPaid := func(tx *store.Tx, entities []notebook.EntityDetail) error {
		store.InsertCall(tx, call)

		return finish(tx, entities)
	}

	err = p.changeNote(ctx, noteID, waits, func(tx *store.Tx) error { return finishPaid(tx, nil) }, func(tx *store.Tx, note notebook.Note) error {
		waiting, err := p.storeExtracted(ctx, tx, note, found)
		if err != nil {
			return err
		}

		return finishPaid(tx, waiting)
	})

	return p.keepCall(ctx, call, err)
}

// storeExtracted stores the entities and the note's new status. It returns the entities that wait to be organized.
func (p *Processor) storeExtracted(ctx context.Context, tx *store.Tx, note notebook.Note, found []infer.Extracted) ([]notebook.EntityDetail, error) {
	known, err := replaceEntities(ctx, tx, note)
	if err != nil {
		return nil, err
	}

	var waiting []notebook.EntityDetail

	for _, e := range known {
		if e.OrganizedAt == nil && counts(e.Entity) {
			waiting = append(waiting, e)
		}
	}

	created := 0

	for _, f := range found {
		same, err := isKnown(ctx, tx, known, note, f)
		if err != nil {
			return nil, err
		}

		if same {
			continue
		}

		entity := p.storeEntity(tx, note, f)
		known, waiting = append(known, entity), append(waiting, entity)
		created++
	}

	note.Status, note.Processed, note.ProcessedAt, note.ProcessingError, note.EntityCount = notebook.NoteDone, true, &tx.Now, "", created
	if len(waiting) > 0 {
		note.Status = notebook.NoteExtracted
	}

	tx.Emit(noteEvent(notebook.TypeNoteProcessed, note))

	store.UpdateNote(tx, note)

	return waiting, nil
}

// storeEntity stores an entity, and a review item if a person must decide on it.
func (p *Processor) storeEntity(tx *store.Tx, note notebook.Note, f infer.Extracted) notebook.EntityDetail {
	e := notebook.EntityDetail{
		Entity: notebook.Entity{
			ID: ident.New(), NoteID: &note.ID, NoteVersion: note.Version, SessionID: note.SessionID, Type: f.Type, Title: f.Title, Content: f.Content,
			Owner: f.Owner, DueOn: f.DueOn, Status: notebook.EntityOpen, State: notebook.EntityAccepted, Confidence: &f.Confidence,
			Position: store.PositionAt(tx.Now), CreatedBy: pipeline, CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
		},
		Tags: f.Tags, Sources: []notebook.EntitySource{},
	}

	reason := ""
	if f.Confidence < p.confidence() {
		reason = fmt.Sprintf("The model is not sure that the note states this (confidence %.2f).", f.Confidence)
	}

	if f.Passage != nil {
		e.Sources = append(e.Sources, notebook.EntitySource{
			EntityID: e.ID, NoteID: note.ID, Quote: f.Passage.Quote, StartOffset: f.Passage.Start, EndOffset: f.Passage.End,
		})
	} else {
		confidence := min(f.Confidence, unprovenConfidence)
		e.Confidence = &confidence
		reason = fmt.Sprintf("The words that the model quoted do not occur in the note: %q", f.Evidence)
	}

	if reason != "" {
		e.State = notebook.EntityProposed
	}

	store.InsertEntity(tx, e)
	tx.Emit(store.EntityEvent(notebook.TypeEntityCreated, e.Entity, ""))

	if reason != "" {
		store.InsertReviewItem(tx, notebook.ReviewItem{
			ID: ident.New(), Kind: notebook.ReviewEntity, Status: notebook.ReviewOpen, NoteID: &note.ID, EntityID: &e.ID, Reason: reason,
			Confidence: e.Confidence, CreatedAt: tx.Now, Version: 1,
		})
	}

	return e
}
