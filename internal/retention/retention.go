// Package retention keeps the database from growing for ever: the journals of sessions that have been over for a while
// are dropped, old sessions are marked as deleted, and later their rows are removed. All of these are jobs of River
// queues: many servers do each of them once, and the job of a server that died is done by another.
//
// The package decides when and how much; which sessions may be touched, and the touching, is the database package's. It
// knows nothing of readers, who are told by the journal that events are gone.
package retention

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/postgres"
)

const (
	defaultEvery = time.Hour
	// soon is when a server plans for the first time after its start, and again after a plan that failed. At once is too
	// early: a server that starts has other things to do. A whole period is too late: a server that is restarted every
	// half an hour must clean up as well.
	soon = time.Minute
	// A batch is small enough that nobody who wants one of its sessions waits for long.
	batchSessions, batchEvents = 500, 20_000
	// purgeShare is which part of a batch is purged at once: a session has many rows.
	purgeShare = 10
)

// Config says what is kept for how long. DB is required.
type Config struct {
	DB *postgres.DB
	// Jobs is the queue that has Workers as a part; New requires it.
	Jobs *jobs.Queue
	// SessionRetention is how long sessions are shown after their end, EventTTL how long their journal is kept. What
	// people ask later counts as the end. Zero means for ever.
	SessionRetention time.Duration
	EventTTL         time.Duration
	// TrimNotes removes what is older than a time from the journal of notes, for which EventTTL holds too, and returns how much it
	// removed; nil if there is none.
	TrimNotes func(ctx context.Context, before time.Time) (int, error)
	// PurgeAfter is how long after its deletion a session's rows are removed. Zero keeps them.
	PurgeAfter time.Duration
	// Every is how long a period is: what is due is looked for once in it, by one server; an hour if zero.
	Every  time.Duration
	Clock  clockwork.Clock
	Logger *slog.Logger

	// batch is what one transaction touches; tests make it smaller.
	batch postgres.Batch
}

// Retention plans the jobs of each period. Any number of servers may run one on the same database.
type Retention struct {
	cfg Config

	mu      sync.Mutex
	cancel  context.CancelFunc
	stopped bool
	running sync.WaitGroup
}

var errNegative = errors.New("SessionRetention, EventTTL, PurgeAfter and Every must not be negative")

// New makes a Retention. Nothing runs before Start.
func New(cfg Config) (*Retention, error) {
	if cfg.SessionRetention < 0 || cfg.EventTTL < 0 || cfg.PurgeAfter < 0 || cfg.Every < 0 {
		return nil, errNegative
	}

	return &Retention{cfg: cfg.withDefaults()}, nil
}

func (c Config) withDefaults() Config {
	c.Every = cmp.Or(c.Every, defaultEvery)
	c.batch = cmp.Or(c.batch, postgres.Batch{Sessions: batchSessions, Events: batchEvents})

	if c.Clock == nil {
		c.Clock = clockwork.NewRealClock()
	}

	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}

	return c
}

// Start returns at once. It may be called again, and does nothing after Stop.
func (r *Retention) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.cancel != nil || r.stopped || r.cfg.SessionRetention == 0 && r.cfg.EventTTL == 0 && r.cfg.PurgeAfter == 0 {
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel

	r.running.Go(func() { r.plan(ctx) })
}

// Stop ends planning, and waits for it. The jobs end with their queue. It may be called again, and before Start.
func (r *Retention) Stop() {
	r.mu.Lock()
	r.stopped = true

	if r.cancel != nil {
		r.cancel()
	}
	r.mu.Unlock()

	r.running.Wait()
}

// plan adds the jobs of each period. Every server does; the queue takes each job of a period once.
func (r *Retention) plan(ctx context.Context) {
	wait := min(soon, r.cfg.Every)

	for {
		timer := r.cfg.Clock.NewTimer(wait)

		select {
		case <-ctx.Done():
			timer.Stop()

			return
		case <-timer.Chan():
		}

		now := r.cfg.Clock.Now()
		period := now.UTC().Truncate(r.cfg.Every)
		wait = period.Add(r.cfg.Every).Sub(now)

		if err := r.add(ctx, period); err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("could not schedule clean-up", "error", err)

			wait = min(soon, wait)
		}
	}
}
