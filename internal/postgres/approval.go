package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// maxApprovals bounds the list of approvals: people decide about them one by one.
const maxApprovals = 500

const (
	// openApprovalSQL holds for calls that somebody can decide about at $1. A release that does not know approvals closes executions and
	// leaves their calls as they are.
	openApprovalSQL = `c.status = 'waiting' AND c.approval ->> 'status' = 'waiting' AND (c.approval ->> 'expires_at')::timestamptz > $1
  AND e.completed_at IS NULL AND s.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM requests q WHERE q.status = 'open' AND q.kind = 'approval' AND q.payload ->> 'approval_id' = c.id::text)`

	approvalsSQL = `
SELECT c.id, c.session_id, c.execution_id, c.timeline_event_id, s.alert_type, s.title, s.severity, s.team, e.agent_name,
    coalesce(t.metadata ->> 'call', '') AS call, c.server_name, c.tool_name, c.tool_arguments, c.approval, c.created_at
FROM mcp_interactions c JOIN executions e ON e.id = c.execution_id JOIN sessions s ON s.id = c.session_id
    LEFT JOIN timeline_events t ON t.id = c.timeline_event_id`

	// addDecisionSQL takes one decision for each call, as long as it waits. The session goes to the front of the queue: somebody has
	// just worked on it.
	addDecisionSQL = `
WITH asked AS (
    UPDATE sessions s SET open_requests = s.open_requests + 1, runnable_at = least(s.runnable_at, s.created_at)
    FROM mcp_interactions c JOIN executions e ON e.id = c.execution_id
    WHERE s.id = $3 AND c.session_id = s.id AND c.id = $6 AND ` + openApprovalSQL + `
    RETURNING s.id
)
INSERT INTO requests (id, session_id, kind, status, author, payload, created_at)
SELECT $2, asked.id, 'approval', 'open', $4, $5, $1 FROM asked
RETURNING id`
)

// Approvals returns the approvals that somebody can decide about, the first to expire first, and at most 500. If sessionID is not empty, only
// those of one session.
func (db *DB) Approvals(ctx context.Context, sessionID string) ([]tarsy.ApprovalRequest, error) {
	if sessionID != "" && !tarsy.ValidID(sessionID) {
		return nil, sessionNotFound(sessionID)
	}

	approvals, err := collect[tarsy.ApprovalRequest](ctx, db.readers, approvalsSQL+` WHERE `+openApprovalSQL+`
  AND ($2 = '' OR c.session_id = nullif($2, '')::uuid)
ORDER BY c.approval ->> 'expires_at', c.id LIMIT $3`, db.clock.Now(), sessionID, maxApprovals)
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}

	return approvals, nil
}

// Approval returns one approval, decided or not.
func (db *DB) Approval(ctx context.Context, id string) (tarsy.ApprovalRequest, error) {
	if !tarsy.ValidID(id) {
		return tarsy.ApprovalRequest{}, approvalNotFound(id)
	}

	approvals, err := collect[tarsy.ApprovalRequest](ctx, db.front,
		approvalsSQL+` WHERE c.id = $1 AND c.approval IS NOT NULL AND s.deleted_at IS NULL`, id)
	if err != nil {
		return tarsy.ApprovalRequest{}, fmt.Errorf("read approval: %w", err)
	}

	if len(approvals) == 0 {
		return tarsy.ApprovalRequest{}, approvalNotFound(id)
	}

	return approvals[0], nil
}

// AddDecision stores what a person decided about a call; the holder of the session applies it. It reports false if the call does not wait
// for a decision: it was decided already, its time is over, or its session has ended.
func (db *DB) AddDecision(ctx context.Context, r tarsy.Request, d tarsy.ApprovalDecision) (bool, error) {
	payload, err := json.Marshal(d)
	if err != nil {
		return false, fmt.Errorf("encode decision: %w", err)
	}

	added := false
	err = db.request(ctx, r.SessionID, func(batch *pgx.Batch) {
		batch.Queue(addDecisionSQL, r.CreatedAt, r.ID, r.SessionID, r.Author, payload, d.ApprovalID).Query(func(rows pgx.Rows) error {
			stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
			added = len(stored) > 0

			return err
		})
	})
	if err != nil {
		return false, fmt.Errorf("store decision: %w", err)
	}

	if added {
		db.tellRequest(r.SessionID)
	}

	return added, nil
}

func approvalNotFound(id string) error {
	return tarsy.Errorf(tarsy.CodeApprovalNotFound, "there is no approval %q", tarsy.CleanText(id))
}
