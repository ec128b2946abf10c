package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// errSharedBackend replaces the random failures that PgBouncer in transaction mode would cause later: settings, prepared
// statements and LISTEN belong to a backend, and there each transaction gets another one.
var errSharedBackend = errors.New("the database address leads to a connection pooler that shares connections between clients, " +
	"such as PgBouncer with pool_mode = transaction: set pool_mode = session for this database, or use an address that leads to PostgreSQL itself")

const (
	// poolerProbes is how often two connections are compared. One comparison is enough unless others use the pool at that moment.
	poolerProbes = 5
	// poolerTimeout bounds the comparison. A pooler in session mode that has no connection left makes the second one wait.
	poolerTimeout = 3 * time.Second
)

// checkPooler rejects a pooler that shares a backend between connections. Without a pooler it costs one round trip.
func checkPooler(ctx context.Context, pool *pgxpool.Pool, first *pgxpool.Conn) error {
	backend, err := backendOf(ctx, first)
	// A pooler makes up the process id that it sends when a client connects, so equal ids mean that there is none.
	if err != nil || backend == first.Conn().PgConn().PID() {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, poolerTimeout)
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

// backendOf returns the id of the process that serves a connection. It uses no prepared statement, which another backend would not have.
func backendOf(ctx context.Context, conn *pgxpool.Conn) (uint32, error) {
	results, err := conn.Conn().PgConn().Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, fmt.Errorf("ask for the backend: %w", err)
	}

	pid, err := strconv.ParseUint(string(results[0].Rows[0][0]), 10, 32)

	return uint32(pid), err
}
