package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// ConnectTimeout returns the time limit of an attempt to connect to an address.
func ConnectTimeout(t *testing.T, address string) time.Duration {
	t.Helper()

	p, err := openPools(t.Context(), Config{URL: address, MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(p.close)

	return p.front.Config().ConnConfig.ConnectTimeout
}

// Frontend returns the function that builds what reads and writes the messages of a server's connections.
func Frontend(t *testing.T) pgconn.BuildFrontendFunc {
	t.Helper()

	p, err := openPools(t.Context(), Config{URL: "postgres://localhost/none", MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(p.close)

	return p.readers.Config().ConnConfig.BuildFrontend
}

// Setting returns a setting of the connections that claim and commit.
func (db *DB) Setting(ctx context.Context, name string) (string, error) {
	var value string
	err := db.work.QueryRow(ctx, `SELECT current_setting($1)`, name).Scan(&value)

	return value, err
}

// Pools returns the pools by name.
func (db *DB) Pools() map[string]*pgxpool.Pool {
	return map[string]*pgxpool.Pool{"readers": db.readers, "front": db.front, "work": db.work, "jobs": db.jobs, "notes": db.notes, "alerts": db.alerts}
}

// EndStalled ends stalled transactions now.
func (db *DB) EndStalled(ctx context.Context) (int, error) { return db.reaper.end(ctx) }

// Notify sends a signal to the other servers now.
func (db *DB) Notify(ctx context.Context) {
	db.signals.raise(topicRequests, "key")
	db.signals.flush(ctx)
}

// Measure completes the quality records of some old sessions now.
func (db *DB) Measure(ctx context.Context) error {
	_, err := db.measurer.fill(ctx)

	return err
}

// Fill indexes some sessions for search now.
func (db *DB) Fill(ctx context.Context) error {
	_, err := db.filler.fill(ctx)

	return err
}

// ConnectionSettings returns the settings of every connection to a server of a version.
func ConnectionSettings(version string) map[string]string { return connectionSettings(version) }

// Listeners is how many connections listen outside of the pools.
const Listeners = listeners
