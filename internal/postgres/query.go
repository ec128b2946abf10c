package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
)

// Querier is a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Collect runs a query and returns its rows as structs, columns matched to fields by name.
func Collect[R any](ctx context.Context, on Querier, sql string, args ...any) ([]R, error) {
	rows, err := on.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, pgx.RowToStructByName[R])
}

// QueueRows adds a query to a batch and collects its rows in a slice.
func QueueRows[R any](batch *pgx.Batch, into *[]R, sql string, args ...any) {
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowToStructByName[R])

		return err
	})
}

// Decide is Collect for a statement that makes a decision: its row in the audit log is part of the transaction. If the statement
// returns no rows, nothing is changed.
func Decide[R any](ctx context.Context, on audit.Beginner, sql string, args ...any) (rows []R, err error) {
	err = audit.Change(ctx, on, func(tx pgx.Tx) error {
		rows, err = Collect[R](ctx, tx, sql, args...)
		if err == nil && len(rows) == 0 {
			return audit.ErrUnchanged
		}

		return err
	})

	return rows, err
}

// InSnapshot runs queries that see the same state of the database.
func InSnapshot(ctx context.Context, on *pgxpool.Pool, read func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, on, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, read)
}

// SessionRow returns the row of a query about one session, whose id is its first argument.
func SessionRow[R any](ctx context.Context, db *DB, id, sql string, args ...any) (*R, error) {
	if !ident.Valid(id) {
		return nil, SessionNotFound(id)
	}

	rows, err := Collect[R](ctx, db.readers, sql, append([]any{id}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}

	if len(rows) == 0 {
		return nil, SessionNotFound(id)
	}

	return &rows[0], nil
}
