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

// ErrFenceLost says that another server holds the session now, or that the lease was given back. Whoever meets it
// changes nothing more.
var ErrFenceLost = errors.New("the session's lease was lost")

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
	// failed belongs to the worker that handles the session's steps; the batcher hands it over from one to the next.
	failed error
}

// Hold returns the Holder of a lease.
func (db *DB) Hold(lease Lease) *Holder { return &Holder{Lease: lease, committer: db.committer} }

// Committed is what a commit has come to.
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

// committers is how many transactions of grouped steps are under way at once; more only wait for each other.
const committers = 2

// maxGroup bounds the steps of one transaction.
const maxGroup = 64

// committer takes whatever steps wait, of any session, into one transaction. Steps of one session keep their order:
// while a group with steps of a session is under way, no other group takes steps of it.
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

// commitSteps commits steps that were taken together. Those of one session that cannot be one unit, because another lease
// follows, are committed one transaction after the other.
func (c *committer) commitSteps(steps []*queued) {
	for len(steps) > 0 {
		group, rest := units(steps)
		if len(group) > 0 {
			c.commitGroup(group)
		}

		steps = rest
	}
}

// units merges steps into one unit per session, and returns the steps that must come after. A step of a holder that has
// failed is refused.
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

	// One order of locking for all groups.
	slices.SortFunc(group, func(a, b *unit) int { return cmp.Compare(a.holder.SessionID, b.holder.SessionID) })

	return group, rest
}

// commitGroup commits a group as one transaction. When the database refuses a statement of it, each session is
// tried alone, so that one bad row hurts nobody else. When the connection breaks, nobody knows whether the
// transaction was committed: every holder is told and looks for itself.
func (c *committer) commitGroup(group []*unit) {
	// A finished result is recorded even if its session is being cancelled: the committer has its own time limit.
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

// errBadRow says that a row cannot be encoded; the database has not seen it.
var errBadRow = errors.New("a row cannot be encoded")

// isCleanError reports whether err is a plain no: nothing was committed, and the connection is still good. A fatal error
// of the server is not one, for it may come while a commit is under way.
func isCleanError(err error) bool {
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

// report tells the waiters how it went, and the readers after them.
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
		// Before anybody is told, so that who waits for a step finds it counted.
		for _, q := range u.steps {
			c.committed(q.step)
		}

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

// rollback ends a transaction that the database refused. A broken connection is not worth it: the pool drops it.
func (c *committer) rollback(ctx context.Context, conn *pgx.Conn, cause error) error {
	if !isCleanError(cause) || conn.IsClosed() {
		return cause
	}

	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		// The caller must not take the outcome for a plain refusal: the connection is in doubt.
		return fmt.Errorf("roll back after %q: %w", cause.Error(), err)
	}

	return cause
}
