// Package store reads and writes the rows of notes, entities, projects and review items. Every change is one transaction together with its
// events in the journal of notes, and with the River jobs that follow from it.
//
// The package knows the tables, but not why they change: that is up to its parent (the pipeline), review and board.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/pgjournal"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/notebook"
)

// Config configures a DB. Everything is required except Clock and Logger.
type Config struct {
	// Write is the pool for changes and the journal, Read the pool for lists and searches.
	Write *pgxpool.Pool
	Read  *pgxpool.Pool
	// Clock sets the time of every change.
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// DB provides the rows and the journal of notes. It must be closed.
type DB struct {
	write, read *pgxpool.Pool
	clock       clockwork.Clock
	journal     *pgjournal.Journal[tarsy.Event]
}

// Open opens the journal of notes.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	entries, err := pgjournal.Open[tarsy.Event](ctx, pgjournal.Config{
		Pool: cfg.Write, Name: notebook.ChannelNotes, Clock: cfg.Clock, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("open the journal of notes: %w", err)
	}

	return &DB{write: cfg.Write, read: cfg.Read, clock: cfg.Clock, journal: entries}, nil
}

// Close closes the journal, which ends its readers.
func (db *DB) Close() error { return db.journal.Close() }

// Journal returns the journal of everything that happened to notes.
func (db *DB) Journal() journal.Reader[tarsy.Event] { return db.journal }

// Trim removes journal entries older than before, and returns how many it removed.
func (db *DB) Trim(ctx context.Context, before time.Time) (int, error) {
	var first, through journal.Position

	// Entries are ordered by time except for a few milliseconds, so the first one to keep determines the number to trim through.
	err := db.write.QueryRow(ctx, `
		SELECT j.trimmed, coalesce((
			SELECT e.seq - 1 FROM pgjournal_entries e WHERE e.journal_id = j.id AND e.seq > j.trimmed AND e.at >= $2 ORDER BY e.seq LIMIT 1
		), j.head) FROM pgjournal_journals j WHERE j.name = $1`, notebook.ChannelNotes, before).Scan(&first, &through)
	if err != nil {
		return 0, fmt.Errorf("find old entries: %w", err)
	}

	return int(through - first), db.journal.Trim(ctx, through)
}

// Now returns the time for a change, in microseconds, which is PostgreSQL's precision.
func (db *DB) Now() time.Time { return db.clock.Now().UTC().Truncate(time.Microsecond) }

// Querier reads rows. It is a pool or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// Writer returns the pool for changes, for short reads that a change depends on.
func (db *DB) Writer() Querier { return db.write }

// Reader returns the pool for lists and searches.
func (db *DB) Reader() Querier { return db.read }

// Snapshot runs several reads on one consistent snapshot.
func (db *DB) Snapshot(ctx context.Context, read func(Querier) error) error {
	return pgx.BeginTxFunc(ctx, db.read, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return read(tx)
	})
}

// attempts is how often a change is tried if it deadlocks.
const attempts = 5

// Change runs a change in one transaction and wakes the readers of its events. An error of change rolls it back and is returned unchanged.
// The pipeline, review and board lock rows in different orders, so two changes can deadlock: PostgreSQL aborts one of them, which is then
// rerun from its beginning.
func (db *DB) Change(ctx context.Context, change func(*Tx) error) error {
	for range attempts {
		if err := db.changeOnce(ctx, change); !isDeadlock(err) {
			return err
		}
	}

	return tarsy.Errorf(tarsy.CodeUnavailable, "the same rows are being changed concurrently; try again")
}

func (db *DB) changeOnce(ctx context.Context, change func(*Tx) error) error {
	var pending *pgjournal.Pending

	err := audit.Change(ctx, db.write, func(inner pgx.Tx) error {
		tx := &Tx{Tx: inner, Now: db.Now()}
		if err := change(tx); err != nil {
			return err
		}

		if len(tx.events) == 0 {
			return tx.flush(ctx)
		}

		var err error
		pending, err = db.journal.AppendTx(ctx, tx, tx.events...)

		return err
	})
	if err != nil {
		return err
	}

	if pending != nil {
		pending.Wake()
	}

	return nil
}

// isDeadlock reports whether PostgreSQL aborted a transaction because of a deadlock.
func isDeadlock(err error) bool {
	const deadlock = "40P01"

	pgErr, ok := errors.AsType[*pgconn.PgError](err)

	return ok && pgErr.Code == deadlock
}

// uniqueViolation is the SQLSTATE of a unique violation.
const uniqueViolation = "23505"

// IsTaken reports whether a change failed because a row with the same name or key exists.
func IsTaken(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)

	return ok && pgErr.Code == uniqueViolation
}

// CheckVersion returns an error if the version that a person saw is not the current one.
func CheckVersion(seen, present int64) error {
	if seen == present {
		return nil
	}

	return tarsy.FieldErrorf(tarsy.CodeChangedMeanwhile, "If-Match", "it has been changed: the current version is %d, not %d; reload it and try again", present, seen)
}

// collect runs a query and returns its rows as structs, matching columns to fields by name.
func collect[T any](ctx context.Context, q Querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

// into adds a query to a batch. Its rows are stored in rows as structs, matching columns to fields by name.
func into[T any](batch *pgx.Batch, rows *[]T, sql string, args ...any) {
	batch.Queue(sql, args...).Query(func(found pgx.Rows) (err error) {
		*rows, err = pgx.CollectRows(found, pgx.RowToStructByName[T])

		return err
	})
}

// one is collect for exactly one row. If there is none it returns the error missing.
func one[T any](ctx context.Context, q Querier, missing error, sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		var none T

		return none, err
	}

	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
	if errors.Is(err, pgx.ErrNoRows) {
		return found, missing
	}

	return found, err
}
