package note

import (
	"context"
	"errors"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/store"
)

// Extract stores what the model finds in a note, in one transaction with the note's status, its events and finish. Finish completes the
// job and, if entities is not empty, inserts the job that organizes them: those that were stored, and those of earlier versions that a
// person kept before they were organized.
//
// A note that does not exist, has another version or is extracted already is left alone; finish then runs without entities. Errors are
// those of infer.Model.Extract, the database and finish; see Permanent.
func (p *Processor) Extract(ctx context.Context, noteID string, version int64, finish func(tx *store.Tx, entities []tarsy.EntityDetail) error) error {
	return errors.ErrUnsupported
}
