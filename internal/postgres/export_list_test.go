package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// Statements of the usage summary.
const (
	UsageSummarySQL = usageSummarySQL
	EdgesSQL        = edgesSQL
)

// ListPlan returns how the database runs the statement of a list if it cannot use sequential scans.
func (db *DB) ListPlan(ctx context.Context, f tarsy.SessionFilter) (string, error) {
	q := newListQuery(f)

	q.args["now"] = db.clock.Now()

	return db.planWithoutScans(ctx, q.page(f), q.args)
}

// DistinctPlan does the same for the values of a column.
func (db *DB) DistinctPlan(ctx context.Context, column string) (string, error) {
	return db.planWithoutScans(ctx, distinctSQL(column), nil)
}

// QueuedPlan does the same for waiting sessions.
func (db *DB) QueuedPlan(ctx context.Context) (string, error) {
	return db.planWithoutScans(ctx, strings.NewReplacer("$1", "200", "$2", "now()", "$3", "NULL").Replace(queuedSQL), nil)
}

// WorkloadPlan returns how the database reads the workload.
func (db *DB) WorkloadPlan(ctx context.Context) (string, error) {
	return db.plan(ctx, "SET LOCAL jit = off", strings.ReplaceAll(workloadSQL, "$1", "now()"), nil)
}

// UsagePlan does the same for the usage summary.
func (db *DB) UsagePlan(ctx context.Context, args pgx.NamedArgs) (string, error) {
	return db.planWithoutScans(ctx, usageSummarySQL, args)
}

func (db *DB) planWithoutScans(ctx context.Context, sql string, args pgx.NamedArgs) (string, error) {
	return db.plan(ctx, "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off", sql, args)
}

func (db *DB) plan(ctx context.Context, settings, sql string, args pgx.NamedArgs) (string, error) {
	var lines []string

	err := pgx.BeginFunc(ctx, db.readers, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, settings); err != nil {
			return err
		}

		rows, err := tx.Query(ctx, "EXPLAIN "+sql, args)
		if err != nil {
			return err
		}

		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])

		return err
	})

	return strings.Join(lines, "\n"), err
}

// SearchExpecting searches as if few were the maximum number of expected matches for which the index is asked for all of them:
// zero makes it scan the newest sessions first.
func (db *DB) SearchExpecting(ctx context.Context, few float64, f tarsy.SessionFilter) ([]tarsy.SessionItem, error) {
	plan, err := db.planSearch(ctx, parseSearch(f.Search))
	if err != nil {
		return nil, err
	}

	plan.expected = 0
	if few == 0 {
		plan.expected = fewMatches + 1
	}

	places, err := db.findPlaces(ctx, plan, f)
	if err != nil {
		return nil, err
	}

	return db.matches(ctx, plan, places)
}

// MigrateTo migrates a database to the schema of an older release: up to a version.
func MigrateTo(ctx context.Context, url string, version int) error {
	known := slices.DeleteFunc(migrations(), func(m migration) bool { return m.version > version })

	return migrate(ctx, url, known, noStep)
}

// AlikePlan returns how the database finds similar sessions: by the index of words, or among the newest sessions.
func (db *DB) AlikePlan(ctx context.Context, byIndex bool) (string, error) {
	return db.plan(ctx, "SET LOCAL enable_seqscan = off", alikeSQL(byIndex, 5), pgx.NamedArgs{
		"query": "'a' | 'b'", "words": []string{"'a'", "'b'"}, "least": 1, "alert_type": "", "seen": []string{},
	})
}
