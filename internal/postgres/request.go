package postgres

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
)

// requestable are the statuses in which a session takes a kind of request.
func requestable(kind tarsy.RequestKind) []tarsy.SessionStatus {
	switch kind {
	case tarsy.RequestCancel:
		return []tarsy.SessionStatus{tarsy.SessionPending, tarsy.SessionInProgress, tarsy.SessionCancelling}
	case tarsy.RequestChat:
		return []tarsy.SessionStatus{tarsy.SessionCompleted, tarsy.SessionFailed, tarsy.SessionTimedOut}
	}

	return nil
}

// AddRequest asks something of a session's holder, or of whoever claims the session for it. The session's row is
// locked first, as a release does, so that no request is left lying. Asking twice for a cancellation is asking once.
// It reports false if the session is not in a state to take the request, or does not exist.
func (db *DB) AddRequest(ctx context.Context, r tarsy.Request) (bool, error) {
	tag, err := db.pool.Exec(ctx, `
WITH asked AS (
    UPDATE sessions SET open_requests = open_requests + 1, runnable_at = coalesce(runnable_at, $6)
    WHERE id = $2 AND status = ANY($7::text[]) AND deleted_at IS NULL
    RETURNING id
)
INSERT INTO requests (id, session_id, kind, status, author, payload, created_at)
SELECT $1, asked.id, $3, 'open', $4, $5, $6 FROM asked`,
		r.ID, r.SessionID, r.Kind, r.Author, r.Payload, r.CreatedAt, requestable(r.Kind))
	if isUniqueViolation(err, "requests_one_open_cancel") {
		return true, nil
	}

	if err != nil {
		return false, fmt.Errorf("store request: %w", err)
	}

	if tag.RowsAffected() == 0 {
		return false, nil
	}

	db.signals.raise(topicRequests, r.SessionID)
	db.signals.raise(topicQueue, "")

	return true, nil
}

// OpenRequests returns the open requests of a session.
func (db *DB) OpenRequests(ctx context.Context, sessionID string) ([]tarsy.Request, error) {
	requests, err := collect[tarsy.Request](ctx, db.pool,
		`SELECT * FROM requests WHERE session_id = $1 AND status = 'open' ORDER BY created_at, id`, sessionID)
	if err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}

	return requests, nil
}
