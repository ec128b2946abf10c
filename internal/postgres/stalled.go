package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy/internal/background"
)

const (
	defaultStalledAfter = 10 * time.Second
	// stalledChecks is how often each server checks in the time that a transaction may stall.
	stalledChecks = 4
	// stalledCheckTimeout bounds a check, so that a database that does not answer holds no connection.
	stalledCheckTimeout = 5 * time.Second
)

// endStalledSQL ends the transactions of servers that vanished while sending them. Such a backend has part of a pipeline and
// waits for the rest. It is not idle in a transaction, which begins with a Sync, and runs no statement, so none of PostgreSQL's
// time limits before version 17 applies; keepalives help only if nothing between the hosts answers them. It may end a transaction
// of a server that is merely very slow: that server sees a broken connection.
//
// Only connections of the same role and application name are ended, because COPY from a client looks the same.
const endStalledSQL = `
SELECT a.pid, pg_terminate_backend(a.pid) AS ended
FROM pg_stat_activity a
WHERE a.datname = current_database() AND a.usename = current_user AND a.application_name = current_setting('application_name')
  AND a.pid <> pg_backend_pid() AND a.state = 'active' AND a.wait_event_type = 'Client' AND a.wait_event = 'ClientRead'
  AND a.xact_start < clock_timestamp() - $1::interval`

// reaper ends stalled transactions of any server on the database. It uses real time, as the database's limits do.
type reaper struct {
	background.Task

	pool   *pgxpool.Pool
	after  time.Duration
	logger *slog.Logger
}

func (r *reaper) run(ctx context.Context) {
	background.Every(ctx, r.after/stalledChecks, stalledCheckTimeout, func(ctx context.Context) {
		// Users of the database report it if it is down.
		if ended, err := r.end(ctx); err == nil && ended > 0 {
			r.logger.Warn("ended stalled transactions of unresponsive servers", "transactions", ended)
		}
	})
}

func (r *reaper) end(ctx context.Context) (ended int, err error) {
	rows, err := r.pool.Query(ctx, endStalledSQL, r.after)
	if err != nil {
		return 0, err
	}

	type backend struct {
		PID   int
		Ended bool
	}

	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[backend])

	return len(found), err
}
