package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATEs of a database that cannot be used now, although the statement was valid.
const (
	stateDiskFull     = "53100"
	stateReadOnly     = "25006" // a standby, or a primary that became one
	stateIOError      = "58030"
	stateIdleTooLong  = "25P03" // the connection was closed because it was idle in a transaction: the statement never ran
	stateTooLong      = "25P04" // the transaction took too long
	stateTempLimit    = "53400"
	classConnection   = "08"
	classResources    = "53" // disk, memory, connections
	classIntervention = "57P"
	classLogin        = "28"
	stateNoDatabase   = "3D000"
)

// IsUnavailable reports whether an error means that the database cannot be used now: it is unreachable, starting, stopping or
// recovering, accepts no writes, or its disk is full. The same request may succeed later.
func IsUnavailable(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}

	if pgErr, ok := errors.AsType[*pgError](err); ok {
		return unavailableState(pgErr.Code)
	}

	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}

	for _, broken := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, os.ErrDeadlineExceeded, context.DeadlineExceeded,
		pgconn.ErrConnClosed, errClosing,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}

	return false
}

func unavailableState(code string) bool {
	return code == stateReadOnly || code == stateIOError || code == stateIdleTooLong || code == stateTooLong || strings.HasPrefix(code, classConnection) ||
		strings.HasPrefix(code, classResources) || strings.HasPrefix(code, classIntervention)
}

// IsTransient reports whether waiting may help. A rejected login or a missing database needs a person.
func IsTransient(err error) bool {
	if pgErr, ok := errors.AsType[*pgError](err); ok && (strings.HasPrefix(pgErr.Code, classLogin) || pgErr.Code == stateNoDatabase) {
		return false
	}

	return IsUnavailable(err)
}

// Errors of Check.
var (
	errReadOnly = errors.New("the database accepts no writes: it is a standby, or read-only")
	errDiskFull = errors.New("the disk of the database is full")
)

// checkSQL writes about 100 kB to a temporary file, which fails when the disk is full and leaves nothing behind: the rows of a
// function are materialized, and spill to disk beyond work_mem. An insert would not do, because existing pages may have free
// space.
const checkSQL = `SELECT count(*) FROM generate_series(1, 5000)`

// Check verifies that the database answers, accepts writes, has free disk space, and has connections for this server.
func (db *DB) Check(ctx context.Context) error {
	if err := db.refusals.check(ctx, db.front); err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}

	var readOnly string

	err := pgx.BeginFunc(ctx, db.front, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue("SET LOCAL work_mem = '64kB'")
		batch.Queue("SHOW transaction_read_only").QueryRow(func(row pgx.Row) error { return row.Scan(&readOnly) })
		batch.Queue(checkSQL)

		return tx.SendBatch(ctx, batch).Close()
	})

	switch {
	case stateOf(err) == stateDiskFull:
		return fmt.Errorf("%w: %w", errDiskFull, err)
	// A database may refuse temporary files and still work.
	case err != nil && stateOf(err) != stateTempLimit:
		return fmt.Errorf("reach the database: %w", err)
	case readOnly == "on":
		return errReadOnly
	}

	return nil
}

// Problem describes an error of Check for people who may know nothing else about the server.
func Problem(err error) string {
	switch {
	case errors.Is(err, errDiskFull):
		return "The disk of the database is full."
	case errors.Is(err, errReadOnly):
		return "The database accepts no writes."
	case stateOf(err) == stateTooManyConnections:
		return "The database has no connections left. Raise max_connections, or the limit of the role or database; " +
			"each server needs " + strconv.Itoa(ServerConnections) + "."
	default:
		return "The database cannot be reached."
	}
}
