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

// approvalsSQL reads the statement from the message that contains the call.
const approvalsSQL = `
SELECT c.id, c.session_id, c.execution_id, c.timeline_event_id, s.alert_type, s.title, s.severity, s.team, e.agent_name,
    coalesce(t.metadata ->> 'call', '') AS call, c.server_name, c.tool_name, c.tool_arguments,
    coalesce((SELECT CASE WHEN length(m.content) > 2000 THEN left(m.content, 1999) || '…' ELSE m.content END FROM messages m
        WHERE m.execution_id = c.execution_id AND m.role = 'assistant' AND m.tool_calls @> jsonb_build_array(jsonb_build_object('id', c.tool_call_id))
        ORDER BY m.sequence_number LIMIT 1), '') AS statement, a.approval, c.created_at
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

// DecidedApprovals returns a page of the visible approvals that no longer wait, the last request first. If sessionID is not empty, it
// returns only those of that session; if after is not empty, only those requested before that approval. IDs sort by time.
func (db *DB) DecidedApprovals(ctx context.Context, sessionID, after string, limit int, visible tarsy.Visibility) ([]tarsy.ApprovalRequest, error) {
	approvals, err := Collect[tarsy.ApprovalRequest](ctx, db.readers, approvalsSQL+` WHERE a.approval ->> 'status' <> 'waiting' AND s.deleted_at IS NULL
  AND ($1 = '' OR a.session_id = nullif($1, '')::uuid) AND ($2 = '' OR a.id < nullif($2, '')::uuid) AND `+visibleSQL("s", "$4")+`
ORDER BY a.id DESC LIMIT $3`, sessionID, after, limit, visible.Values())
	if err != nil {
		return nil, fmt.Errorf("list decided approvals: %w", err)
	}

	return approvals, nil
}

// EarlierDecisions returns what people decided about earlier calls of the same tool in visible sessions; nil if nothing. It reads the last
// requests by their primary keys: no index leads from a tool to its approvals.
func (db *DB) EarlierDecisions(ctx context.Context, of tarsy.ApprovalRequest, visible tarsy.Visibility) (*tarsy.EarlierDecisions, error) {
	found, err := Collect[tarsy.EarlierDecisions](ctx, db.readers, `
SELECT count(*) FILTER (WHERE r.approval ->> 'status' = 'approved') AS approved, count(*) FILTER (WHERE r.approval ->> 'status' = 'rejected') AS rejected,
    (array_agg(r.approval ->> 'status' ORDER BY r.id DESC))[1] AS last_status,
    (array_agg(coalesce(r.approval ->> 'decided_by', '') ORDER BY r.id DESC))[1] AS last_by,
    (array_agg((r.approval ->> 'decided_at')::timestamptz ORDER BY r.id DESC))[1] AS last_at
FROM (SELECT a.id, a.approval FROM approvals a WHERE a.id < $5 ORDER BY a.id DESC LIMIT $1) r JOIN mcp_interactions c ON c.id = r.id JOIN sessions s ON s.id = c.session_id
WHERE r.approval ->> 'status' IN ('approved', 'rejected') AND c.server_name = $2 AND c.tool_name = $3 AND s.deleted_at IS NULL AND `+visibleSQL("s", "$4")+`
HAVING count(*) > 0`, tarsy.RecentApprovals, of.ServerName, of.ToolName, visible.Values(), of.ID)
	if err != nil {
		return nil, fmt.Errorf("count earlier decisions: %w", err)
	}

	if len(found) == 0 {
		return nil, nil //nolint:nilnil // no decisions are an answer
	}

	found[0].LastAt = found[0].LastAt.UTC()

	return &found[0], nil
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
