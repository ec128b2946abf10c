package postgres

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/progress"
)

// Config is the configuration of a DB.
type Config struct {
	URL string
	// Migrate makes Open apply missing migrations first.
	Migrate bool
	// Wait is how long Open waits for an unavailable database; 0 means not at all.
	Wait time.Duration
	// Progress receives a line from time to time while Open waits for the database; nil discards it.
	Progress func(string)
	// Step is called when Open begins something that may take long, and returns a function to call at its end; nil means nothing.
	Step func(what string) (done func())
	// MaxConns bounds the connections of readers. Everything else has connections of its own (see pools), and one more listens to
	// other servers.
	MaxConns int32
	// ReadTimeout bounds each statement of a reader; 10 seconds if zero. IsReadTimeout recognizes its error.
	ReadTimeout time.Duration
	// StalledAfter is how long a transaction may wait for its server to send more before any server ends it; 10 seconds if zero.
	StalledAfter time.Duration
	// MaxWaiting is how many sessions may wait before CreateSession refuses more; 0 means unlimited. They are counted every
	// CountWaitingEvery, one second if zero, so several servers together can exceed the limit by what they store in that time.
	MaxWaiting        int
	CountWaitingEvery time.Duration
	// SeverityAgeing is how much longer than a session of the next higher severity a session must have waited to come first; 0
	// ignores severities.
	SeverityAgeing time.Duration
	// PollEvery is how often watched journals and the queue are polled in case a signal was lost. PollJitter bounds a random
	// addition, so that servers do not poll in step.
	PollEvery  time.Duration
	PollJitter time.Duration
	Clock      clockwork.Clock
	// DatabaseTime makes DB.Clock show the database's time instead of Clock's, which then only measures elapsed time. Tests with
	// a fake clock leave it off.
	DatabaseTime bool
	// StepsPerCommit bounds the steps of one transaction; 0 means 64. Tests that count transactions set 1.
	StepsPerCommit int
	// Committed is called with each step after its commit, and must be fast; nil means nothing.
	Committed func(progress.Step)
	Logger    *slog.Logger
}

const defaultPollEvery = 1500 * time.Millisecond

// DB is one server's access to the database. Start it before use; Stop waits for everything it started.
type DB struct {
	*pools

	clock     clockwork.Clock
	logger    *slog.Logger
	signals   *Signals
	committer *committer
	intake    *intake
	filler    *filler
	measurer  *filler
	reaper    *reaper
	// compared is nil if the injected clock is used as it is.
	compared *databaseClock
}

// Open connects to the database and, if Config.Migrate is set, migrates it. Nothing runs until Start.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	cfg.MaxConns = cmp.Or(cfg.MaxConns, defaultReaders)
	cfg.ReadTimeout = cmp.Or(cfg.ReadTimeout, defaultReadTimeout)
	cfg.CountWaitingEvery = cmp.Or(cfg.CountWaitingEvery, countEvery)
	cfg.StalledAfter = cmp.Or(cfg.StalledAfter, defaultStalledAfter)
	cfg.PollEvery = cmp.Or(cfg.PollEvery, defaultPollEvery)

	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}

	if cfg.Progress == nil {
		cfg.Progress = func(string) {}
	}

	if cfg.Step == nil {
		cfg.Step = noStep
	}

	if cfg.Committed == nil {
		cfg.Committed = func(progress.Step) {}
	}

	pools, err := openPools(ctx, cfg)
	if err != nil {
		return nil, err
	}

	if err := cfg.await(ctx, pools.front); err != nil {
		pools.close()

		return nil, err
	}

	var compared *databaseClock

	if cfg.DatabaseTime {
		compared = &databaseClock{Clock: cfg.Clock, pool: pools.front, logger: cfg.Logger}
		if err := compared.compareFirst(ctx); err != nil {
			pools.close()

			return nil, err
		}

		cfg.Clock = compared
	}

	signals := newSignals(pools, cfg)

	return &DB{
		compared:  compared,
		pools:     pools,
		clock:     cfg.Clock,
		logger:    cfg.Logger,
		signals:   signals,
		committer: newCommitter(pools.work, signals, cfg.StepsPerCommit, cfg.Committed),
		intake:    newIntake(pools.work, signals, cfg),
		filler:    newFiller(pools.jobs, cfg.Logger),
		measurer:  newMeasurer(pools.jobs, cfg.Logger),
		reaper:    &reaper{pool: pools.front, after: cfg.StalledAfter, logger: cfg.Logger},
	}, nil
}

// Start starts the committer, the listener and the other background work.
func (db *DB) Start() {
	db.signals.start()
	db.committer.steps.Start()
	db.intake.arrivals.Start()
	db.filler.Start(db.filler.run)
	db.measurer.Start(db.measurer.run)
	db.reaper.Start(db.reaper.run)

	if db.compared != nil {
		db.compared.task.Start(db.compared.run)
	}
}

// Stop commits what is waiting, ends all background work and closes the pools. It is idempotent.
func (db *DB) Stop() {
	if db.compared != nil {
		db.compared.task.Stop()
	}

	db.reaper.Stop()
	db.measurer.Stop()
	db.filler.Stop()
	db.intake.arrivals.Stop()
	db.committer.steps.Stop()
	db.signals.stop()
	db.close()
}

// Clock returns the clock that times leases. Use it for all stored times.
func (db *DB) Clock() clockwork.Clock { return db.clock }

// Signals returns the signals that wake readers of this server and of others.
func (db *DB) Signals() *Signals { return db.signals }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error { return db.front.Ping(ctx) }
