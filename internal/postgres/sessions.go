package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// Sessions returns a page of the list, newest first. What each session used is added up from its calls as it is asked for:
// kept on the session it would make every step write more.
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

	if f.After != nil {
		where = append(where, "(created_at, id) < (@after_at, @after_id::uuid)")
		args["after_at"], args["after_id"] = f.After.CreatedAt, f.After.ID
	}

	items, err := collect[tarsy.SessionItem](ctx, db.pool, `
SELECT page.*, (SELECT `+sumUsage+` FROM llm_interactions WHERE session_id = page.id) AS usage,
    (SELECT count(*) FROM mcp_interactions WHERE session_id = page.id) AS tool_calls
FROM (
    SELECT id, alert_type, chain_id, status, author, pod_id, current_stage_index, executive_summary, error_code, error_message,
        concluded_early, created_at, started_at, completed_at, last_seq AS version
    FROM sessions WHERE `+strings.Join(where, " AND ")+`
    ORDER BY created_at DESC, id DESC LIMIT @limit
) AS page ORDER BY created_at DESC, id DESC`, args)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}

	return items, nil
}

// escapeLike makes text match itself in a LIKE pattern.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// SessionDetail returns one session with its stages and executions, as of one moment.
func (db *DB) SessionDetail(ctx context.Context, id string) (*tarsy.SessionDetail, error) {
	if !tarsy.ValidID(id) {
		return nil, sessionNotFound(id)
	}

	var rows detailRows

	err := pgx.BeginTxFunc(ctx, db.pool, snapshot, func(tx pgx.Tx) error {
		var batch pgx.Batch

		queueRows(&batch, &rows.sessions, `SELECT `+sessionColumns+`, last_seq FROM sessions WHERE id = $1 AND deleted_at IS NULL`, id)
		queueRows(&batch, &rows.stages, `SELECT * FROM stages WHERE session_id = $1 ORDER BY stage_index`, id)
		queueRows(&batch, &rows.executions, `SELECT * FROM executions WHERE session_id = $1 ORDER BY stage_id, agent_index`, id)
		queueRows(&batch, &rows.chats, `SELECT * FROM chats WHERE session_id = $1`, id)
		queueSpend(&batch, &rows.spent, id)

		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}

	if len(rows.sessions) == 0 {
		return nil, sessionNotFound(id)
	}

	return rows.detail(), nil
}

// detailRows are the rows of a session before they are put under each other.
type detailRows struct {
	sessions   []sessionRow
	stages     []tarsy.Stage
	executions []tarsy.Execution
	chats      []tarsy.Chat
	spent      []executionSpend
}

func (r *detailRows) detail() *tarsy.SessionDetail {
	detail := &tarsy.SessionDetail{Session: r.sessions[0].Session, Version: r.sessions[0].LastSeq, Stages: []tarsy.StageDetail{}}
	spent := make(map[string]tarsy.Spend, len(r.spent))

	for _, s := range r.spent {
		detail.Spend.Add(s.Spend)

		sum := spent[s.ExecutionID]
		sum.Add(s.Spend)
		spent[s.ExecutionID] = sum
	}

	if len(r.chats) > 0 {
		detail.Chat = &r.chats[0]
	}

	for _, s := range r.stages {
		stage := tarsy.StageDetail{Stage: s, Executions: []tarsy.ExecutionDetail{}}

		for _, e := range r.executions {
			if e.StageID == s.ID {
				stage.Spend.Add(spent[e.ID])
				stage.Executions = append(stage.Executions, tarsy.ExecutionDetail{Execution: e, Spend: spent[e.ID]})
			}
		}

		detail.Stages = append(detail.Stages, stage)
	}

	return detail
}

// snapshot shows several queries the same moment.
var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly} //nolint:gochecknoglobals // a constant

// Timeline returns a session's timeline in order, and the number of the last journal event that it includes.
func (db *DB) Timeline(ctx context.Context, sessionID string) ([]tarsy.TimelineEvent, int64, error) {
	if !tarsy.ValidID(sessionID) {
		return nil, 0, sessionNotFound(sessionID)
	}

	var (
		version int64
		events  []tarsy.TimelineEvent
	)

	err := pgx.BeginTxFunc(ctx, db.pool, snapshot, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT last_seq FROM sessions WHERE id = $1 AND deleted_at IS NULL`, sessionID).Scan(&version)
		if err != nil {
			return err
		}

		rows, err := tx.Query(ctx, `SELECT * FROM timeline_events WHERE session_id = $1 ORDER BY sequence_number`, sessionID)
		if err != nil {
			return err
		}

		events, err = pgx.CollectRows(rows, pgx.RowToStructByName[tarsy.TimelineEvent])

		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, sessionNotFound(sessionID)
	}

	if err != nil {
		return nil, 0, fmt.Errorf("read timeline: %w", err)
	}

	return events, version, nil
}

// QueueCounts is how many sessions wait to be investigated and are, over all servers. Questions count nowhere.
type QueueCounts struct {
	Waiting int
	Leased  int
}

// Queue counts the queue.
func (db *DB) Queue(ctx context.Context) (QueueCounts, error) {
	counts, err := collect[QueueCounts](ctx, db.pool, `
SELECT (SELECT count(*) FROM sessions WHERE runnable_at IS NOT NULL AND lease_until IS NULL AND completed_at IS NULL) AS waiting,
       (SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL AND lease_counted) AS leased`)
	if err != nil {
		return QueueCounts{}, fmt.Errorf("count the queue: %w", err)
	}

	return counts[0], nil
}
