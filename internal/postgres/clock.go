package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/background"
)

const (
	// clockEvery is how often a server's clock is compared with the database's.
	clockEvery = 15 * time.Second
	// clockJitter is a difference that is not corrected: it is of the order of a slow round trip.
	clockJitter = 100 * time.Millisecond
	// clockTolerance is how far a server's own clock may be off before it is reported.
	clockTolerance = 2 * time.Second
	// clockTimeout bounds a comparison. A slower answer would be too inaccurate.
	clockTimeout = time.Second
)

// databaseClock shows the database's time, so that servers whose own clocks differ agree on when a lease ends. Between
// comparisons it advances by the time that passes on this server, even if the server's own clock is set.
type databaseClock struct {
	clockwork.Clock

	task   background.Task
	pool   *pgxpool.Pool
	logger *slog.Logger

	mu sync.RWMutex
	// remote was the database's time when this server's clock showed local.
	local, remote time.Time
	skewed        bool
}

// Now implements clockwork.Clock.
func (c *databaseClock) Now() time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()

	return c.remote.Add(c.Clock.Since(c.local))
}

// Since implements clockwork.Clock.
func (c *databaseClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until implements clockwork.Clock.
func (c *databaseClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

func (c *databaseClock) run(ctx context.Context) {
	background.Every(ctx, clockEvery, clockTimeout, func(ctx context.Context) {
		_ = c.compare(ctx) // after an error, time continues from the last comparison
	})
}

// compareFirst is compare within the time limit of a start.
func (c *databaseClock) compareFirst(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, AnswerTime)
	defer cancel()

	return c.compare(ctx)
}

// compare asks the database for its time, which is assumed to be that of the middle of the round trip.
func (c *databaseClock) compare(ctx context.Context) error {
	var remote time.Time

	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("compare clocks: %w", err)
	}
	defer conn.Release()

	sent := c.Clock.Now()

	if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&remote); err != nil {
		return fmt.Errorf("compare clocks: %w", err)
	}

	half := c.Clock.Since(sent) / 2
	c.set(sent.Add(half), remote.UTC())

	return nil
}

func (c *databaseClock) set(local, remote time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()

	// Time does not jump back and forth with the duration of round trips.
	if c.remote.IsZero() || remote.Sub(c.remote.Add(local.Sub(c.local))).Abs() > clockJitter {
		c.local, c.remote = local, remote
	}

	// Round drops the monotonic reading: wall clocks are compared, not elapsed time.
	offset := local.Round(0).Sub(remote)
	skewed := offset.Abs() > clockTolerance

	if skewed && !c.skewed {
		c.logger.Warn("this server's clock differs from the database's; leases and timestamps follow the database", "ahead", offset)
	}

	c.skewed = skewed
}
