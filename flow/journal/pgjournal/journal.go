// Package pgjournal provides a journal in PostgreSQL that many processes can append to and read concurrently.
//
// A writer inserts its entries without numbers, in its own transaction or in its caller's. One of the processes that have the
// journal open, the sequencer, numbers committed entries. Numbers assigned by the writers themselves would either have gaps (a
// sequence) or make every transaction wait for the previous one (a counter). The right to number is a lease, based on the
// database's clock. Numbering locks the journal's row, so numbers are correct even if two processes believe that they hold the
// lease; the fence, checked under that lock, stops the one that lost it.
//
// The package does not know what the entries mean. It uses its own tables and nothing else in the database.
package pgjournal

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/flow/journal"
)

// Defaults of Config.
const (
	DefaultLease     = 5 * time.Second
	DefaultPollEvery = time.Second
)

// Config defines which journal is opened, and where.
type Config struct {
	// Pool is the database. An open journal also takes one connection out of the pool to listen on, and uses the pool from its
	// own goroutines: leave at least two connections for them.
	Pool *pgxpool.Pool
	// Name is the name of the journal. Opening the same name in the same database opens the same journal.
	Name string
	// Lease is how long after its last sign of life a sequencer is replaced. The default is five seconds.
	Lease time.Duration
	// PollEvery is how often the journal looks for changes that it was not notified of. The default is a second.
	PollEvery time.Duration
	// Clock provides the timestamps of records. Leases use the database's clock, and polls real time.
	Clock clockwork.Clock
	// Logger gets a warning when the database cannot be reached. The default discards it.
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Pool == nil:
		return c, errors.New("a journal in PostgreSQL needs a pool")
	case c.Name == "":
		return c, errors.New("a journal in PostgreSQL needs a name")
	case c.Lease < 0 || c.PollEvery < 0:
		return c, errors.New("the lease and the poll interval of a journal must not be negative")
	}

	if c.Lease == 0 {
		c.Lease = DefaultLease
	}

	if c.PollEvery == 0 {
		c.PollEvery = DefaultPollEvery
	}

	if c.Clock == nil {
		c.Clock = clockwork.NewRealClock()
	}

	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}

	return c, nil
}

// Journal is a journal.Journal in PostgreSQL.
type Journal[E any] struct{ core *core }

// core is a Journal without its entry type. Its goroutines are run (which numbers and polls), listen and notify.
type core struct {
	config Config
	pool   *pgxpool.Pool
	id     int64
	holder string // identifies this open journal in the lease

	work         chan struct{} // there may be something to number or to look up
	notifySignal chan struct{} // there are notifications to send

	fence int64 // of the lease, zero without one; owned by run

	mu      sync.Mutex
	head    journal.Position    // the highest known position
	grown   chan struct{}       // closed when head grows, and by Close
	waiting map[int64][]*waiter // by batch
	asked   bool                // a batch was stored here since the last check
	news    news                // notifications to send
	closed  bool

	quit context.CancelFunc
	done sync.WaitGroup
}

// Open opens a journal, or creates it. The tables must exist: see Migrate.
func Open[E any](ctx context.Context, config Config) (*Journal[E], error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}

	host, _ := os.Hostname()
	c := &core{
		config: config, pool: config.Pool, holder: fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8]),
		work: make(chan struct{}, 1), notifySignal: make(chan struct{}, 1), grown: make(chan struct{}), waiting: map[int64][]*waiter{},
	}

	if err := c.register(ctx); err != nil {
		return nil, fmt.Errorf("open the journal %q: %w", config.Name, err)
	}

	background, quit := context.WithCancelCause(context.WithoutCancel(ctx))
	c.quit = func() { quit(journal.ErrClosed) }

	c.done.Go(func() { c.run(background) })
	c.done.Go(func() { c.listen(background) })
	c.done.Go(func() { c.notify(background) })

	return &Journal[E]{core: c}, nil
}

// register finds the journal's row, or creates it.
func (c *core) register(ctx context.Context) error {
	const find = `SELECT id, head FROM pgjournal_journals WHERE name = $1`

	err := c.pool.QueryRow(ctx, find, c.config.Name).Scan(&c.id, &c.head)
	if errors.Is(err, pgx.ErrNoRows) {
		if _, err = c.pool.Exec(ctx, `INSERT INTO pgjournal_journals (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`, c.config.Name); err == nil {
			err = c.pool.QueryRow(ctx, find, c.config.Name).Scan(&c.id, &c.head)
		}
	}

	if missing := (*pgconn.PgError)(nil); errors.As(err, &missing) && missing.Code == "42P01" {
		return fmt.Errorf("the tables do not exist: call pgjournal.Migrate first: %w", err)
	}

	return err
}

// Head implements journal.Reader.
func (j *Journal[E]) Head(ctx context.Context) (journal.Position, error) {
	if err := j.core.check(ctx); err != nil {
		return 0, err
	}

	var head journal.Position

	err := j.core.pool.QueryRow(ctx, `SELECT head FROM pgjournal_journals WHERE id = $1`, j.core.id).Scan(&head)
	if err != nil {
		return 0, failure(ctx, "read the journal's head", err)
	}

	return head, nil
}

// Trim drops the records up to a position.
func (j *Journal[E]) Trim(ctx context.Context, through journal.Position) error {
	if err := j.core.check(ctx); err != nil {
		return err
	}

	// Readers rely on the trimmed column, so the deletion needs no lock and can be interrupted; the next one completes it.
	var trimmed journal.Position

	err := j.core.pool.QueryRow(ctx, `UPDATE pgjournal_journals SET trimmed = greatest(trimmed, least($2, head)) WHERE id = $1 RETURNING trimmed`,
		j.core.id, max(through, 0)).Scan(&trimmed)
	if err == nil {
		_, err = j.core.pool.Exec(ctx, `DELETE FROM pgjournal_entries WHERE journal_id = $1 AND seq <= $2`, j.core.id, trimmed)
	}

	if err != nil {
		return failure(ctx, "trim the journal", err)
	}

	return nil
}

// Close ends all tails and waiting appends of this Journal with journal.ErrClosed and hands over the lease. The entries of such
// appends are stored, and other processes number them. Further calls do nothing.
func (j *Journal[E]) Close() error {
	c := j.core

	c.mu.Lock()
	first := !c.closed
	c.closed = true

	if first {
		close(c.grown)

		for _, waiters := range c.waiting {
			for _, w := range waiters {
				w.finish(0, unnumbered(journal.ErrClosed))
			}
		}

		clear(c.waiting)
	}
	c.mu.Unlock()

	c.quit()
	c.done.Wait()

	return nil
}

// check returns an error if a call must not begin.
func (c *core) check(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	if c.closed {
		return journal.ErrClosed
	}

	return nil
}

// failure wraps a database error, or returns the cause if the call was cancelled.
func failure(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return fmt.Errorf("%s: %w", doing, err)
}

func encode[E any](entries []E) ([]string, error) {
	encoded := make([]string, len(entries))

	for i, entry := range entries {
		raw, err := json.Marshal(entry)
		if err != nil {
			return nil, fmt.Errorf("encode a journal entry: %w", err)
		}

		encoded[i] = string(raw)
	}

	return encoded, nil
}
