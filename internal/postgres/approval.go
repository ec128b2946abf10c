package postgres

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxApprovals bounds the list of approvals, which people decide one by one.
const maxApprovals = 500

// approvalRow is the approval of a call. ID is that of the call.
type approvalRow struct {
	ID        string         `json:"id"`
	SessionID string         `json:"session_id"`
	Approval  tarsy.Approval `json:"approval"`
}

// approvalRows returns the approvals of calls.
func approvalRows(calls []tarsy.MCPInteraction) []approvalRow {
	var rows []approvalRow

	for _, c := range calls {
		if c.Approval != nil {
			rows = append(rows, approvalRow{ID: c.ID, SessionID: c.SessionID, Approval: *c.Approval})
		}
	}

	return rows
}

// openApproval is the condition that a call can be decided at a time, given as the name of an argument. It checks the execution
// too, because a release without approvals closes executions and leaves their calls as they are.
func openApproval(now string) string {
	return `c.status = 'waiting' AND a.approval ->> 'status' = 'waiting' AND (a.approval ->> 'expires_at')::timestamptz > ` + now + `
  AND e.completed_at IS NULL AND s.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM requests q WHERE q.status = 'open' AND q.kind = 'approval' AND q.payload ->> 'approval_id' = c.id::text)`
}

// OpenApprovals is a query for calls that can be decided. It reads the index of waiting calls, which are few however many
// sessions there are.
func OpenApprovals(columns, now string) string {
	return `SELECT ` + columns + ` FROM mcp_interactions c JOIN approvals a ON a.id = c.id JOIN executions e ON e.id = c.execution_id JOIN sessions s ON s.id = c.session_id
WHERE ` + openApproval(now)
}

// countApprovals counts the open approvals of the session s.
func countApprovals(now string) string {
	return `(SELECT count(*) FROM mcp_interactions c JOIN approvals a ON a.id = c.id JOIN executions e ON e.id = c.execution_id WHERE c.session_id = s.id AND ` + openApproval(now) + `)`
}

const approvalsSQL = `
SELECT c.id, c.session_id, c.execution_id, c.timeline_event_id, s.alert_type, s.title, s.severity, s.team, e.agent_name,
    coalesce(t.metadata ->> 'call', '') AS call, c.server_name, c.tool_name, c.tool_arguments, a.approval, c.created_at
FROM mcp_interactions c JOIN approvals a ON a.id = c.id JOIN executions e ON e.id = c.execution_id JOIN sessions s ON s.id = c.session_id
    LEFT JOIN timeline_events t ON t.id = c.timeline_event_id`

// Approvals returns the visible open approvals, the first to expire first, and at most 500. If sessionID is not empty, it returns
// only those of that session.
func (db *DB) Approvals(ctx context.Context, sessionID string, visible tarsy.Visibility) ([]tarsy.ApprovalRequest, error) {
	if sessionID != "" && !ident.Valid(sessionID) {
		return nil, SessionNotFound(sessionID)
	}

	approvals, err := Collect[tarsy.ApprovalRequest](ctx, db.readers, approvalsSQL+` WHERE `+openApproval("$1")+`
  AND ($2 = '' OR c.session_id = nullif($2, '')::uuid) AND `+visibleSQL("s", "$4")+`
ORDER BY (a.approval ->> 'expires_at')::timestamptz, c.id LIMIT $3`, db.clock.Now(), sessionID, maxApprovals, visible.Values())
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}

	return approvals, nil
}

// Approval returns one approval, decided or not.
func (db *DB) Approval(ctx context.Context, id string) (tarsy.ApprovalRequest, error) {
	if !ident.Valid(id) {
		return tarsy.ApprovalRequest{}, approvalNotFound(id)
	}

	approvals, err := Collect[tarsy.ApprovalRequest](ctx, db.front,
		approvalsSQL+` WHERE c.id = $1 AND s.deleted_at IS NULL`, id)
	if err != nil {
		return tarsy.ApprovalRequest{}, fmt.Errorf("read approval: %w", err)
	}

	if len(approvals) == 0 {
		return tarsy.ApprovalRequest{}, approvalNotFound(id)
	}

	return approvals[0], nil
}

func approvalNotFound(id string) error {
	return tarsy.Errorf(tarsy.CodeApprovalNotFound, "there is no approval %q", plaintext.Clean(id))
}
