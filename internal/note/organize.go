package note

import (
	"context"
	"errors"

	"tarsy.dev/tarsy/internal/note/store"
)

// Organize files the entities of a note that nobody has organized yet, in one transaction with the note's status, its events and finish,
// which completes the job. The note is done then.
//
// A note that does not exist, has another version or does not wait to be organized is left alone; finish runs nevertheless. Errors are
// those of infer.Model.Organize, the database and finish; see Permanent.
func (p *Processor) Organize(ctx context.Context, noteID string, version int64, finish func(tx *store.Tx) error) error {
	return errors.ErrUnsupported
}
