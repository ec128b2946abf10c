package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// errSharedBackend is what PgBouncer in transaction mode would cause at random later: settings, prepared statements and LISTEN belong to
// a backend, and there each transaction gets another one.
var errSharedBackend = errors.New("the database address leads to a connection pooler that shares connections between clients, " +
	"such as PgBouncer with pool_mode = transaction: set pool_mode = session for this database, or use an address that leads to PostgreSQL itself")

const (
	// poolerProbes is how often two connections are compared. One comparison is enough unless others use the pool at that moment.
	poolerProbes = 5
	// poolerPatience bounds the comparison. A pooler in session mode that has no connection left lets the second one wait.
	poolerPatience = 3 * time.Second
)

// checkPooler refuses a pooler that gives one backend to several connections in turn. Without a pooler it costs one round trip.
func checkPooler(ctx context.Context, pool *pgxpool.Pool, first *pgxpool.Conn) error {
	backend, err := backendOf(ctx, first)
	// A pooler answers with a process id of its own making when a client connects.
	if err != nil || backend == first.Conn().PgConn().PID() {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, poolerPatience)
	defer cancel()

	second, err := pool.Acquire(ctx)
	if err != nil {
		// The first connection holds the last backend, so it does not share it.
		return nil
	}
	defer second.Release()

	for range poolerProbes {
		other, err := backendOf(ctx, second)
		if err != nil {
			return nil // as above
		}

		again, err := backendOf(ctx, first)
		if err != nil {
			return err
		}

		if other == backend || again != backend {
			return errSharedBackend
		}
	}

	return nil
}

// backendOf asks for the process that serves a connection. A prepared statement would be an error where it is not the one that prepared it.
func backendOf(ctx context.Context, conn *pgxpool.Conn) (uint32, error) {
	results, err := conn.Conn().PgConn().Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, fmt.Errorf("ask for the backend: %w", err)
	}

	pid, err := strconv.ParseUint(string(results[0].Rows[0][0]), 10, 32)

	return uint32(pid), err
}
