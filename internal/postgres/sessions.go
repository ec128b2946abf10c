package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// SessionDetail returns one session with its stages and executions, from one snapshot.
func (db *DB) SessionDetail(ctx context.Context, id string) (*tarsy.SessionDetail, error) {
	if !ident.Valid(id) {
		return nil, SessionNotFound(id)
	}

	var rows detailRows

	err := InSnapshot(ctx, db.readers, func(tx pgx.Tx) error {
		var batch pgx.Batch

		rows.queue(&batch, id, db.clock.Now())

		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}

	if len(rows.sessions) == 0 {
		return nil, SessionNotFound(id)
	}

	return rows.detail(), nil
}

// detailRows are the rows of a session before they are assembled.
type detailRows struct {
	sessions   []sessionRow
	stages     []tarsy.Stage
	executions []tarsy.Execution
	chats      []tarsy.Chat
	spent      []executionSpend
	alerts     []alertStateRow
	verdicts   []tarsy.Verdict
	feedback   []tarsy.Feedback
	handling   []tarsy.Handling
	reruns     []rerunRow
	tools      []tarsy.ToolUse
	waiting    []waitingRow
}

// waitingRow is the number of open approvals of a session.
type waitingRow struct {
	Approvals int `json:"approvals"`
}

// rerunRow is a re-run of a session.
type rerunRow struct {
	ID string `json:"id"`
}

// toolsSQL counts the tool calls of an investigation, without those of questions.
const toolsSQL = `
SELECT server_name, tool_name, count(*) AS calls, count(*) FILTER (WHERE is_error) AS errors
FROM mcp_interactions
WHERE session_id = $1 AND NOT EXISTS (SELECT FROM stages t WHERE t.id = stage_id AND t.stage_type = 'chat')
GROUP BY server_name, tool_name ORDER BY calls DESC, server_name, tool_name`

func (r *detailRows) queue(batch *pgx.Batch, id string, now time.Time) {
	QueueRows(batch, &r.sessions, `SELECT `+sessionRowColumns.List()+` FROM sessions WHERE id = $1 AND deleted_at IS NULL`, id)
	QueueRows(batch, &r.stages, stagesTable.SelectWhere(`session_id = $1 ORDER BY stage_index`), id)
	QueueRows(batch, &r.executions, executionsTable.SelectWhere(`session_id = $1 ORDER BY stage_id, agent_index`), id)
	QueueRows(batch, &r.chats, chatsTable.SelectWhere(`session_id = $1`), id)
	QueueRows(batch, &r.verdicts, VerdictsTable.SelectWhere(`session_id = $1`), id)
	QueueRows(batch, &r.feedback, feedbackSQL, id)
	QueueRows(batch, &r.handling, handlingSQL, id)
	QueueRows(batch, &r.reruns, `SELECT id FROM sessions WHERE rerun_of = $1 AND deleted_at IS NULL ORDER BY id`, id)
	QueueRows(batch, &r.tools, toolsSQL, id)
	QueueRows(batch, &r.waiting, `SELECT `+countApprovals("$2")+` AS approvals FROM sessions s WHERE s.id = $1`, id, now)
	queueSpend(batch, &r.spent, id)
	QueueRows(batch, &r.alerts, `SELECT (`+alertStateSQL+`) AS alert FROM sessions s WHERE s.id = $1`, id)
}

func (r *detailRows) detail() *tarsy.SessionDetail {
	detail := &tarsy.SessionDetail{
		Session: r.sessions[0].Session, Version: r.sessions[0].LastSeq, Feedback: append([]tarsy.Feedback{}, r.feedback...),
		Reruns: []string{}, Tools: append([]tarsy.ToolUse{}, r.tools...), Stages: []tarsy.StageDetail{},
	}

	for _, again := range r.reruns {
		detail.Reruns = append(detail.Reruns, again.ID)
	}

	spent := make(map[string]tarsy.Spend, len(r.spent))

	for _, s := range r.spent {
		detail.Spend.Add(s.Spend)

		sum := spent[s.ExecutionID]
		sum.Add(s.Spend)
		spent[s.ExecutionID] = sum
	}

	if len(r.waiting) > 0 {
		detail.WaitingApprovals = r.waiting[0].Approvals
	}

	if len(r.alerts) > 0 {
		detail.Alert = r.alerts[0].Alert
	}

	if len(r.handling) > 0 {
		detail.Handling = &r.handling[0]
	}

	if len(r.verdicts) > 0 {
		detail.Verdict = &r.verdicts[0]
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

// SessionProgress returns the progress of a session.
func (db *DB) SessionProgress(ctx context.Context, id string) (*tarsy.SessionProgress, error) {
	return SessionRow[tarsy.SessionProgress](ctx, db, id, `
SELECT id, status, stage_count, current_stage_index, error_code, error_message, last_seq AS version
FROM sessions WHERE id = $1 AND deleted_at IS NULL`)
}

// SessionSummary returns the results of a session so far.
func (db *DB) SessionSummary(ctx context.Context, id string) (*tarsy.SessionSummary, error) {
	return SessionRow[tarsy.SessionSummary](ctx, db, id, `
SELECT id, status, executive_summary, final_analysis, outcome, cause, stage_count,
    COALESCE(floor(extract(epoch FROM COALESCE(completed_at, $2) - started_at) * 1000), 0)::bigint AS duration_ms,
    (SELECT `+sumUsage+` FROM llm_interactions WHERE session_id = $1) AS usage,
    (SELECT count(*) FROM mcp_interactions WHERE session_id = $1) AS tool_calls
FROM sessions WHERE id = $1 AND deleted_at IS NULL`, db.clock.Now())
}

// SessionTeam returns the team that a session belongs to; empty if it belongs to none.
func (db *DB) SessionTeam(ctx context.Context, id string) (string, error) {
	found, err := SessionRow[struct{ Team string }](ctx, db, id, `SELECT team FROM sessions WHERE id = $1 AND deleted_at IS NULL`)
	if err != nil {
		return "", err
	}

	return found.Team, nil
}

// HiddenSessions returns which of these sessions exist and are not visible.
func (db *DB) HiddenSessions(ctx context.Context, ids []string, visible tarsy.Visibility) ([]string, error) {
	if !visible.Limited {
		return nil, nil
	}

	found, err := Collect[struct{ ID string }](ctx, db.readers, `SELECT id FROM sessions WHERE id = ANY ($1) AND team <> ALL ($2)`, ids, visible.Values())
	if err != nil {
		return nil, fmt.Errorf("look up teams of sessions: %w", err)
	}

	hidden := make([]string, len(found))
	for i, session := range found {
		hidden[i] = session.ID
	}

	return hidden, nil
}
