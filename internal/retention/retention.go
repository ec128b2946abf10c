// Package retention limits the growth of the database: journals of sessions that ended some time ago are trimmed, old sessions
// are marked as deleted, and later their rows are removed. These are jobs of River queues: among many servers each runs once,
// and the job of a server that died is run by another.
//
// The package decides when and how much; the database package decides which sessions qualify, and changes them. Readers learn
// from the journal that events are gone.
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
	// soon is the delay before a server first schedules jobs after its start, and before a retry. Immediately would be too
	// early, because a starting server has other work. A whole period would be too late: a server that is restarted every half
	// hour must clean up too.
	soon = time.Minute
	// A batch is small enough that no one waits long for one of its sessions.
	batchSessions, batchEvents = 500, 20_000
	// purgeShare divides the batch size for purges: a session has many rows.
	purgeShare = 10
)

// Config defines what is kept for how long. DB is required.
type Config struct {
	DB *postgres.DB
	// Jobs is the queue that has Workers as a part. New requires it.
	Jobs *jobs.Queue
	// SessionRetention is how long sessions are shown after their end, EventTTL how long their journal is kept. Later questions
	// count as the end. Zero means forever.
	SessionRetention time.Duration
	EventTTL         time.Duration
	// TrimNotes trims the journal of notes, to which EventTTL applies too: it removes events older than a time and returns how
	// many; nil if there is no such journal.
	TrimNotes func(ctx context.Context, before time.Time) (int, error)
	// PurgeAfter is how long after its deletion a session's rows are removed. Zero keeps them forever.
	PurgeAfter time.Duration
	// Every is the length of a period, in which one server cleans up once; defaults to one hour.
	Every  time.Duration
	Clock  clockwork.Clock
	Logger *slog.Logger

	// batch limits one transaction; tests make it smaller.
	batch postgres.Batch
}

// Retention schedules the jobs of each period. Any number of servers can run one on the same database.
type Retention struct {
	cfg Config

	mu      sync.Mutex
	cancel  context.CancelFunc
	stopped bool
	running sync.WaitGroup
}

var errNegative = errors.New("SessionRetention, EventTTL, PurgeAfter and Every must not be negative")

// New creates a Retention. Nothing runs before Start.
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

// Start returns immediately. It can be called again, and does nothing after Stop.
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

// Stop stops scheduling and waits for that. The jobs stop with their queue. It can be called again, and before Start.
func (r *Retention) Stop() {
	r.mu.Lock()
	r.stopped = true

	if r.cancel != nil {
		r.cancel()
	}
	r.mu.Unlock()

	r.running.Wait()
}

// plan schedules the jobs of each period. Every server does so; the queue accepts each job of a period once.
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
