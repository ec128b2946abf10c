package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy/internal/progress"
)

type pgError = pgconn.PgError

// ErrFenceLost says that another server holds the session now, or that the lease was given back. Whoever meets it
// changes nothing more.
var ErrFenceLost = errors.New("the session's lease is gone")

// Lease is the right to work on a session; the fence proves it.
type Lease struct {
	SessionID string
	Fence     int64
}

// Holder commits the steps of one lease, in the order in which they are given. After its first error it commits
// nothing more: later steps may rest on the lost one. Its owner then loads the session again, with a new Holder.
type Holder struct {
	Lease

	committer *committer
	// failed is guarded by committer.mu.
	failed error
}

// Hold returns the Holder of a lease.
func (db *DB) Hold(lease Lease) *Holder { return &Holder{Lease: lease, committer: db.committer} }

// Committed is what a commit has come to.
type Committed struct {
	LastSeq  int64
	Released bool
}

// Pending is a step on its way.
type Pending struct {
	done   chan struct{}
	result Committed
	err    error
}

// Wait waits for the commit. The step is committed or not regardless of ctx: giving up only stops the waiting.
func (p *Pending) Wait(ctx context.Context) (Committed, error) {
	select {
	case <-p.done:
		return p.result, p.err
	case <-ctx.Done():
		return Committed{}, context.Cause(ctx)
	}
}

// Submit hands a step over to be committed after all earlier ones of this holder.
func (h *Holder) Submit(step progress.Step) *Pending {
	p := &Pending{done: make(chan struct{})}
	h.committer.enqueue(&queued{holder: h, step: step, pending: p})

	return p
}

// Commit commits a step and waits for it.
func (h *Holder) Commit(ctx context.Context, step progress.Step) (Committed, error) {
	return h.Submit(step).Wait(ctx)
}

type queued struct {
	holder  *Holder
	step    progress.Step
	pending *Pending
}

// committers is how many transactions of grouped steps are under way at once; more only wait for each other.
const committers = 2

// maxGroup bounds the steps of one transaction.
const maxGroup = 64

// committer takes whatever steps wait, of any session, into one transaction. Steps of one session keep their order:
// while a group with steps of a session is under way, no other group takes steps of it.
type committer struct {
	pool    *pgxpool.Pool
	signals *Signals

	mu      sync.Mutex
	changed *sync.Cond
	queue   []*queued
	busy    map[string]bool
	closing bool

	running sync.WaitGroup
}

func newCommitter(pool *pgxpool.Pool, signals *Signals) *committer {
	c := &committer{pool: pool, signals: signals, busy: map[string]bool{}}
	c.changed = sync.NewCond(&c.mu)

	return c
}

func (c *committer) start() {
	for range committers {
		c.running.Go(c.run)
	}
}

// stop commits what waits, then ends.
func (c *committer) stop() {
	c.mu.Lock()
	c.closing = true
	c.changed.Broadcast()
	c.mu.Unlock()

	c.running.Wait()
}

func (c *committer) enqueue(q *queued) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.closing {
		q.finish(Committed{}, errClosing)

		return
	}

	if err := belongs(q.step, q.holder.SessionID); err != nil {
		q.holder.failed = err
	}

	c.queue = append(c.queue, q)
	c.changed.Signal()
}

func (q *queued) finish(result Committed, err error) {
	q.pending.result, q.pending.err = result, err
	close(q.pending.done)
}

func (c *committer) run() {
	for {
		group := c.take()
		if group == nil {
			return
		}

		c.commitGroup(group)
		c.release(group)
	}
}

// take waits for steps and takes those whose sessions are in no other group. It returns nil when there is nothing
// more to come.
func (c *committer) take() []*unit {
	c.mu.Lock()
	defer c.mu.Unlock()

	for {
		var (
			units = map[string]*unit{}
			rest  []*queued
			count int
		)

		for _, q := range c.queue {
			id := q.holder.SessionID

			switch {
			case q.holder.failed != nil:
				q.finish(Committed{}, q.holder.failed)
			case c.busy[id] || count == maxGroup || (units[id] != nil && !units[id].takes(q)):
				rest = append(rest, q)
			default:
				if units[id] == nil {
					units[id] = &unit{holder: q.holder}
				}

				units[id].add(q)
				count++
			}
		}

		c.queue = rest

		if count > 0 {
			group := make([]*unit, 0, len(units))
			for id, u := range units {
				c.busy[id] = true
				group = append(group, u)
			}

			// One order of locking for all groups.
			slices.SortFunc(group, func(a, b *unit) int { return cmp.Compare(a.holder.SessionID, b.holder.SessionID) })

			return group
		}

		if c.closing && len(rest) == 0 {
			return nil
		}

		c.changed.Wait()
	}
}

// release lets the sessions of a group be taken again.
func (c *committer) release(group []*unit) {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, u := range group {
		delete(c.busy, u.holder.SessionID)
	}

	c.changed.Broadcast()
}

// commitGroup commits a group as one transaction. When the database refuses a statement of it, each session is
// tried alone, so that one bad row hurts nobody else. When the connection breaks, nobody knows whether the
// transaction was committed: every holder is told and looks for itself.
func (c *committer) commitGroup(group []*unit) {
	// A finished result is recorded even if its session is being cancelled: the committer has its own time limit.
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()

	err := c.transact(ctx, group)

	if refused(err) && len(group) > 1 {
		for _, u := range group {
			c.settle(u, c.transact(ctx, []*unit{u}))
		}

		return
	}

	for _, u := range group {
		c.settle(u, err)
	}
}

// errBadRow says that a row cannot be encoded; the database has not seen it.
var errBadRow = errors.New("a row cannot be encoded")

// refused reports whether err is a plain no: nothing was committed, and the connection is still good. A fatal error
// of the server is not one, for it may come while a commit is under way.
func refused(err error) bool {
	if pgErr, ok := errors.AsType[*pgError](err); ok {
		return pgErr.SeverityUnlocalized == "ERROR"
	}

	return errors.Is(err, errBadRow)
}

// Unstorable reports whether err proves that a step can never be stored as it is: the data is wrong, not the database.
// Of the violated constraints only a CHECK proves it. No column that we write lacks a value, so one that is missing is of
// another release; a row that is referred to or that is there already may be the doing of another server, and is seen
// when the session is loaded again.
func Unstorable(err error) bool {
	code := stateOf(err)

	// Data exceptions, a violated CHECK, and limits such as nesting.
	return errors.Is(err, errBadRow) || strings.HasPrefix(code, "22") || code == "23514" || strings.HasPrefix(code, "54")
}

// stateOf is the SQLSTATE of an error of the database, or empty.
func stateOf(err error) string {
	if pgErr, ok := errors.AsType[*pgError](err); ok {
		return pgErr.Code
	}

	return ""
}

// settle tells the waiters how it went, and the readers after them.
func (c *committer) settle(u *unit, err error) {
	switch {
	case err != nil:
		err = fmt.Errorf("commit step: %w", err)
	case u.lost:
		err = ErrFenceLost
	}

	if err != nil {
		c.mu.Lock()
		u.holder.failed = err
		c.mu.Unlock()
	} else {
		c.signals.moved(u.holder.SessionID, u.result.LastSeq)

		// A released lease may be what another server's claim is waiting for.
		if u.result.Released {
			c.signals.raise(topicQueue, "")
		}
	}

	for _, q := range u.steps {
		q.finish(u.result, err)
	}
}

// transact writes the units in one transaction of two round trips: lock, check and number; then write and commit.
func (c *committer) transact(ctx context.Context, group []*unit) error {
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("get a connection: %w", err)
	}
	defer conn.Release()

	if err := lockAndNumber(ctx, conn.Conn(), group); err != nil {
		return c.rollback(ctx, conn.Conn(), err)
	}

	if err := write(ctx, conn.Conn(), group); err != nil {
		return c.rollback(ctx, conn.Conn(), err)
	}

	return nil
}

// rollback ends a transaction that the database refused. A broken connection is not worth it: the pool drops it.
func (c *committer) rollback(ctx context.Context, conn *pgx.Conn, cause error) error {
	if !refused(cause) || conn.IsClosed() {
		return cause
	}

	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		// The caller must not take the outcome for a plain refusal: the connection is in doubt.
		return fmt.Errorf("roll back after %q: %w", cause.Error(), err)
	}

	return cause
}
