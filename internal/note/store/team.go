package store

import (
	"context"

	"tarsy.dev/tarsy/internal/ident"
)

// NoteTeam returns the team of the session that a note is about; empty if there is none.
func (db *DB) NoteTeam(ctx context.Context, id string) (string, error) {
	return db.team(ctx, NoNote, `SELECT team FROM notes WHERE id = $1`, id)
}

// EntityTeam returns the team of the session that an entity comes from; empty if there is none.
func (db *DB) EntityTeam(ctx context.Context, id string) (string, error) {
	return db.team(ctx, NoEntity, `SELECT team FROM entities WHERE id = $1`, id)
}

// ReviewTeam returns the team of the session that a review item comes from; empty if there is none.
func (db *DB) ReviewTeam(ctx context.Context, id string) (string, error) {
	return db.team(ctx, NoReviewItem, `SELECT team FROM review_items WHERE id = $1`, id)
}

func (db *DB) team(ctx context.Context, missing func(id string) error, sql, id string) (string, error) {
	if !ident.Valid(id) {
		return "", missing(id)
	}

	type row struct{ Team string }

	found, err := one[row](ctx, db.read, missing(id), sql, id)

	return found.Team, err
}
