package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// sessionColumns are the columns that people see, in no particular order: rows are matched by name.
const sessionColumns = `id, alert_type, alert_data, chain_id, agent_type, status, author, runbook, runbook_url, mcp_selection, rerun_of, pod_id,
stage_count, current_stage_index, current_stage_id, final_analysis, executive_summary, executive_summary_error, error_code, error_message,
concluded_early, created_at, started_at, completed_at, last_interaction_at, deleted_at`

// sessionColumnsOf qualifies the columns with a table's name.
func sessionColumnsOf(table string) string {
	columns := strings.Split(sessionColumns, ",")
	for i, c := range columns {
		columns[i] = table + "." + strings.TrimSpace(c)
	}

	return strings.Join(columns, ", ")
}

// load reads sessions in one round trip. The trace of finished LLM calls is left where it is: planning needs their
// number and kind only.
func (db *DB) load(ctx context.Context, ids []string) (map[string]*progress.State, error) {
	states := make(map[string]*progress.State, len(ids))

	var batch pgx.Batch

	queueLoad(&batch, `SELECT `+sessionColumns+`, last_seq FROM sessions WHERE id = ANY($1)`, ids, func(r sessionRow) {
		states[r.ID] = &progress.State{Session: r.Session, LastSeq: r.LastSeq}
	})
	queueLoad(&batch, `SELECT * FROM stages WHERE session_id = ANY($1) ORDER BY stage_index`, ids, func(r tarsy.Stage) {
		states[r.SessionID].Stages = append(states[r.SessionID].Stages, r)
	})
	queueLoad(&batch, `SELECT * FROM executions WHERE session_id = ANY($1) ORDER BY stage_id, agent_index`, ids, func(r tarsy.Execution) {
		states[r.SessionID].Executions = append(states[r.SessionID].Executions, r)
	})
	queueLoad(&batch, `SELECT * FROM timeline_events WHERE session_id = ANY($1) ORDER BY sequence_number`, ids, func(r tarsy.TimelineEvent) {
		states[r.SessionID].Timeline = append(states[r.SessionID].Timeline, r)
	})
	queueLoad(&batch, `SELECT * FROM messages WHERE session_id = ANY($1) ORDER BY execution_id, sequence_number`, ids, func(r tarsy.Message) {
		states[r.SessionID].Messages = append(states[r.SessionID].Messages, r)
	})
	queueLoad(&batch, `SELECT id, session_id, stage_id, execution_id, interaction_type, provider, model_name, message_count,
    NULL::json AS llm_request, NULL::json AS llm_response, '' AS thinking_content, usage, duration_ms, attempts, stop_reason,
    shortened_through, error_code, error_message, created_at
FROM llm_interactions WHERE session_id = ANY($1) ORDER BY created_at, id`, ids, func(r tarsy.LLMInteraction) {
		states[r.SessionID].LLMInteractions = append(states[r.SessionID].LLMInteractions, r)
	})
	queueLoad(&batch, `SELECT * FROM mcp_interactions WHERE session_id = ANY($1) ORDER BY created_at, id`, ids, func(r tarsy.MCPInteraction) {
		states[r.SessionID].MCPInteractions = append(states[r.SessionID].MCPInteractions, r)
	})
	queueLoad(&batch, `SELECT * FROM chats WHERE session_id = ANY($1)`, ids, func(r tarsy.Chat) {
		states[r.SessionID].Chats = append(states[r.SessionID].Chats, r)
	})
	queueLoad(&batch, `SELECT * FROM chat_user_messages WHERE session_id = ANY($1) ORDER BY created_at, id`, ids, func(r tarsy.ChatUserMessage) {
		states[r.SessionID].ChatMessages = append(states[r.SessionID].ChatMessages, r)
	})
	queueLoad(&batch, `SELECT * FROM requests WHERE session_id = ANY($1) AND status = 'open' ORDER BY created_at, id`, ids, func(r tarsy.Request) {
		states[r.SessionID].Requests = append(states[r.SessionID].Requests, r)
	})

	return states, db.work.SendBatch(ctx, &batch).Close()
}

type sessionRow struct {
	tarsy.Session

	LastSeq int64 `json:"last_seq"`
}

func queueLoad[R any](batch *pgx.Batch, sql string, ids []string, each func(R)) {
	batch.Queue(sql, ids).Query(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, pgx.RowToStructByName[R])
		for _, r := range all {
			each(r)
		}

		return err
	})
}
