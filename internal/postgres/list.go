package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// rankSQL is tarsy.SessionStatus.Rank; the index sessions_attention has the same words.
const rankSQL = `(CASE WHEN status IN ('pending', 'in_progress', 'cancelling') THEN 0 WHEN status IN ('failed', 'timed_out') THEN 1 ELSE 2 END)`

// The orders of lists. The rank is ordered backwards by its negative, so that a whole place is compared at once.
const (
	newestFirst    = `created_at DESC, id DESC`
	nextFirst      = `created_at, id`
	attentionFirst = `-` + rankSQL + ` DESC, ` + newestFirst
)

// Sessions returns a page of the list.
func (db *DB) Sessions(ctx context.Context, f tarsy.SessionFilter) ([]tarsy.SessionItem, error) {
	where := []string{"deleted_at IS NULL"}
	args := pgx.NamedArgs{"limit": f.Limit}

	add := func(use bool, condition, name string, value any) {
		if use {
			where = append(where, condition)
			args[name] = value
		}
	}

	add(len(f.Statuses) > 0, "status = ANY(@statuses::text[])", "statuses", f.Statuses)
	add(f.AlertType != "", "alert_type = @alert_type", "alert_type", f.AlertType)
	add(f.ChainID != "", "chain_id = @chain_id", "chain_id", f.ChainID)
	add(f.Author != "", "author = @author", "author", f.Author)
	add(f.CreatedAfter != nil, "created_at >= @created_after", "created_after", f.CreatedAfter)
	add(f.CreatedBefore != nil, "created_at < @created_before", "created_before", f.CreatedBefore)
	add(f.Search != "", `(alert_data ILIKE @search OR final_analysis ILIKE @search OR executive_summary ILIKE @search
		OR alert_type ILIKE @search OR error_message ILIKE @search)`, "search", "%"+escapeLike(f.Search)+"%")

	order := newestFirst
	if f.Order == tarsy.OrderAttention {
		order = attentionFirst
	}

	if after := f.After; after != nil {
		place := "(created_at, id) < (@after_at, @after_id::uuid)"

		if after.Rank != nil {
			place = "(-" + rankSQL + ", created_at, id) < (-@after_rank::int, @after_at, @after_id::uuid)"
			args["after_rank"] = *after.Rank
		}

		where = append(where, place)
		args["after_at"], args["after_id"] = after.CreatedAt, after.ID
	}

	items, err := db.list(ctx, strings.Join(where, " AND "), order, args)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}

	return items, nil
}

// list returns the sessions of a condition. What each of them used is added up from its calls as it is asked for: kept on the
// session it would make every step write more.
func (db *DB) list(ctx context.Context, where, order string, args pgx.NamedArgs) ([]tarsy.SessionItem, error) {
	return collect[tarsy.SessionItem](ctx, db.pool, `
SELECT page.*, (SELECT `+sumUsage+` FROM llm_interactions WHERE session_id = page.id) AS usage,
    (SELECT count(*) FROM mcp_interactions WHERE session_id = page.id) AS tool_calls
FROM (
    SELECT id, alert_type, chain_id, status, author, rerun_of, pod_id, stage_count, current_stage_index, executive_summary,
        error_code, error_message, concluded_early, created_at, started_at, completed_at, last_seq AS version
    FROM sessions WHERE `+where+`
    ORDER BY `+order+` LIMIT @limit
) AS page ORDER BY `+order, args)
}

// escapeLike makes text match itself in a LIKE pattern.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// ActiveSessions returns up to limit sessions that are being investigated, and as many that wait for it.
func (db *DB) ActiveSessions(ctx context.Context, limit int) (tarsy.ActiveSessions, error) {
	// The rank finds them in the index; most sessions are over.
	const (
		open   = `deleted_at IS NULL AND -` + rankSQL + ` = 0`
		active = open + ` AND status IN ('in_progress', 'cancelling')`
		queued = open + ` AND status = 'pending'`
	)

	args := pgx.NamedArgs{"limit": limit}

	var (
		found tarsy.ActiveSessions
		err   error
	)

	found.Active, err = db.list(ctx, active, newestFirst, args)
	if err != nil {
		return found, fmt.Errorf("list active sessions: %w", err)
	}

	found.Queued, err = db.list(ctx, queued, nextFirst, args)
	if err != nil {
		return found, fmt.Errorf("list waiting sessions: %w", err)
	}

	return found, nil
}

// FilterOptions returns what the sessions that are there can be told apart by.
func (db *DB) FilterOptions(ctx context.Context) (tarsy.FilterOptions, error) {
	type row struct{ AlertTypes, ChainIDs, Authors []string }

	rows, err := collect[row](ctx, db.pool, `
SELECT COALESCE(array_agg(DISTINCT alert_type), '{}') AS alert_types, COALESCE(array_agg(DISTINCT chain_id), '{}') AS chain_ids,
    COALESCE(array_agg(DISTINCT author), '{}') AS authors
FROM sessions WHERE deleted_at IS NULL`)
	if err != nil {
		return tarsy.FilterOptions{}, fmt.Errorf("list what sessions can be filtered by: %w", err)
	}

	// Sorted here: every database has its own idea of the order of letters.
	for _, values := range [][]string{rows[0].AlertTypes, rows[0].ChainIDs, rows[0].Authors} {
		slices.Sort(values)
	}

	return tarsy.FilterOptions{
		AlertTypes: rows[0].AlertTypes, ChainIDs: rows[0].ChainIDs, Authors: rows[0].Authors, Statuses: tarsy.SessionStatuses(),
	}, nil
}

// QueueCounts is how many sessions wait to be investigated and are, over all servers. Questions count nowhere.
type QueueCounts struct {
	Waiting int
	Leased  int
}

// Queue counts the queue.
func (db *DB) Queue(ctx context.Context) (QueueCounts, error) {
	counts, err := collect[QueueCounts](ctx, db.front, `
SELECT (SELECT count(*) FROM sessions WHERE runnable_at IS NOT NULL AND lease_until IS NULL AND completed_at IS NULL) AS waiting,
       (SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL AND lease_counted) AS leased`)
	if err != nil {
		return QueueCounts{}, fmt.Errorf("count the queue: %w", err)
	}

	return counts[0], nil
}
