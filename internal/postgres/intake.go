package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/batch"
)

// CreateSession stores a new session, runnable immediately, with the first events of its journal. When it returns without error,
// the session is durable and claimers have been woken. A session whose caller gives up before it is being stored is dropped;
// after that, giving up only ends the wait. An error with CodeOverloaded means that too many sessions are waiting already.
func (db *DB) CreateSession(ctx context.Context, session tarsy.Session, terms Terms, events ...tarsy.Event) error {
	return db.take(ctx, newArrival(session, terms, events))
}

// Prepared is a session that is ready to be stored.
type Prepared struct {
	Session tarsy.Session
	Terms   Terms
}

// CreateSessions is CreateSession for several sessions as part of the caller's transaction, each with the event that it is
// pending. The caller calls stored after the commit, and only then: it wakes claimers and readers. An error with CodeOverloaded
// means that not all of them fit; then none is stored.
func (db *DB) CreateSessions(ctx context.Context, tx pgx.Tx, sessions []Prepared) (stored func(), err error) {
	if len(sessions) == 0 {
		return func() {}, nil
	}

	group := make([]*arrival, len(sessions))
	for n, p := range sessions {
		group[n] = newArrival(p.Session, p.Terms, []tarsy.Event{tarsy.SessionStatusChanged(p.Session, p.Session.CreatedAt)})
	}

	recipes, err := db.intake.storeIn(ctx, tx, group)
	if err != nil {
		return nil, fmt.Errorf("store sessions: %w", err)
	}

	return func() {
		db.intake.recipes.add(recipes)
		db.intake.backlog.add(len(group))

		for _, a := range group {
			db.signals.moved(a.session.ID, int64(len(a.events)))
		}

		db.signals.raise(topicQueue, "")
	}, nil
}

// storeIn stores a group without idempotency keys in the caller's transaction.
func (i *intake) storeIn(ctx context.Context, tx pgx.Tx, group []*arrival) ([]recipeRow, error) {
	if room, err := i.room(ctx, tx, len(group)); err != nil {
		return nil, err
	} else if room < len(group) {
		return nil, errBacklog(i.backlog.limit)
	}

	args, recipes, err := i.arguments(group)
	if err != nil {
		return nil, err
	}

	var (
		all    pgx.Batch
		paused []tarsy.Pause
		now    = i.clock.Now()
	)

	queueIntakeLock(&all)
	QueueRows(&all, &paused, createSQL, append(append(args, keysOf(group).columns()...), now)...)

	if err := tx.SendBatch(ctx, &all).Close(); err != nil {
		return nil, err
	}

	return recipes, intakePaused(paused, now)
}

// Touch wakes readers after a change of a session that is not in its journal, such as the counts of its alert. version is that of
// the session, which has not changed; whatever shows the session loads it again.
func (db *DB) Touch(sessionID string, version int64) { db.signals.moved(sessionID, version) }

// take passes an arrival to the intake and waits until it is stored.
func (db *DB) take(ctx context.Context, a *arrival) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if audit.Deciding(ctx) {
		db.intake.takeDecided(ctx, a)
	} else if err := db.intake.wait(ctx, a); err != nil {
		return err
	}

	if a.err != nil {
		return fmt.Errorf("store session: %w", a.err)
	}

	return nil
}

// wait queues an arrival to be stored next, and waits until it is.
func (i *intake) wait(ctx context.Context, a *arrival) error {
	if !i.arrivals.Add(a) {
		a.finish(errClosing)
	}

	select {
	case <-a.done:
		return nil
	case <-ctx.Done():
		// The caller is gone, whether or not the withdrawal is in time.
		_ = i.arrivals.Withdraw(a)

		return context.Cause(ctx)
	}
}

// takeDecided stores a session that a person requested, such as a re-run, in its own transaction, which includes a row of the audit log.
func (i *intake) takeDecided(ctx context.Context, a *arrival) {
	group := i.admit(ctx, []*arrival{a})
	if len(group) == 0 {
		return
	}

	var recipes []recipeRow

	err := audit.Change(ctx, i.pool, func(tx pgx.Tx) (err error) {
		recipes, err = i.storeOn(ctx, tx, group)

		switch {
		case err != nil:
			return err
		case a.refused != nil || a.existing != nil:
			return audit.ErrUnchanged
		}

		audit.Detail(ctx, "created", a.session.ID)

		return nil
	})
	if err == nil && a.refused == nil && a.existing == nil {
		i.recipes.add(recipes)
	}

	i.report(a, err)
}

// arrival is a session that is about to be stored.
type arrival struct {
	session tarsy.Session
	terms   Terms
	events  []tarsy.Event
	// key is nil for a request without an idempotency key; existing is then nil too.
	key      *tarsy.IdempotencyKey
	existing *Existing
	// refused is why the session was not stored although nothing failed.
	refused error
	done    chan struct{}
	err     error
}

func newArrival(session tarsy.Session, terms Terms, events []tarsy.Event) *arrival {
	a := &arrival{session: session, terms: terms, events: slices.Clone(events), done: make(chan struct{})}

	for i := range a.events {
		a.events[i].SessionID, a.events[i].Seq = session.ID, int64(i+1)
	}

	return a
}

// intake stores the sessions that are waiting in one statement, so that a storm of alerts costs few commits. A single alert is
// stored without delay.
type intake struct {
	pool     *pgxpool.Pool
	signals  *Signals
	backlog  *backlog
	arrivals *batch.Batcher[*arrival]
	recipes  storedRecipes
	// ageing is how far each level of severity moves a session forward in the queue.
	ageing time.Duration
	clock  clockwork.Clock
}

func newIntake(pool *pgxpool.Pool, signals *Signals, cfg Config) *intake {
	i := &intake{
		pool: pool, signals: signals, backlog: &backlog{limit: cfg.MaxWaiting, every: cfg.CountWaitingEvery}, ageing: cfg.SeverityAgeing, clock: cfg.Clock,
	}
	i.arrivals = batch.New(batch.Config[*arrival]{
		Workers: 1, MaxItems: maxGroup, Weight: (*arrival).bytes, MaxWeight: maxGroupBytes, Handle: i.storeGroup,
	})

	return i
}

// maxGroupBytes bounds the texts of one statement, which are in memory several times while it is sent.
const maxGroupBytes = 8 << 20

// bytes is roughly how much memory an arrival takes.
func (a *arrival) bytes() int { return len(a.session.AlertData) + len(a.session.Runbook) }

func (a *arrival) finish(err error) {
	a.err = err
	close(a.done)
}

// storeGroup stores a group, or each session alone if the database rejects the group: one bad session does not fail the others.
func (i *intake) storeGroup(group []*arrival) {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()

	group = i.admit(ctx, group)
	if len(group) == 0 {
		return
	}

	err := i.store(ctx, group)

	for _, a := range group {
		if isCleanError(err) && len(group) > 1 {
			i.report(a, i.store(ctx, []*arrival{a}))
		} else {
			i.report(a, err)
		}
	}
}

// report wakes readers and claimers if a session was stored, whether or not the caller still waits for it.
func (i *intake) report(a *arrival, err error) {
	if err == nil {
		err = a.refused
	}

	if err == nil && a.existing == nil {
		i.signals.moved(a.session.ID, int64(len(a.events)))
		i.signals.raise(topicQueue, "")
	}

	a.finish(err)
}

// intakeRow is a session as it is first stored.
type intakeRow struct {
	sessionRow

	EngineVersion int     `json:"engine_version"`
	RecipeHash    *string `json:"recipe_hash"`
	// RunnableAt is the place in the queue: earlier than CreatedAt for a severe alert.
	RunnableAt time.Time `json:"runnable_at"`
}

var intakeColumns = ColumnsOf[intakeRow]()

// createSQL also stores the recipes of the sessions if they are due. It leaves out sessions whose idempotency key is taken; if
// another transaction is storing the same key, it waits for that one to end. While intake is paused at the time $12, it stores no
// session and returns the pause; its transaction holds intakeLock.
var createSQL = `
WITH paused AS (` + pausedSQL(tarsy.PauseIntake, "$12") + `
), followed AS (` + storeRecipesSQL + `
), keyed AS (
    INSERT INTO idempotency_keys (hash, fingerprint, session_id, expires_at)
    SELECT hash, fingerprint, session_id, expires_at
    FROM unnest($8::bytea[], $9::bytea[], $10::uuid[], $11::timestamptz[]) AS k (hash, fingerprint, session_id, expires_at)
    WHERE NOT EXISTS (SELECT FROM paused)
    ORDER BY hash
    ON CONFLICT (hash) DO NOTHING
    RETURNING session_id
), repeated AS (
    SELECT unnest($10::uuid[]) AS session_id EXCEPT SELECT session_id FROM keyed
), created AS (
    INSERT INTO sessions (` + intakeColumns.List() + `)
    SELECT ` + intakeColumns.List() + ` FROM jsonb_populate_recordset(NULL::sessions, $1)
    WHERE id NOT IN (SELECT session_id FROM repeated) AND NOT EXISTS (SELECT FROM paused)
), begun AS (
    INSERT INTO events (session_id, seq, type, payload, created_at)
    SELECT session_id, seq, type, payload, created_at
    FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::json[], $6::timestamptz[]) AS e (session_id, seq, type, payload, created_at)
    WHERE session_id NOT IN (SELECT session_id FROM repeated) AND NOT EXISTS (SELECT FROM paused)
)
SELECT ` + pauseColumns.List() + ` FROM paused`

// sender is a pool or a transaction.
type sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

func (i *intake) store(ctx context.Context, group []*arrival) error {
	recipes, err := i.storeOn(ctx, i.pool, group)
	if err == nil {
		i.recipes.add(recipes)
	}

	return err
}

// storeOn stores a group, and returns the recipes that are stored with it once the transaction commits.
func (i *intake) storeOn(ctx context.Context, on sender, group []*arrival) ([]recipeRow, error) {
	args, recipes, err := i.arguments(group)
	if err != nil {
		return nil, err
	}

	return recipes, i.insert(ctx, on, group, args)
}

// arguments returns the arguments of createSQL except the idempotency keys, and the recipes among them.
func (i *intake) arguments(group []*arrival) ([]any, []recipeRow, error) {
	rows := make([]intakeRow, len(group))

	var events []tarsy.Event

	for n, a := range group {
		rows[n] = intakeRow{
			sessionRow:    sessionRow{Session: a.session, LastSeq: int64(len(a.events))},
			EngineVersion: max(a.terms.EngineVersion, 1),
			RunnableAt:    queuePlace(a.session, i.ageing),
		}
		if r := a.terms.Recipe; r != nil {
			rows[n].RecipeHash = &r.Hash
		}

		events = append(events, a.events...)
	}

	recipes := i.recipes.due(group, group[0].session.CreatedAt)

	raw, err := json.Marshal(rows)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errBadRow, err)
	}

	rawRecipes, err := json.Marshal(recipes)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errBadRow, err)
	}

	columns, err := eventColumns(events)
	if err != nil {
		return nil, nil, err
	}

	return append(append([]any{raw}, columns...), rawRecipes), recipes, nil
}

// insert stores a group in one round trip, and counts the waiting sessions if that is due.
func (i *intake) insert(ctx context.Context, on sender, group []*arrival, args []any) error {
	var (
		all     pgx.Batch
		paused  []tarsy.Pause
		waiting int
		count   = i.backlog.due()
		keys    = keysOf(group)
		now     = i.clock.Now()
	)

	queueIntakeLock(&all)
	keys.queueBefore(&all)
	QueueRows(&all, &paused, createSQL, append(append(args, keys.columns()...), now)...)
	keys.queueAfter(&all)

	if count {
		all.Queue(countWaitingSQL, i.backlog.limit, now).QueryRow(func(row pgx.Row) error { return row.Scan(&waiting) })
	}

	if err := on.SendBatch(ctx, &all).Close(); err != nil {
		return err
	}

	stored := keys.resolveAll(group, intakePaused(paused, now))

	if count {
		i.backlog.set(waiting)
	} else {
		i.backlog.add(stored)
	}

	return nil
}

var errClosing = errors.New("the database is closing")
