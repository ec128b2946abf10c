package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy/internal/batch"
	"tarsy.dev/tarsy/internal/progress"
)

type pgError = pgconn.PgError

// ErrFenceLost means that another server holds the session now, or that the lease was released. The caller must not change anything more.
var ErrFenceLost = errors.New("the session's lease was lost")

// Lease is the right to work on a session; the fence proves it.
type Lease struct {
	SessionID string
	Fence     int64
}

// Holder commits the steps of one lease, in the order in which they are submitted. After its first error it commits nothing more:
// later steps may depend on the lost one. Its owner then loads the session again, with a new Holder.
type Holder struct {
	Lease

	committer *committer
	// failed belongs to the worker that handles the session's steps; the batcher passes it from one worker to the next.
	failed error
}

// Hold returns the Holder of a lease.
func (db *DB) Hold(lease Lease) *Holder { return &Holder{Lease: lease, committer: db.committer} }

// Committed is the result of a commit.
type Committed struct {
	LastSeq  int64
	Released bool
}

// Pending is a step in flight.
type Pending struct {
	done   chan struct{}
	result Committed
	err    error
}

// Wait waits for the commit. The step is committed or not regardless of ctx, which only ends the wait.
func (p *Pending) Wait(ctx context.Context) (Committed, error) {
	select {
	case <-p.done:
		return p.result, p.err
	case <-ctx.Done():
		return Committed{}, context.Cause(ctx)
	}
}

// Submit queues a step to be committed after all earlier ones of this holder.
func (h *Holder) Submit(step progress.Step) *Pending {
	q := &queued{holder: h, step: step, pending: &Pending{done: make(chan struct{})}}
	if !h.committer.steps.Add(q) {
		q.finish(Committed{}, errClosing)
	}

	return q.pending
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

// committers is the number of concurrent transactions of grouped steps; more would only wait for each other.
const committers = 2

// maxGroup bounds the steps of one transaction.
const maxGroup = 64

// committer commits the waiting steps of any sessions in one transaction. Steps of one session keep their order: while a group
// with steps of a session is in flight, no other group takes steps of it.
type committer struct {
	pool      *pgxpool.Pool
	signals   *Signals
	committed func(progress.Step)
	steps     *batch.Batcher[*queued]
}

func newCommitter(pool *pgxpool.Pool, signals *Signals, stepsPerCommit int, committed func(progress.Step)) *committer {
	c := &committer{pool: pool, signals: signals, committed: committed}
	c.steps = batch.New(batch.Config[*queued]{
		Workers: committers, MaxItems: cmp.Or(stepsPerCommit, maxGroup), Key: func(q *queued) string { return q.holder.SessionID }, Handle: c.commitSteps,
	})

	return c
}

func (q *queued) finish(result Committed, err error) {
	q.pending.result, q.pending.err = result, err
	close(q.pending.done)
}

// commitSteps commits steps that were taken together. Those of one session that cannot be merged into one unit, because they
// belong to another holder or follow a release, are committed one transaction after the other.
func (c *committer) commitSteps(steps []*queued) {
	for len(steps) > 0 {
		group, rest := units(steps)
		if len(group) > 0 {
			c.commitGroup(group)
		}

		steps = rest
	}
}

// units merges steps into one unit per session, and returns the steps that must come after. It refuses the steps of a holder that
// has failed.
func units(steps []*queued) (group []*unit, rest []*queued) {
	merged, later := map[string]*unit{}, map[string]bool{}

	for _, q := range steps {
		id := q.holder.SessionID
		u := merged[id]

		if later[id] || u != nil && !u.takes(q) {
			later[id] = true
			rest = append(rest, q)

			continue
		}

		if q.holder.failed == nil {
			q.holder.failed = checkOwnership(q.step, id)
		}

		if q.holder.failed != nil {
			q.finish(Committed{}, q.holder.failed)

			continue
		}

		if u == nil {
			u = &unit{holder: q.holder}
			merged[id] = u
			group = append(group, u)
		}

		u.add(q)
	}

	// All groups lock in the same order.
	slices.SortFunc(group, func(a, b *unit) int { return cmp.Compare(a.holder.SessionID, b.holder.SessionID) })

	return group, rest
}

// commitGroup commits a group as one transaction. If the database rejects a statement, each session is tried alone, so that one
// bad row does not fail the others. If the connection breaks, it is unknown whether the transaction was committed: every holder
// gets the error and finds out by loading its session again.
func (c *committer) commitGroup(group []*unit) {
	// A finished result is recorded even if its session is being cancelled, so commits have their own time limit.
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()

	err := c.transact(ctx, group)

	if isCleanError(err) && len(group) > 1 {
		for _, u := range group {
			c.report(u, c.transact(ctx, []*unit{u}))
		}

		return
	}

	for _, u := range group {
		c.report(u, err)
	}
}

// errBadRow means that a row cannot be encoded; the database has not seen it.
var errBadRow = errors.New("a row cannot be encoded")

// isCleanError reports whether err is a plain rejection: nothing was committed, and the connection is still good. A FATAL error
// of the server is not one, because it may arrive while a commit is in flight.
func isCleanError(err error) bool {
	if pgErr, ok := errors.AsType[*pgError](err); ok {
		return pgErr.SeverityUnlocalized == "ERROR"
	}

	return errors.Is(err, errBadRow)
}

// Unstorable reports whether err proves that a step can never be stored as it is: the data is wrong, not the database. Of the
// violated constraints only a CHECK proves it. We set every column that requires a value, so a missing one comes from another
// release's schema; a missing referenced row or a duplicate row can be caused by another server, and shows when the session is
// loaded again.
func Unstorable(err error) bool {
	code := stateOf(err)

	// Data exceptions, a violated CHECK, and limits such as nesting.
	return errors.Is(err, errBadRow) || strings.HasPrefix(code, "22") || code == "23514" || strings.HasPrefix(code, "54")
}

// stateOf returns the SQLSTATE of an error of the database, or an empty string.
func stateOf(err error) string {
	if pgErr, ok := errors.AsType[*pgError](err); ok {
		return pgErr.Code
	}

	return ""
}

// report counts the steps of a commit, wakes readers, and then passes the result to the callers that wait for it.
func (c *committer) report(u *unit, err error) {
	switch {
	case err != nil:
		err = fmt.Errorf("commit step: %w", err)
	case u.lost:
		err = ErrFenceLost
	}

	if err != nil {
		u.holder.failed = err
	} else {
		// Before the callers are notified, so that they find the step counted.
		for _, q := range u.steps {
			c.committed(q.step)
		}

		c.signals.moved(u.holder.SessionID, u.result.LastSeq)

		// Another server may be waiting to claim the session.
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
	rows, err := encodeRows(group)
	if err != nil {
		return err
	}

	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("get a connection: %w", err)
	}
	defer conn.Release()

	if err := lockAndNumber(ctx, conn.Conn(), group); err != nil {
		return c.rollback(ctx, conn.Conn(), err)
	}

	if err := write(ctx, conn.Conn(), group, rows); err != nil {
		return c.rollback(ctx, conn.Conn(), err)
	}

	return nil
}

// rollback ends a transaction that the database rejected. A broken connection needs no rollback: the pool drops it.
func (c *committer) rollback(ctx context.Context, conn *pgx.Conn, cause error) error {
	if !isCleanError(cause) || conn.IsClosed() {
		return cause
	}

	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		// The caller must not treat this as a clean error: the state of the connection is unknown.
		return fmt.Errorf("roll back after %q: %w", cause.Error(), err)
	}

	return cause
}
