package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/notebook"
)

// Tx is the transaction of a change. It must be used by only one goroutine.
//
// Statements whose results are not needed are queued and sent together, before the next statement that is not queued or the commit. So each
// statement sees the writes of earlier ones, and the error of a queued one is returned by a later call. Pass on the Tx, not the pgx.Tx in
// it, which bypasses the queue.
type Tx struct {
	pgx.Tx

	// Now is the time of the change.
	Now    time.Time
	events []tarsy.Event
	queued pgx.Batch
}

// Emit adds an event to the change. It is appended to the journal in the same transaction.
func (tx *Tx) Emit(payload notebook.NotePayload) {
	payload.Timestamp = tx.Now
	tx.events = append(tx.events, notebook.NewNoteEvent(payload))
}

// queue adds a statement to be sent later.
func (tx *Tx) queue(sql string, args ...any) { tx.queued.Queue(sql, args...) }

// flush sends the queued statements in one round trip.
func (tx *Tx) flush(ctx context.Context) error {
	if tx.queued.Len() == 0 {
		return nil
	}

	batch := tx.queued
	tx.queued = pgx.Batch{}

	return tx.Tx.SendBatch(ctx, &batch).Close()
}

// Begin implements pgx.Tx with a savepoint.
func (tx *Tx) Begin(ctx context.Context) (pgx.Tx, error) {
	if err := tx.flush(ctx); err != nil {
		return nil, err
	}

	return tx.Tx.Begin(ctx)
}

// Exec implements pgx.Tx.
func (tx *Tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := tx.flush(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}

	return tx.Tx.Exec(ctx, sql, args...)
}

// Query implements pgx.Tx.
func (tx *Tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := tx.flush(ctx); err != nil {
		return nil, err
	}

	return tx.Tx.Query(ctx, sql, args...)
}

// QueryRow implements pgx.Tx.
func (tx *Tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := tx.flush(ctx); err != nil {
		return failedRow{err}
	}

	return tx.Tx.QueryRow(ctx, sql, args...)
}

// SendBatch implements pgx.Tx.
func (tx *Tx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	if err := tx.flush(ctx); err != nil {
		return failedBatch{err}
	}

	return tx.Tx.SendBatch(ctx, batch)
}

// failedRow is the row of a statement that was not sent.
type failedRow struct{ err error }

// Scan implements pgx.Row.
func (r failedRow) Scan(...any) error { return r.err }

// failedBatch is the result of a batch that was not sent.
type failedBatch struct{ err error }

// Exec implements pgx.BatchResults.
func (b failedBatch) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, b.err }

// Query implements pgx.BatchResults.
func (b failedBatch) Query() (pgx.Rows, error) { return nil, b.err }

// QueryRow implements pgx.BatchResults.
func (b failedBatch) QueryRow() pgx.Row { return failedRow(b) }

// Close implements pgx.BatchResults.
func (b failedBatch) Close() error { return b.err }
