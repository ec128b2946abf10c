package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
)

// Config says which database to use and how.
type Config struct {
	URL string
	// Migrate brings the database to the newest schema first.
	Migrate bool
	// MaxConns bounds the connections for readers. Committing and claiming have their own, so that no crowd of readers
	// makes them wait; one more hears other servers.
	MaxConns int32
	// PollEvery is how often watched journals and the queue are looked at in case a signal was lost, and PollJitter
	// the random part that is added, so that servers do not look in step.
	PollEvery  time.Duration
	PollJitter time.Duration
	Clock      clockwork.Clock
	Logger     *slog.Logger
}

const (
	defaultMaxConns  = 8
	defaultPollEvery = 1500 * time.Millisecond
	// workConns are the committers', the intake's, the claimer's and the renewal's.
	workConns = committers + 3
	// idleInTransaction is in PostgreSQL's words.
	idleInTransaction = "5s"
)

// DB is the database of one server. Start it before use; Stop waits for everything it started.
type DB struct {
	pool      *pgxpool.Pool
	work      *pgxpool.Pool
	clock     clockwork.Clock
	logger    *slog.Logger
	signals   *Signals
	committer *committer
	intake    *intake
}

// Open connects and prepares; it does not migrate. Nothing runs until Start.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	poolConfig, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}

	if cfg.MaxConns == 0 {
		cfg.MaxConns = defaultMaxConns
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

	poolConfig.MaxConns = cfg.MaxConns
	if poolConfig.ConnConfig.RuntimeParams["application_name"] == "" {
		poolConfig.ConnConfig.RuntimeParams["application_name"] = "tarsy"
	}

	poolConfig.ConnConfig.RuntimeParams["timezone"] = "UTC"

	// A server that freezes between the two round trips of a commit must not keep its sessions locked: nobody could
	// take them over.
	if poolConfig.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] == "" {
		poolConfig.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = idleInTransaction
	}
	// Plans are cached from the first executions on, when the tables are still small and a sequential scan looks
	// cheap. Every query of ours has its index. A bitmap scan would visit every dead version of a queue's entries
	// again and again, where a plain index scan marks them and passes them by.
	poolConfig.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
	poolConfig.ConnConfig.RuntimeParams["enable_bitmapscan"] = "off"
	// With one good plan for each query there is nothing to be gained by planning again.
	poolConfig.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"

	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}

	if err := cfg.prepare(ctx, pool); err != nil {
		pool.Close()

		return nil, err
	}

	workConfig := poolConfig.Copy()
	workConfig.MaxConns = workConns

	work, err := pgxpool.NewWithConfig(ctx, workConfig)
	if err != nil {
		pool.Close()

		return nil, fmt.Errorf("open the database: %w", err)
	}

	signals := newSignals(pool, cfg)

	return &DB{
		pool:      pool,
		work:      work,
		clock:     cfg.Clock,
		logger:    cfg.Logger,
		signals:   signals,
		committer: newCommitter(work, signals),
		intake:    newIntake(work, signals),
	}, nil
}

// Start begins to commit and to listen.
func (db *DB) Start() {
	db.signals.start()
	db.committer.start()
	db.intake.start()
}

// Stop ends committing (what waits is committed first) and listening, and closes the pool. It is idempotent.
func (db *DB) Stop() {
	db.intake.stop()
	db.committer.stop()
	db.signals.stop()
	db.work.Close()
	db.pool.Close()
}

// Signals wakes readers of this server and of others.
func (db *DB) Signals() *Signals { return db.signals }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error { return db.pool.Ping(ctx) }

// collect runs a query and returns its rows as structs, columns matched to fields by name.
func collect[T any](ctx context.Context, pool *pgxpool.Pool, sql string, args ...any) ([]T, error) {
	rows, err := pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}
