package store

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// NoNote is the error for a note that does not exist.
func NoNote(id string) error {
	return tarsy.Errorf(tarsy.CodeNoteNotFound, "there is no note %s", id)
}

// Note reads a note.
func Note(ctx context.Context, q Querier, id string) (tarsy.Note, error) {
	return one[tarsy.Note](ctx, q, NoNote(id), `SELECT `+postgres.ColumnList[tarsy.Note]("")+` FROM notes WHERE id = $1`, id)
}

// LockNote reads a note and keeps others from changing it until the end of the transaction.
func LockNote(ctx context.Context, tx *Tx, id string) (tarsy.Note, error) {
	return one[tarsy.Note](ctx, tx, NoNote(id), `SELECT `+postgres.ColumnList[tarsy.Note]("")+` FROM notes WHERE id = $1 FOR UPDATE`, id)
}

// InsertNote stores a new note with the idempotency key of its capture, if it has one.
func InsertNote(ctx context.Context, tx *Tx, n tarsy.Note, key *tarsy.IdempotencyKey) error {
	var hash, fingerprint []byte
	if key != nil {
		hash, fingerprint = key.Hash, key.Fingerprint
	}

	_, err := tx.Exec(ctx, `
		INSERT INTO notes (id, content, source, session_id, author, status, processed, processing_error, entity_count, version, created_at,
			updated_at, processed_at, idempotency_hash, idempotency_fingerprint)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		n.ID, n.Content, n.Source, n.SessionID, n.Author, n.Status, n.Processed, n.ProcessingError, n.EntityCount, n.Version, n.CreatedAt,
		n.UpdatedAt, n.ProcessedAt, hash, fingerprint)

	return err
}

// UpdateNote stores the progress of a note: status, processed, error, entity count and version. UpdatedAt is set.
func UpdateNote(ctx context.Context, tx *Tx, n tarsy.Note) error {
	_, err := tx.Exec(ctx, `
		UPDATE notes SET status = $2, processed = $3, processing_error = $4, entity_count = $5, version = $6, processed_at = $7, updated_at = $8
		WHERE id = $1`, n.ID, n.Status, n.Processed, n.ProcessingError, n.EntityCount, n.Version, n.ProcessedAt, tx.Now)

	return err
}
