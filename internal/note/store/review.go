package store

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/notebook"
)

// NoReviewItem is the error for a review item that does not exist.
func NoReviewItem(id string) error {
	return tarsy.Errorf(tarsy.CodeReviewNotFound, "there is no review item %s", id)
}

// ReviewItems reads review items. rest follows FROM review_items r.
func ReviewItems(ctx context.Context, q Querier, rest string, args ...any) ([]notebook.ReviewItem, error) {
	return collect[notebook.ReviewItem](ctx, q, `SELECT `+postgres.ColumnsOf[notebook.ReviewItem]().Of("r")+` FROM review_items r `+rest, args...)
}

// LockReviewItem reads a review item and locks it until the end of the transaction.
func LockReviewItem(ctx context.Context, tx *Tx, id string) (notebook.ReviewItem, error) {
	return one[notebook.ReviewItem](ctx, tx, NoReviewItem(id),
		`SELECT `+postgres.ColumnsOf[notebook.ReviewItem]().List()+` FROM review_items WHERE id = $1 FOR UPDATE`, id)
}

// InsertReviewItem stores a new review item and emits its event. The statement is queued.
func InsertReviewItem(tx *Tx, r notebook.ReviewItem) {
	tx.queue(`
		INSERT INTO review_items (id, kind, status, note_id, entity_id, project_id, proposal, reason, confidence, score, created_at, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		r.ID, r.Kind, r.Status, r.NoteID, r.EntityID, r.ProjectID, r.Proposal, r.Reason, r.Confidence, r.Score, r.CreatedAt, r.Version)

	tx.Emit(notebook.NotePayload{
		Type: notebook.TypeReviewCreated, ReviewID: r.ID, NoteID: IDText(r.NoteID), EntityID: IDText(r.EntityID), ProjectID: IDText(r.ProjectID),
		Status: string(r.Status),
	})
}

// ResolveReviewItem closes or reopens a review item, with the next version. The caller has locked the row and emits the event.
func ResolveReviewItem(ctx context.Context, tx *Tx, r notebook.ReviewItem, status notebook.ReviewStatus, author string) (notebook.ReviewItem, error) {
	r.Status, r.ResolvedAt, r.ResolvedBy = status, &tx.Now, author
	if status == notebook.ReviewOpen {
		r.ResolvedAt, r.ResolvedBy = nil, ""
	}

	r.Version++

	_, err := tx.Exec(ctx, `UPDATE review_items SET status = $2, resolved_at = $3, resolved_by = $4, version = $5 WHERE id = $1`,
		r.ID, r.Status, r.ResolvedAt, r.ResolvedBy, r.Version)

	return r, err
}

// UpdateProposal stores the changed proposal of an open review item, with the next version, and emits the event. The caller holds the row
// lock.
func UpdateProposal(ctx context.Context, tx *Tx, r notebook.ReviewItem) error {
	r.Version++

	if _, err := tx.Exec(ctx, `UPDATE review_items SET proposal = $2, version = $3 WHERE id = $1`, r.ID, r.Proposal, r.Version); err != nil {
		return err
	}

	tx.Emit(ReviewEvent(notebook.TypeReviewUpdated, r, ""))

	return nil
}

// CloseReviewItems makes the open review items that match the condition on r obsolete, and emits their events.
func CloseReviewItems(ctx context.Context, tx *Tx, condition string, args ...any) error {
	open, err := ReviewItems(ctx, tx, `WHERE r.status = 'open' AND (`+condition+`) ORDER BY r.id FOR UPDATE`, args...)
	if err != nil {
		return err
	}

	for _, r := range open {
		if r, err = ResolveReviewItem(ctx, tx, r, notebook.ReviewObsolete, ""); err != nil {
			return err
		}

		tx.Emit(ReviewEvent(notebook.TypeReviewResolved, r, ""))
	}

	return nil
}

// ReviewEvent returns the event of a review item that was changed, resolved or reopened.
func ReviewEvent(eventType string, r notebook.ReviewItem, author string) notebook.NotePayload {
	return notebook.NotePayload{
		Type: eventType, ReviewID: r.ID, NoteID: IDText(r.NoteID), EntityID: IDText(r.EntityID), ProjectID: IDText(r.ProjectID), Status: string(r.Status),
		Author: author,
	}
}

// EntityEvent returns an event about an entity.
func EntityEvent(eventType string, e notebook.Entity, author string) notebook.NotePayload {
	return notebook.NotePayload{
		Type: eventType, EntityID: e.ID, NoteID: IDText(e.NoteID), SessionID: IDText(e.SessionID), ProjectID: IDText(e.ProjectID), EpicID: IDText(e.EpicID),
		Status: string(e.State), Author: author,
	}
}

// IDText returns an optional ID, or "" if it is nil.
func IDText(id *string) string {
	if id == nil {
		return ""
	}

	return *id
}
