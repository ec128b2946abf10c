package note

import (
	"context"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
)

// priced returns a finished model call about a note, with its price. A non-nil err means that the call failed.
func (p *Processor) priced(noteID string, made infer.Call, err error) store.Call {
	call := store.Call{
		ID: ident.New(), NoteID: noteID, Purpose: made.Purpose, Provider: made.Provider, ModelName: made.Model, Usage: made.Usage, CreatedAt: p.Store.Now(),
	}
	if p.Price != nil {
		call.Usage = p.Price(call.ModelName, call.CreatedAt, call.Usage)
	}

	if p.Called != nil {
		p.Called(call.Provider, call.ModelName, call.Purpose, call.Usage, err)
	}

	return call
}

// keepCall stores the call of an attempt that failed with cause, because the call was paid for, and returns cause. An attempt that succeeds
// stores its call in the transaction of its result.
func (p *Processor) keepCall(ctx context.Context, call store.Call, cause error) error {
	if cause == nil {
		return nil
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()

	// If the database is unavailable, the call is not counted; recording cause on the note then fails too, and is logged.
	_ = p.Store.Change(ctx, func(tx *store.Tx) error {
		store.InsertCall(tx, call)

		return nil
	})

	return cause
}
