package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// load reads sessions in one round trip. The trace of finished LLM calls is left where it is: planning needs their
// number and kind only.
func (db *DB) load(ctx context.Context, ids []string) (map[string]*progress.State, error) {
	states := make(map[string]*progress.State, len(ids))

	var batch pgx.Batch

	queueLoad(&batch, `SELECT `+sessionRowColumns.list()+` FROM sessions WHERE id = ANY($1)`, ids, func(r sessionRow) {
		states[r.ID] = &progress.State{Session: r.Session, LastSeq: r.LastSeq}
	})
	queueLoad(&batch, stagesTable.selectWhere(`session_id = ANY($1) ORDER BY stage_index`), ids, func(r tarsy.Stage) {
		states[r.SessionID].Stages = append(states[r.SessionID].Stages, r)
	})
	queueLoad(&batch, executionsTable.selectWhere(`session_id = ANY($1) ORDER BY stage_id, agent_index`), ids, func(r tarsy.Execution) {
		states[r.SessionID].Executions = append(states[r.SessionID].Executions, r)
	})
	queueLoad(&batch, timelineTable.selectWhere(`session_id = ANY($1) ORDER BY sequence_number`), ids, func(r tarsy.TimelineEvent) {
		states[r.SessionID].Timeline = append(states[r.SessionID].Timeline, r)
	})
	queueLoad(&batch, messagesTable.selectWhere(`session_id = ANY($1) ORDER BY execution_id, sequence_number`), ids, func(r tarsy.Message) {
		states[r.SessionID].Messages = append(states[r.SessionID].Messages, r)
	})
	queueLoad(&batch, loadLLMInteractionsSQL, ids, func(r tarsy.LLMInteraction) {
		states[r.SessionID].LLMInteractions = append(states[r.SessionID].LLMInteractions, r)
	})
	queueLoad(&batch, mcpInteractionsTable.selectWhere(`session_id = ANY($1) ORDER BY created_at, id`), ids, func(r tarsy.MCPInteraction) {
		states[r.SessionID].MCPInteractions = append(states[r.SessionID].MCPInteractions, r)
	})
	queueLoad(&batch, chatsTable.selectWhere(`session_id = ANY($1)`), ids, func(r tarsy.Chat) {
		states[r.SessionID].Chats = append(states[r.SessionID].Chats, r)
	})
	queueLoad(&batch, chatMessagesTable.selectWhere(`session_id = ANY($1) ORDER BY created_at, id`), ids, func(r tarsy.ChatUserMessage) {
		states[r.SessionID].ChatMessages = append(states[r.SessionID].ChatMessages, r)
	})
	queueLoad(&batch, requestsTable.selectWhere(`session_id = ANY($1) AND status = 'open' ORDER BY created_at, id`), ids, func(r tarsy.Request) {
		states[r.SessionID].Requests = append(states[r.SessionID].Requests, r)
	})

	return states, db.work.SendBatch(ctx, &batch).Close()
}

// sessionRow is a session as it is stored, and where its journal stands.
type sessionRow struct {
	tarsy.Session

	LastSeq int64 `json:"last_seq"`
}

var (
	sessionRowColumns = columnsOf[sessionRow]()

	loadLLMInteractionsSQL = `SELECT ` + llmInteractionsTable.columns.with(map[string]string{
		"llm_request": "NULL::json", "llm_response": "NULL::json", "thinking_content": "''",
	}) + ` FROM llm_interactions WHERE session_id = ANY($1) ORDER BY created_at, id`
)

func queueLoad[R any](batch *pgx.Batch, sql string, ids []string, each func(R)) {
	batch.Queue(sql, ids).Query(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, pgx.RowToStructByName[R])
		for _, r := range all {
			each(r)
		}

		return err
	})
}
