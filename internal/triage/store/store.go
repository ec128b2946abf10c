// Package store reads and writes the rows of triage: deliveries, groups of alerts, the states of alerts of sessions, suppressed
// alerts and silences. It knows the tables but not the decisions, which are up to its parent package. Sessions are created by
// internal/postgres, in the same transaction.
package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
)

// DB provides access to the rows of triage.
type DB struct {
	write, read *pgxpool.Pool
}

// New returns a DB on two pools: one for changes, one for lists.
func New(write, read *pgxpool.Pool) *DB { return &DB{write: write, read: read} }

// attempts is how often a change is tried in case of deadlocks.
const attempts = 5

// Change runs a change in one transaction. An error of change rolls the transaction back and is returned unchanged. Groups are
// locked in a fixed order, but alerts of different groups can have the same fingerprint: in case of a deadlock, PostgreSQL
// aborts one of the transactions, which then runs again from the start.
func (db *DB) Change(ctx context.Context, change func(pgx.Tx) error) error {
	for range attempts {
		if err := audit.Change(ctx, db.write, change); !isDeadlock(err) {
			return err
		}
	}

	return tarsy.Errorf(tarsy.CodeUnavailable, "Other deliveries change the same alerts right now. Try again.")
}

// isDeadlock reports whether PostgreSQL aborted a transaction because of a deadlock.
func isDeadlock(err error) bool {
	const deadlock = "40P01"

	pgErr, ok := errors.AsType[*pgconn.PgError](err)

	return ok && pgErr.Code == deadlock
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// collect runs a query and returns its rows as structs, matching columns to fields by name.
func collect[T any](ctx context.Context, q querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

// queueRows adds a query to a batch and collects its rows in a slice.
func queueRows[T any](batch *pgx.Batch, into *[]T, sql string, args ...any) {
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowToStructByName[T])

		return err
	})
}

// latest limits an array to the latest times, at most tarsy.MaxAlertTimes.
func latest(array string) string {
	return "(" + array + ")[greatest(1, cardinality(" + array + ") - 19):]"
}
