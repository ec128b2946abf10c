package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/batch"
)

// CreateSession stores a new session, runnable at once, with the first events of its journal. When it returns
// without error the session is durable and claimers have been woken. A session whose caller gives up before it is being
// stored is dropped; after that, giving up only stops the waiting. An error with CodeOverloaded says that too many sessions
// wait already.
func (db *DB) CreateSession(ctx context.Context, session tarsy.Session, terms Terms, events ...tarsy.Event) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	a := &arrival{session: session, terms: terms, events: slices.Clone(events), done: make(chan struct{})}

	for i := range a.events {
		a.events[i].SessionID, a.events[i].Seq = session.ID, int64(i+1)
	}

	if !db.intake.arrivals.Add(a) {
		a.finish(errClosing)
	}

	select {
	case <-a.done:
	case <-ctx.Done():
		// Whether or not it was early enough, the caller is gone.
		_ = db.intake.arrivals.Withdraw(a)

		return context.Cause(ctx)
	}

	if a.err != nil {
		return fmt.Errorf("store session: %w", a.err)
	}

	return nil
}

// arrival is a session on its way into the database.
type arrival struct {
	session tarsy.Session
	terms   Terms
	events  []tarsy.Event
	done    chan struct{}
	err     error
}

// intake stores whatever sessions wait in one statement, so that a storm of alerts costs few commits. An alert that
// comes alone waits for nobody.
type intake struct {
	pool     *pgxpool.Pool
	signals  *Signals
	backlog  *backlog
	arrivals *batch.Batcher[*arrival]
	recipes  storedRecipes
}

func newIntake(pool *pgxpool.Pool, signals *Signals, cfg Config) *intake {
	i := &intake{pool: pool, signals: signals, backlog: &backlog{limit: cfg.MaxWaiting, every: cfg.CountWaitingEvery}}
	i.arrivals = batch.New(batch.Config[*arrival]{
		Workers: 1, MaxItems: maxGroup, Weight: (*arrival).bytes, MaxWeight: maxGroupBytes, Handle: i.storeGroup,
	})

	return i
}

// maxGroupBytes bounds the texts of one statement, which are in memory several times while it is sent.
const maxGroupBytes = 8 << 20

// bytes is about how much memory an arrival takes.
func (a *arrival) bytes() int { return len(a.session.AlertData) + len(a.session.Runbook) }

func (a *arrival) finish(err error) {
	a.err = err
	close(a.done)
}

// storeGroup stores a group, and each alone when the database refuses it: one bad session hurts no other.
func (i *intake) storeGroup(group []*arrival) {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()

	group = i.admit(ctx, group)
	if len(group) == 0 {
		return
	}

	err := i.store(ctx, group)

	for _, a := range group {
		if refused(err) && len(group) > 1 {
			i.settle(a, i.store(ctx, []*arrival{a}))
		} else {
			i.settle(a, err)
		}
	}
}

// settle tells readers and claimers of a session that is stored, whether or not somebody still waits for it.
func (i *intake) settle(a *arrival, err error) {
	if err == nil {
		i.signals.moved(a.session.ID, int64(len(a.events)))
		i.signals.raise(topicQueue, "")
	}

	a.finish(err)
}

// intakeRow is a session as it is stored first.
type intakeRow struct {
	sessionRow

	EngineVersion int     `json:"engine_version"`
	RecipeHash    *string `json:"recipe_hash"`
}

var intakeColumns = columnsOf[intakeRow]()

// createSQL also stores the recipes that the sessions follow and that are not stored yet.
var createSQL = `
WITH followed AS (
    INSERT INTO recipes (` + recipeColumns.list() + `)
    SELECT ` + recipeColumns.list() + ` FROM jsonb_populate_recordset(NULL::recipes, $7)
    ON CONFLICT (hash) DO NOTHING
), created AS (
    INSERT INTO sessions (` + intakeColumns.list() + `, runnable_at)
    SELECT ` + intakeColumns.list() + `, created_at FROM jsonb_populate_recordset(NULL::sessions, $1)
)
INSERT INTO events (session_id, seq, type, payload, created_at)
SELECT session_id, seq, type, payload, created_at
FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::json[], $6::timestamptz[]) AS e (session_id, seq, type, payload, created_at)`

func (i *intake) store(ctx context.Context, group []*arrival) error {
	rows := make([]intakeRow, len(group))

	var events []tarsy.Event

	for n, a := range group {
		rows[n] = intakeRow{
			sessionRow:    sessionRow{Session: a.session, LastSeq: int64(len(a.events))},
			EngineVersion: max(a.terms.EngineVersion, 1),
		}
		if r := a.terms.Recipe; r != nil {
			rows[n].RecipeHash = &r.Hash
		}

		events = append(events, a.events...)
	}

	recipes := i.recipes.missing(group, group[0].session.CreatedAt)

	raw, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadRow, err)
	}

	rawRecipes, err := json.Marshal(recipes)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadRow, err)
	}

	columns, err := eventColumns(events)
	if err != nil {
		return err
	}

	if err := i.insert(ctx, len(group), append(append([]any{raw}, columns...), rawRecipes)); err != nil {
		return err
	}

	i.recipes.add(recipes)

	return nil
}

// insert stores n sessions, and counts those that wait in the same round trip if that is due.
func (i *intake) insert(ctx context.Context, n int, args []any) error {
	if !i.backlog.due() {
		_, err := i.pool.Exec(ctx, createSQL, args...)
		if err == nil {
			i.backlog.add(n)
		}

		return err
	}

	var (
		both    pgx.Batch
		waiting int
	)

	both.Queue(createSQL, args...)
	both.Queue(countWaitingSQL, i.backlog.limit).QueryRow(func(row pgx.Row) error { return row.Scan(&waiting) })

	err := i.pool.SendBatch(ctx, &both).Close()
	if err == nil {
		i.backlog.set(waiting)
	}

	return err
}

var errClosing = errors.New("the database is closing")
