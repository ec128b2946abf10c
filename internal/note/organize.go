package note

import (
	"context"
	"errors"

	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// errPlaceClosed is returned if projects or epics were closed while the model chose among them. The next attempt has other choices.
var errPlaceClosed = errors.New("a project or epic was closed or deleted in the meantime")

// Organize files the entities of a note that are not organized yet, in one transaction with the note's status, its events and finish, which
// completes the job. The note is then done.
//
// A note that does not exist, has another version or does not wait to be organized is left alone; finish runs nevertheless. Errors come
// from infer.Model.Organize, the database and finish; see Permanent.
func (p *Processor) Organize(ctx context.Context, noteID string, version int64, finish func(tx *store.Tx) error) error {
	waits := func(n notebook.Note) bool {
		return n.Version == version && (n.Status == notebook.NoteExtracted || n.Status == notebook.NoteFailed && n.Processed)
	}

	note, err := p.load(ctx, noteID, waits)
	if err != nil {
		return err
	}

	if note == nil {
		return p.Store.Change(ctx, finish)
	}

	// No snapshot is needed: changes during these reads are detected when the result is stored, like changes while the model chooses.
	in, err := p.organizeInput(ctx, p.Store.Writer(), noteID)
	if err != nil {
		return err
	}

	file := func(places []infer.Place, finish func(*store.Tx) error) error {
		return p.changeNote(ctx, noteID, waits, finish, func(tx *store.Tx, note notebook.Note) error {
			return storeOrganized(ctx, &filing{tx: tx, note: note, confidence: p.confidence(), in: in, places: places}, finish)
		})
	}

	if noChoice(in) {
		return file(make([]infer.Place, len(in.Entities)), finish)
	}

	organization, made, err := p.Model.Organize(ctx, in)
	call := p.priced(noteID, made, err)

	if err == nil {
		err = file(organization.Places, func(tx *store.Tx) error {
			store.InsertCall(tx, call)

			return finish(tx)
		})
	}

	return p.keepCall(ctx, call, err)
}

// storeOrganized files the entities, stores the note's new status and runs finish.
func storeOrganized(ctx context.Context, f *filing, finish func(*store.Tx) error) error {
	organized, err := f.run(ctx)
	if err != nil {
		return err
	}

	f.note.Status, f.note.ProcessingError = notebook.NoteDone, ""

	// Otherwise the events of the entities imply that the note is done.
	if organized == 0 {
		f.tx.Emit(noteEvent(notebook.TypeNoteProcessed, f.note))
	}

	store.UpdateNote(f.tx, f.note)

	return finish(f.tx)
}
