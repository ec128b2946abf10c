// Package retention keeps the database from growing for ever: the journals of sessions that have been over for a while
// are dropped, and sessions that are old are marked as deleted. Both are jobs of a River queue, so that many servers do
// them once, and one whose server died is done by another.
//
// The package decides when and how much; which sessions may be touched, and the touching, is the database package's. It
// knows nothing of readers, who are told by the journal that events are gone.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/postgres"
)

const (
	defaultEvery = time.Hour
	// soon is when a server that just started plans for the first time, and when one that could not plans again. Who is
	// started again every half an hour cleans up, too; but a server that starts has other things to do.
	soon = time.Minute
	// A batch is small enough that nobody who wants one of its sessions waits for long.
	batchSessions, batchEvents = 500, 20_000
	// defaultPollEvery is how often a server looks whether there is a job.
	defaultPollEvery = 10 * time.Second
)

// Config says what is kept for how long.
type Config struct {
	DB *postgres.DB
	// SessionRetention is how long sessions are shown after their end, EventTTL how long their journal is kept. What
	// people ask later counts as the end. Zero means for ever.
	SessionRetention time.Duration
	EventTTL         time.Duration
	// Every is how often it is looked for what is due; an hour if zero.
	Every time.Duration
	// PollEvery is how often a server looks for a job that another one planned; ten seconds if zero. It is real time,
	// like everything within the queue.
	PollEvery time.Duration
	Clock     clockwork.Clock
	Logger    *slog.Logger

	// batch is what one transaction touches; tests make it smaller.
	batch postgres.Batch
	// hasty lets the queue begin at once what it would begin within a second or two; only tests are in such a hurry.
	hasty bool
}

// Retention plans the jobs of each period and works on them. Any number of servers may run one on the same database.
type Retention struct {
	cfg   Config
	queue *queue

	mu      sync.Mutex
	cancel  context.CancelFunc
	stopped bool
	running sync.WaitGroup
}

var errNegative = errors.New("the times of retention must not be negative")

// New prepares; nothing runs before Start.
func New(cfg Config) (*Retention, error) {
	if cfg.SessionRetention < 0 || cfg.EventTTL < 0 || cfg.Every < 0 || cfg.PollEvery < 0 {
		return nil, errNegative
	}

	if cfg.Every == 0 {
		cfg.Every = defaultEvery
	}

	if cfg.PollEvery == 0 {
		cfg.PollEvery = defaultPollEvery
	}

	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}

	if cfg.batch == (postgres.Batch{}) {
		cfg.batch = postgres.Batch{Sessions: batchSessions, Events: batchEvents}
	}

	queue, err := newQueue(cfg)
	if err != nil {
		return nil, fmt.Errorf("prepare the job queue: %w", err)
	}

	return &Retention{cfg: cfg, queue: queue}, nil
}

// Start returns at once. The queue, which costs a server a few milliseconds to start and two small statements a second from
// then on, is started when there is something to plan. It may be called again, and does nothing after Stop.
func (r *Retention) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.cancel != nil || r.stopped || r.cfg.SessionRetention == 0 && r.cfg.EventTTL == 0 {
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel

	r.running.Go(func() { r.plan(ctx) })
}

// Stop ends planning and working, and waits for both. A job in the middle finishes its batch, or is cut off and done again
// by whoever comes next. When ctx ends first, Stop returns its error. It may be called again, and before Start.
func (r *Retention) Stop(ctx context.Context) error {
	r.mu.Lock()
	r.stopped = true

	if r.cancel != nil {
		r.cancel()
	}
	r.mu.Unlock()

	r.running.Wait()

	return r.queue.stop(ctx)
}

// plan adds the jobs of each period. Each server does; the queue takes a job of a period once.
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

		if err := r.queue.add(ctx, period); err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("clean-up was not planned", "error", err)

			wait = min(soon, wait)
		}
	}
}
