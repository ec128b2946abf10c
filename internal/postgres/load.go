package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// Load reloads a session under its fence. It returns ErrFenceLost if another server holds the session, or if it does not exist:
// after a failover to a standby that lagged behind, its row may be gone. It locks the row first: a commit of ours whose
// connection broke may still be in flight, and Load must see its outcome. The lock is released before the reading begins, so a
// server that freezes in between does not block a takeover.
func (db *DB) Load(ctx context.Context, lease Lease) (*progress.State, error) {
	var held bool

	err := db.work.QueryRow(ctx, `SELECT fence = $2 AND lease_until IS NOT NULL FROM sessions WHERE id = $1 FOR UPDATE`,
		lease.SessionID, lease.Fence).Scan(&held)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("check the fence: %w", err)
	}

	if !held {
		return nil, ErrFenceLost
	}

	states, err := db.load(ctx, []string{lease.SessionID})
	if err != nil {
		return nil, fmt.Errorf("load session: %w", err)
	}

	state := states[lease.SessionID]
	if state == nil {
		return nil, ErrFenceLost
	}

	return state, nil
}

// loadClaims loads the claimed sessions that have been worked on before. One that cannot be loaded does not fail the others: its
// claim has the error. One that no longer exists is left out.
func (db *DB) loadClaims(ctx context.Context, claims []Claim) ([]Claim, error) {
	var ids []string

	for _, c := range claims {
		if !c.unstarted && c.Unloadable == nil {
			ids = append(ids, c.SessionID)
		}
	}

	if len(ids) == 0 {
		return claims, nil
	}

	states, err := db.load(ctx, ids)
	if err != nil && !IsUnloadable(err) {
		return nil, fmt.Errorf("load claimed sessions: %w", err)
	}

	alone := err != nil
	loaded := make([]Claim, 0, len(claims))

	for _, c := range claims {
		if !c.unstarted && c.Unloadable == nil {
			if alone {
				states, err = db.load(ctx, []string{c.SessionID})
			}

			switch state := states[c.SessionID]; {
			case err != nil && !IsUnloadable(err):
				return nil, fmt.Errorf("load claimed session: %w", err)
			case err != nil:
				c.Unloadable = fmt.Errorf("load claimed session: %w", err)
			case state == nil:
				continue
			default:
				c.State = *state
			}
		}

		loaded = append(loaded, c)
	}

	return loaded, nil
}

// IsUnloadable reports whether err means that a session's rows cannot be read, rather than that the database is in trouble: a
// value that this program does not understand, or one that the database has lost.
func IsUnloadable(err error) bool {
	if _, ok := errors.AsType[pgx.ScanArgError](err); ok {
		return true
	}

	code := stateOf(err)

	return slices.ContainsFunc([]string{"22", "54", "XX"}, func(class string) bool { return strings.HasPrefix(code, class) })
}

// load reads sessions in one round trip, without the requests, responses and thinking of LLM calls: planning needs only their
// number and kind.
func (db *DB) load(ctx context.Context, ids []string) (map[string]*progress.State, error) {
	states := make(map[string]*progress.State, len(ids))

	var batch pgx.Batch

	queueLoad(&batch, `SELECT `+sessionRowColumns.List()+` FROM sessions WHERE id = ANY($1)`, ids, func(r sessionRow) {
		states[r.ID] = &progress.State{Session: r.Session, LastSeq: r.LastSeq}
	})
	queueLoad(&batch, stagesTable.SelectWhere(`session_id = ANY($1) ORDER BY stage_index`), ids, func(r tarsy.Stage) {
		states[r.SessionID].Stages = append(states[r.SessionID].Stages, r)
	})
	queueLoad(&batch, executionsTable.SelectWhere(`session_id = ANY($1) ORDER BY stage_id, agent_index`), ids, func(r tarsy.Execution) {
		states[r.SessionID].Executions = append(states[r.SessionID].Executions, r)
	})
	queueLoad(&batch, TimelineTable.SelectWhere(`session_id = ANY($1) ORDER BY sequence_number`), ids, func(r tarsy.TimelineEvent) {
		states[r.SessionID].Timeline = append(states[r.SessionID].Timeline, r)
	})
	queueLoad(&batch, messagesTable.SelectWhere(`session_id = ANY($1) ORDER BY execution_id, sequence_number`), ids, func(r tarsy.Message) {
		states[r.SessionID].Messages = append(states[r.SessionID].Messages, r)
	})
	queueLoad(&batch, loadLLMInteractionsSQL, ids, func(r tarsy.LLMInteraction) {
		states[r.SessionID].LLMInteractions = append(states[r.SessionID].LLMInteractions, r)
	})
	queueLoad(&batch, mcpInteractionsTable.SelectWhere(`session_id = ANY($1) ORDER BY created_at, id`), ids, func(r tarsy.MCPInteraction) {
		states[r.SessionID].MCPInteractions = append(states[r.SessionID].MCPInteractions, r)
	})
	queueLoad(&batch, chatsTable.SelectWhere(`session_id = ANY($1)`), ids, func(r tarsy.Chat) {
		states[r.SessionID].Chats = append(states[r.SessionID].Chats, r)
	})
	queueLoad(&batch, chatMessagesTable.SelectWhere(`session_id = ANY($1) ORDER BY created_at, id`), ids, func(r tarsy.ChatUserMessage) {
		states[r.SessionID].ChatMessages = append(states[r.SessionID].ChatMessages, r)
	})
	queueLoad(&batch, requestsTable.SelectWhere(`session_id = ANY($1) AND status = 'open' ORDER BY created_at, id`), ids, func(r tarsy.Request) {
		states[r.SessionID].Requests = append(states[r.SessionID].Requests, r)
	})

	return states, db.work.SendBatch(ctx, &batch).Close()
}

// sessionRow is a session as it is stored, with the number of its last event.
type sessionRow struct {
	tarsy.Session

	LastSeq int64 `json:"last_seq"`
}

var (
	sessionRowColumns = ColumnsOf[sessionRow]()

	loadLLMInteractionsSQL = `SELECT ` + llmInteractionsTable.columns.With(map[string]string{
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
