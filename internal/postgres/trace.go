package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// Trace returns a page of a session's interactions, without the texts, from one snapshot.
func (db *DB) Trace(ctx context.Context, sessionID string, query tarsy.TraceQuery) (*tarsy.TracePage, error) {
	if !ident.Valid(sessionID) {
		return nil, SessionNotFound(sessionID)
	}

	var rows traceRows

	err := InSnapshot(ctx, db.readers, func(tx pgx.Tx) error {
		batch := traceBatch(sessionID, &rows.version)
		rows.queue(batch, sessionID, query)

		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}

	next := rows.cut(query.Limit)

	return &tarsy.TracePage{Trace: *rows.trace(sessionID), Next: next}, nil
}

// LLMInteraction returns one LLM call of a session with the conversation that the model saw.
func (db *DB) LLMInteraction(ctx context.Context, sessionID, id string) (*tarsy.LLMInteractionDetail, error) {
	if !ident.Valid(sessionID) {
		return nil, SessionNotFound(sessionID)
	}

	var detail tarsy.LLMInteractionDetail

	err := InSnapshot(ctx, db.readers, func(tx pgx.Tx) error {
		found, err := interaction[tarsy.LLMInteraction](ctx, tx, sessionID, id, llmInteractionsTable.SelectWhere(`id = $1`))
		if err != nil {
			return err
		}

		if len(found) == 0 || found[0].SessionID != sessionID {
			return interactionNotFound("LLM", sessionID, id)
		}

		messages, err := conversation(ctx, tx, found[0])
		detail = found[0].Detail(messages)

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read LLM interaction: %w", err)
	}

	return &detail, nil
}

// conversation returns the messages that a call saw, which are numbered from one without gaps; none if the call carries its own
// request. This is a separate query because, joined to the interaction, a plan made while the tables are small would read all
// messages.
func conversation(ctx context.Context, tx pgx.Tx, call tarsy.LLMInteraction) ([]tarsy.Message, error) {
	if call.ExecutionID == nil || call.LLMRequest != nil {
		return nil, nil
	}

	rows, err := tx.Query(ctx, messagesTable.SelectWhere(`execution_id = $1 AND sequence_number <= $2 ORDER BY sequence_number`),
		*call.ExecutionID, call.MessageCount)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, pgx.RowToStructByName[tarsy.Message])
}

// MCPInteraction returns one MCP call of a session.
func (db *DB) MCPInteraction(ctx context.Context, sessionID, id string) (*tarsy.MCPInteraction, error) {
	if !ident.Valid(sessionID) {
		return nil, SessionNotFound(sessionID)
	}

	var call tarsy.MCPInteraction

	err := InSnapshot(ctx, db.readers, func(tx pgx.Tx) error {
		found, err := interaction[tarsy.MCPInteraction](ctx, tx, sessionID, id, mcpInteractionsTable.SelectWhere(`id = $1`))
		if err != nil {
			return err
		}

		if len(found) == 0 || found[0].SessionID != sessionID {
			return interactionNotFound("MCP", sessionID, id)
		}

		call = found[0]

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read MCP interaction: %w", err)
	}

	if call.AvailableTools == nil {
		call.AvailableTools = []string{}
	}

	return &call, nil
}

// interaction returns the row with an id, if there is one, of any session: by its id alone it is found in one step. It fails if
// the session does not exist.
func interaction[R any](ctx context.Context, tx pgx.Tx, sessionID, id, sql string) ([]R, error) {
	var (
		version int64
		found   []R
	)

	batch := traceBatch(sessionID, &version)

	if ident.Valid(id) {
		QueueRows(batch, &found, sql, id)
	}

	err := tx.SendBatch(ctx, batch).Close()

	return found, err
}

func interactionNotFound(kind, sessionID, id string) error {
	return tarsy.Errorf(tarsy.CodeInteractionNotFound, "session %s has no %s interaction %q", sessionID, kind, id)
}

// traceBatch begins a batch with the session itself: without it nothing else matters.
func traceBatch(sessionID string, version *int64) *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue(`SELECT last_seq FROM sessions WHERE id = $1 AND deleted_at IS NULL`, sessionID).QueryRow(func(row pgx.Row) error {
		err := row.Scan(version)
		if errors.Is(err, pgx.ErrNoRows) {
			return SessionNotFound(sessionID)
		}

		return err
	})

	return batch
}

// traceRows are the rows of a trace before they are assembled.
type traceRows struct {
	version    int64
	stages     []tarsy.Stage
	executions []tarsy.Execution
	llm        []llmRow
	mcp        []mcpRow
	spent      []executionSpend

	interruptions []tarsy.Interruption
}

// queue queues the queries for the rows of a page, and one more of each kind, which shows whether there is more. A limit of zero
// means all.
func (r *traceRows) queue(batch *pgx.Batch, sessionID string, query tarsy.TraceQuery) {
	var (
		at    time.Time
		id    = uuid.Nil.String()
		limit *int
	)

	if query.After != nil {
		at, id = query.After.CreatedAt, query.After.ID
	}

	if query.Limit > 0 {
		limit = new(query.Limit + 1)
	}

	QueueRows(batch, &r.stages, stagesTable.SelectWhere(`session_id = $1 ORDER BY stage_index`), sessionID)
	QueueRows(batch, &r.executions, executionsTable.SelectWhere(`session_id = $1 ORDER BY stage_id, agent_index`), sessionID)
	QueueRows(batch, &r.llm, traceLLMSQL, sessionID, at, id, limit)
	QueueRows(batch, &r.mcp, traceMCPSQL, sessionID, at, id, limit)
	queueSpend(batch, &r.spent, sessionID)
	batch.Queue(`SELECT interruptions FROM sessions WHERE id = $1`, sessionID).QueryRow(func(row pgx.Row) error {
		return row.Scan(&r.interruptions)
	})
}

// cut keeps the first limit interactions of both kinds together, and returns the last of them if there are more.
func (r *traceRows) cut(limit int) *tarsy.TraceCursor {
	if len(r.llm)+len(r.mcp) <= limit {
		return nil
	}

	var (
		last     tarsy.TraceCursor
		llm, mcp int
	)

	for range limit {
		if mcp == len(r.mcp) || llm < len(r.llm) && r.llm[llm].cursor().before(r.mcp[mcp].cursor()) {
			last = r.llm[llm].cursor().TraceCursor
			llm++
		} else {
			last = r.mcp[mcp].cursor().TraceCursor
			mcp++
		}
	}

	r.llm, r.mcp = r.llm[:llm], r.mcp[:mcp]

	return &last
}

// place is the position of an interaction among a session's interactions.
type place struct{ tarsy.TraceCursor }

func (r llmRow) cursor() place { return place{tarsy.TraceCursor{CreatedAt: r.CreatedAt, ID: r.ID}} }

func (r mcpRow) cursor() place { return place{tarsy.TraceCursor{CreatedAt: r.CreatedAt, ID: r.ID}} }

func (p place) before(other place) bool {
	return cmp.Or(p.CreatedAt.Compare(other.CreatedAt), cmp.Compare(p.ID, other.ID)) < 0
}

type llmRow struct {
	tarsy.LLMInteractionItem

	ExecutionID string `json:"execution_id"`
}

type mcpRow struct {
	tarsy.MCPInteractionItem

	ExecutionID string `json:"execution_id"`
}

var (
	traceLLMSQL = `SELECT ` + ColumnsOf[llmRow]().With(map[string]string{"execution_id": "COALESCE(execution_id::text, '')"}) + `
FROM llm_interactions WHERE session_id = $1 AND (created_at, id) > ($2, $3::uuid) ORDER BY created_at, id LIMIT $4`
	traceMCPSQL = `SELECT ` + ColumnsOf[mcpRow]().With(map[string]string{"summarized": "summary <> ''"}) + `
FROM mcp_interactions WHERE session_id = $1 AND (created_at, id) > ($2, $3::uuid) ORDER BY created_at, id LIMIT $4`
)

func (r *traceRows) trace(sessionID string) *tarsy.Trace {
	trace := &tarsy.Trace{
		SessionID: sessionID, Version: r.version, Stages: []tarsy.TraceStage{}, SessionInteractions: []tarsy.LLMInteractionItem{},
		Interruptions: r.interruptions,
	}
	executions := r.traceExecutions()

	for _, row := range r.spent {
		trace.Usage.Add(row.Usage)

		if execution, ok := executions[row.ExecutionID]; ok {
			execution.Usage.Add(row.Usage)
		}
	}

	for _, row := range r.llm {
		if execution, ok := executions[row.ExecutionID]; ok {
			execution.LLMInteractions = append(execution.LLMInteractions, row.LLMInteractionItem)
		} else {
			trace.SessionInteractions = append(trace.SessionInteractions, row.LLMInteractionItem)
		}
	}

	for _, row := range r.mcp {
		if execution, ok := executions[row.ExecutionID]; ok {
			execution.MCPInteractions = append(execution.MCPInteractions, row.MCPInteractionItem)
		}
	}

	for _, s := range r.stages {
		stage := tarsy.TraceStage{
			StageID: s.ID, StageName: s.StageName, StageType: s.StageType, StageIndex: s.StageIndex, Status: s.Status,
			Executions: []tarsy.TraceExecution{},
		}

		for _, e := range r.executions {
			if e.StageID == s.ID {
				stage.Usage.Add(executions[e.ID].Usage)
				stage.Executions = append(stage.Executions, *executions[e.ID])
			}
		}

		trace.Stages = append(trace.Stages, stage)
	}

	return trace
}

// traceExecutions returns the executions by id, without interactions yet.
func (r *traceRows) traceExecutions() map[string]*tarsy.TraceExecution {
	executions := make(map[string]*tarsy.TraceExecution, len(r.executions))

	for _, e := range r.executions {
		executions[e.ID] = &tarsy.TraceExecution{
			ExecutionID: e.ID, AgentName: e.AgentName, AgentIndex: e.AgentIndex, IterationStrategy: e.IterationStrategy,
			LLMProvider: e.LLMProvider, Status: e.Status,
			LLMInteractions: []tarsy.LLMInteractionItem{}, MCPInteractions: []tarsy.MCPInteractionItem{},
		}
	}

	return executions
}
