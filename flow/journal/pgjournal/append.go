package pgjournal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/flow/journal"
)

// ErrNotNumbered is wrapped by the error of an Append that was cancelled or closed after its entries were stored: they will get
// their positions, and appending them again would duplicate them.
var ErrNotNumbered = errors.New("the entries are stored but not numbered yet")

func unnumbered(cause error) error { return fmt.Errorf("%w: %w", ErrNotNumbered, cause) }

// Pending is a stored batch that has no position yet.
type Pending struct {
	core  *core
	batch int64
	size  int
}

// Wake asks the sequencer to number the batch soon. Call it after the commit; without it, a poll finds the batch.
func (p *Pending) Wake() {
	if p.size > 0 {
		p.core.announceWork()
	}
}

// Wait wakes the sequencer and returns the position of the batch's last entry. Call it after the commit: a batch that does not
// exist because its transaction was rolled back is an error. The position of an empty batch is the head.
func (p *Pending) Wait(ctx context.Context) (journal.Position, error) {
	if err := p.core.check(ctx); err != nil {
		if p.size > 0 {
			err = unnumbered(err)
		}

		return 0, err
	}

	if p.size == 0 {
		var head journal.Position

		err := p.core.pool.QueryRow(ctx, `SELECT head FROM pgjournal_journals WHERE id = $1`, p.core.id).Scan(&head)
		if err != nil {
			return 0, failure(ctx, "read the journal's head", err)
		}

		return head, nil
	}

	w, err := p.core.await(p.batch)
	if err != nil {
		return 0, err
	}

	p.core.announceWork()

	select {
	case <-w.done:
		return w.position, w.err
	case <-ctx.Done():
		p.core.forget(p.batch, w)

		return 0, unnumbered(context.Cause(ctx))
	}
}

// Append implements journal.Journal. It returns when the entries are committed and numbered. If it is cancelled in between, its
// error wraps ErrNotNumbered; if storing fails, the outcome is that of any failed statement: the entries may have been stored
// if the connection broke.
func (j *Journal[E]) Append(ctx context.Context, entries ...E) (journal.Position, error) {
	if err := j.core.check(ctx); err != nil {
		return 0, err
	}

	encoded, err := encode(entries)
	if err != nil {
		return 0, err
	}

	p, err := j.core.insert(ctx, j.core.pool, encoded)
	if err != nil {
		return 0, err
	}

	return p.Wait(ctx)
}

// AppendTx stores entries in the caller's transaction: they are in the journal if it commits. They are numbered only after the
// commit; call Wake or Wait on the result then.
func (j *Journal[E]) AppendTx(ctx context.Context, tx pgx.Tx, entries ...E) (*Pending, error) {
	if err := j.core.check(ctx); err != nil {
		return nil, err
	}

	encoded, err := encode(entries)
	if err != nil {
		return nil, err
	}

	return j.core.insert(ctx, tx, encoded)
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// insert stores a batch. Its number is taken once for all rows, and before any of them is visible, so that batches of one
// writer keep their order.
func (c *core) insert(ctx context.Context, on querier, entries []string) (*Pending, error) {
	p := &Pending{core: c, size: len(entries)}
	if p.size == 0 {
		return p, nil
	}

	err := on.QueryRow(ctx, `
		WITH numbered AS MATERIALIZED (SELECT nextval('pgjournal_batches') AS batch),
		stored AS (
			INSERT INTO pgjournal_entries (journal_id, batch, idx, at, entry)
			SELECT $1, numbered.batch, e.idx, $2, e.entry::jsonb
			FROM numbered, unnest($3::text[]) WITH ORDINALITY AS e (entry, idx)
		)
		SELECT batch FROM numbered`, c.id, c.config.Clock.Now(), entries).Scan(&p.batch)
	if err != nil {
		return nil, failure(ctx, "append to the journal", err)
	}

	return p, nil
}

// waiter is a call that waits for the position of a batch.
type waiter struct {
	position journal.Position
	err      error
	done     chan struct{}
}

func (w *waiter) finish(position journal.Position, err error) {
	w.position, w.err = position, err
	close(w.done)
}

func (c *core) await(batch int64) (*waiter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.closed {
		return nil, unnumbered(journal.ErrClosed)
	}

	w := &waiter{done: make(chan struct{})}
	c.waiting[batch] = append(c.waiting[batch], w)

	return w, nil
}

// forget drops a waiter whose call has ended.
func (c *core) forget(batch int64, w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.waiting[batch] = slices.DeleteFunc(c.waiting[batch], func(other *waiter) bool { return other == w })
	if len(c.waiting[batch]) == 0 {
		delete(c.waiting, batch)
	}
}

// resolve passes the position of a batch to its waiters.
func (c *core) resolve(batch int64, position journal.Position, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, w := range c.waiting[batch] {
		w.finish(position, err)
	}

	delete(c.waiting, batch)
}

// awaited returns the batches that have waiters.
func (c *core) awaited() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()

	return slices.Collect(maps.Keys(c.waiting))
}
