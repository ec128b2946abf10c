package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/notebook"
)

// NoNote is the error for a note that does not exist.
func NoNote(id string) error {
	return tarsy.Errorf(tarsy.CodeNoteNotFound, "there is no note %s", id)
}

// Note reads a note.
func Note(ctx context.Context, q Querier, id string) (notebook.Note, error) {
	return one[notebook.Note](ctx, q, NoNote(id), `SELECT `+postgres.ColumnsOf[notebook.Note]().List()+` FROM notes WHERE id = $1`, id)
}

// LockNote reads a note and locks it until the end of the transaction.
func LockNote(ctx context.Context, tx *Tx, id string) (notebook.Note, error) {
	return one[notebook.Note](ctx, tx, NoNote(id), `SELECT `+postgres.ColumnsOf[notebook.Note]().List()+` FROM notes WHERE id = $1 FOR UPDATE`, id)
}

// InsertNote stores a new note with the idempotency key of its capture, if any.
func InsertNote(ctx context.Context, tx *Tx, n notebook.Note, key *tarsy.IdempotencyKey) error {
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

// UpdateNote stores the progress of a note: status, processed, error, entity count and version. UpdatedAt is set. The statement is queued.
func UpdateNote(tx *Tx, n notebook.Note) {
	tx.queue(`
		UPDATE notes SET status = $2, processed = $3, processing_error = $4, entity_count = $5, version = $6, processed_at = $7, updated_at = $8
		WHERE id = $1`, n.ID, n.Status, n.Processed, n.ProcessingError, n.EntityCount, n.Version, n.ProcessedAt, tx.Now)
}

// NoteByKey returns the note that was captured with an idempotency key, and the fingerprint of that capture; nil if there is none.
func NoteByKey(ctx context.Context, q Querier, hash []byte) (*notebook.Note, []byte, error) {
	type keyed struct {
		notebook.Note

		Fingerprint []byte `db:"idempotency_fingerprint"`
	}

	found, err := one[keyed](ctx, q, pgx.ErrNoRows,
		`SELECT `+postgres.ColumnsOf[notebook.Note]().List()+`, idempotency_fingerprint FROM notes WHERE idempotency_hash = $1`, hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, nil
	}

	return &found.Note, found.Fingerprint, err
}

// Notes reads a page of notes and counts all that match.
func Notes(ctx context.Context, q Querier, query notebook.NoteQuery) (notebook.NotePage, error) {
	var (
		page       notebook.NotePage
		conditions = []string{"true"}
		args       = pgx.NamedArgs{"limit": query.Limit + 1} // one more to detect whether there is a next page
	)

	filter := func(condition, name string, value any) {
		conditions = append(conditions, condition)
		args[name] = value
	}

	if len(query.Statuses) > 0 {
		filter("status = ANY(@statuses)", "statuses", query.Statuses)
	}

	if query.Source != "" {
		filter("source = @source", "source", query.Source)
	}

	if query.SessionID != "" {
		filter("session_id = @session", "session", query.SessionID)
	}

	if query.Visible.Limited {
		filter("team = ANY(@teams)", "teams", query.Visible.Values())
	}

	if query.Search != "" {
		filter("search_tokens(left(content, 32768)) @> search_tokens(@search)", "search", query.Search)
	}

	where := " FROM notes WHERE " + strings.Join(conditions, " AND ")

	if err := q.QueryRow(ctx, "SELECT count(*)"+where, args).Scan(&page.Total); err != nil {
		return page, fmt.Errorf("count: %w", err)
	}

	if query.After != nil {
		where += " AND (created_at, id) < (@created_at, @id)"
		args["created_at"], args["id"] = query.After.CreatedAt, query.After.ID
	}

	var err error

	page.Notes, err = collect[notebook.Note](ctx, q,
		"SELECT "+postgres.ColumnsOf[notebook.Note]().List()+where+" ORDER BY created_at DESC, id DESC LIMIT @limit", args)
	if err != nil {
		return page, err
	}

	if len(page.Notes) > query.Limit {
		page.Notes = page.Notes[:query.Limit]
		last := page.Notes[query.Limit-1]
		page.Next = &notebook.TimeCursor{CreatedAt: last.CreatedAt, ID: last.ID}
	}

	return page, nil
}

// finished matches the notes of a period that are not being processed.
const finished = `status IN ('done', 'failed') AND created_at >= $1 AND created_at <= $2`

// CountFinishedNotes counts the notes of a period that are not being processed.
func CountFinishedNotes(ctx context.Context, q Querier, since, until time.Time) (int, error) {
	var count int

	err := q.QueryRow(ctx, `SELECT count(*) FROM notes WHERE `+finished, since, until).Scan(&count)

	return count, err
}

// LockFinishedNotes reads and locks the next notes of a period that are not being processed, oldest first.
func LockFinishedNotes(ctx context.Context, tx *Tx, since, until time.Time, after *notebook.TimeCursor, limit int) ([]notebook.Note, error) {
	rest, args := ``, []any{since, until, limit}
	if after != nil {
		rest, args = ` AND (created_at, id) > ($4, $5)`, append(args, after.CreatedAt, after.ID)
	}

	return collect[notebook.Note](ctx, tx,
		`SELECT `+postgres.ColumnsOf[notebook.Note]().List()+` FROM notes WHERE `+finished+rest+` ORDER BY created_at, id LIMIT $3 FOR UPDATE`, args...)
}
