package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// itemSQL reads a page of the list: the places of its sessions, in order, become rows. What each session used is added up
// from its calls as it is asked for: kept on the session it would make every step write more.
var itemSQL = `
SELECT s.id, s.alert_type, ` + factColumns.of("s") + `, (` + alertStateSQL + `) AS alert, s.chain_id, s.status, s.author, s.rerun_of, s.pod_id, s.stage_count, s.current_stage_index, s.executive_summary,
    s.error_code, s.error_message, s.concluded_early, s.created_at, s.started_at, s.completed_at, s.last_seq AS version,
    (SELECT ` + sumUsage + ` FROM llm_interactions WHERE session_id = s.id) AS usage,
    (SELECT count(*) FROM mcp_interactions WHERE session_id = s.id) AS tool_calls`

// Sessions returns a page of the list. Sessions that match a search are ordered by relevance, whatever order was asked for.
func (db *DB) Sessions(ctx context.Context, f tarsy.SessionFilter) ([]tarsy.SessionItem, error) {
	if f.Search != "" {
		return db.search(ctx, f)
	}

	query := newListQuery(f)

	sql := query.page(f)
	if sql == "" {
		return nil, nil
	}

	items, err := collect[tarsy.SessionItem](ctx, db.readers, sql, query.args)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}

	return items, nil
}

// listGroup is the sessions that have one status in session_list, which is empty for all that are not over.
type listGroup struct {
	status string
	rank   int
}

// listQuery reads session_list. A list is read group by group and then put in order: each group is a range of an index for
// any filter and either order, so that a page costs what the page costs, however many sessions there are.
type listQuery struct {
	groups []listGroup
	// from is the table, and joins the sessions where the status of those that are not over matters.
	from  string
	where []string
	args  pgx.NamedArgs
}

func newListQuery(f tarsy.SessionFilter) listQuery {
	q := listQuery{from: "session_list l", args: pgx.NamedArgs{}}

	add := func(use bool, condition, name string, value any) {
		if use {
			q.where = append(q.where, condition)
			q.args[name] = value
		}
	}

	add(f.AlertType != "", "l.alert_type = @alert_type", "alert_type", f.AlertType)
	add(f.ChainID != "", "l.chain_id = @chain_id", "chain_id", f.ChainID)
	add(f.Author != "", "l.author = @author", "author", f.Author)
	add(f.CreatedAfter != nil, "l.created_at >= @created_after", "created_after", f.CreatedAfter)
	add(f.CreatedBefore != nil, "l.created_at < @created_before", "created_before", f.CreatedBefore)

	var open []tarsy.SessionStatus

	for _, status := range tarsy.SessionStatuses() {
		switch wanted := len(f.Statuses) == 0 || slices.Contains(f.Statuses, status); {
		case !wanted:
		case status.Terminal():
			q.groups = append(q.groups, listGroup{status: string(status), rank: status.Rank()})
		default:
			open = append(open, status)
		}
	}

	if len(open) > 0 {
		q.groups = append(q.groups, listGroup{rank: tarsy.SessionPending.Rank()})
	}

	if len(f.Statuses) > 0 && len(open) > 0 {
		q.from += " JOIN sessions o ON o.id = l.session_id AND (o.completed_at IS NOT NULL OR o.status = ANY(@open::text[]))"
		q.args["open"] = open
	}

	return q
}

// page is the statement for a page, or empty where nothing can follow. Its limit and the statuses are written out: with a parameter the planner would have
// to guess how few rows are wanted.
func (q listQuery) page(f tarsy.SessionFilter) string {
	var groups []string

	for _, group := range q.groups {
		rank, where := 0, append(slices.Clone(q.where), "l.status = '"+group.status+"'")

		if f.Order == tarsy.OrderAttention {
			rank = group.rank
		}

		if after := f.After; after != nil {
			q.args["after_at"], q.args["after_id"] = after.CreatedAt, after.ID

			switch place := orZero(after.Rank); {
			case rank < place:
				continue
			case rank == place:
				where = append(where, "(l.created_at, l.session_id) < (@after_at, @after_id::uuid)")
			}
		}

		groups = append(groups, `(SELECT l.session_id, l.created_at AS at, `+strconv.Itoa(rank)+` AS rank FROM `+q.from+` WHERE `+strings.Join(where, " AND ")+`
    ORDER BY l.created_at DESC, l.session_id DESC LIMIT `+strconv.Itoa(f.Limit)+`)`)
	}

	if len(groups) == 0 {
		return ""
	}

	const order = " ORDER BY rank, at DESC, session_id DESC"

	return itemSQL + `
FROM (SELECT session_id, at, rank FROM (` + strings.Join(groups, " UNION ALL ") + `) AS groups` + order + ` LIMIT ` + strconv.Itoa(f.Limit) + `) AS page
JOIN sessions s ON s.id = page.session_id` + order
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}

	return *n
}

// ActiveSessions returns up to limit sessions that are being investigated, and as many that wait for it.
func (db *DB) ActiveSessions(ctx context.Context, limit int) (tarsy.ActiveSessions, error) {
	open := itemSQL + `
FROM session_list l JOIN sessions s ON s.id = l.session_id
WHERE l.status = '' AND s.status = ANY($1::text[]) ORDER BY `

	var (
		found tarsy.ActiveSessions
		err   error
	)

	found.Active, err = collect[tarsy.SessionItem](ctx, db.readers, open+`l.created_at DESC, l.session_id DESC LIMIT `+strconv.Itoa(limit),
		[]tarsy.SessionStatus{tarsy.SessionInProgress, tarsy.SessionCancelling})
	if err != nil {
		return found, fmt.Errorf("list active sessions: %w", err)
	}

	found.Queued, err = collect[tarsy.SessionItem](ctx, db.readers, open+`l.created_at, l.session_id LIMIT `+strconv.Itoa(limit),
		[]tarsy.SessionStatus{tarsy.SessionPending})
	if err != nil {
		return found, fmt.Errorf("list waiting sessions: %w", err)
	}

	return found, nil
}

// FilterOptions returns the values that sessions can be filtered by.
func (db *DB) FilterOptions(ctx context.Context) (tarsy.FilterOptions, error) {
	options := tarsy.FilterOptions{Statuses: tarsy.SessionStatuses()}

	var batch pgx.Batch

	queueDistinct(&batch, &options.AlertTypes, "alert_type")
	queueDistinct(&batch, &options.ChainIDs, "chain_id")
	queueDistinct(&batch, &options.Authors, "author")

	if err := db.readers.SendBatch(ctx, &batch).Close(); err != nil {
		return tarsy.FilterOptions{}, fmt.Errorf("list filter options: %w", err)
	}

	// Sorted here: every database has its own idea of the order of letters.
	for _, values := range [][]string{options.AlertTypes, options.ChainIDs, options.Authors} {
		slices.Sort(values)
	}

	return options, nil
}

// queueDistinct asks for the values of a column of session_list. It goes from each value to the next in the column's index,
// so that it costs as much as there are values and not as there are sessions.
func queueDistinct(batch *pgx.Batch, into *[]string, column string) {
	batch.Queue(`
WITH RECURSIVE found AS (
    (SELECT ` + column + ` AS value FROM session_list ORDER BY ` + column + ` LIMIT 1)
    UNION ALL
    SELECT (SELECT l.` + column + ` FROM session_list l WHERE l.` + column + ` > f.value ORDER BY l.` + column + ` LIMIT 1)
    FROM found f WHERE f.value IS NOT NULL
)
SELECT value FROM found WHERE value IS NOT NULL`).Query(func(rows pgx.Rows) error {
		values, err := pgx.CollectRows(rows, pgx.RowTo[string])
		*into = append([]string{}, values...)

		return err
	})
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
