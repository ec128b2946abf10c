package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
)

// The statements of a request follow a lock of the session's row in their own transaction, as those of a release do: no request
// is left unhandled, and what else they read cannot change in between.
const (
	lockSessionSQL = `SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE`

	asking    = `EXISTS (SELECT 1 FROM requests q WHERE q.session_id = s.id AND q.status = 'open' AND q.kind = 'chat')`
	answering = `EXISTS (SELECT 1 FROM stages t WHERE t.session_id = s.id AND t.stage_type = 'chat' AND t.status IN ('pending', 'active'))`

	// addCancelSQL adds one request, however often it is called. What is cancelled is the investigation, or the answer to a question.
	addCancelSQL = `
WITH running AS (
    SELECT s.id FROM sessions s
    WHERE s.id = $2 AND s.deleted_at IS NULL AND (s.status IN ('pending', 'in_progress', 'cancelling') OR ` + asking + ` OR ` + answering + `)
), asked AS (
    UPDATE sessions s SET open_requests = s.open_requests + 1, runnable_at = least(s.runnable_at, $4)
    FROM running WHERE s.id = running.id
      AND NOT EXISTS (SELECT 1 FROM requests q WHERE q.session_id = s.id AND q.status = 'open' AND q.kind = 'cancel')
    RETURNING s.id
), added AS (
    INSERT INTO requests (id, session_id, kind, status, author, created_at)
    SELECT $1, asked.id, 'cancel', 'open', $3, $4 FROM asked
)
SELECT EXISTS (SELECT 1 FROM running), EXISTS (SELECT 1 FROM asked)`

	// addQuestionSQL takes one question at a time, for a finished session. A session has one chat. While any request is open the
	// session takes no question either: a request to cancel the previous answer must not hit the next one.
	addQuestionSQL = `
WITH asked AS (
    UPDATE sessions s SET open_requests = s.open_requests + 1, runnable_at = least(s.runnable_at, $4)
    WHERE s.id = $2 AND s.deleted_at IS NULL AND s.status IN ('completed', 'failed', 'timed_out')
      AND s.open_requests = 0 AND NOT ` + answering + `
    RETURNING s.id
)
INSERT INTO requests (id, session_id, kind, status, author, payload, created_at)
SELECT $1, asked.id, 'chat', 'open', $3,
    coalesce((SELECT jsonb_set($5::jsonb, '{chat_id}', to_jsonb(c.id)) FROM chats c WHERE c.session_id = $2), $5::jsonb), $4
FROM asked
RETURNING payload`
)

// bulkSQL finds the sessions $1 of a bulk cancellation, and which of them need no request: idle sessions, and those whose
// cancellation has already been requested.
const bulkSQL = `
SELECT s.id, NOT (s.status IN ('pending', 'in_progress', 'cancelling') OR ` + asking + ` OR ` + answering + `) AS idle,
    s.status = 'cancelling' OR EXISTS (SELECT 1 FROM requests q WHERE q.session_id = s.id AND q.status = 'open' AND q.kind = 'cancel') AS requested
FROM sessions s WHERE s.id = ANY ($1::uuid[]) AND s.deleted_at IS NULL`

// addCancelsSQL is addCancelSQL for several sessions; $2 are the ids of the requests.
const addCancelsSQL = `
WITH found AS (` + bulkSQL + `
), asked AS (
    UPDATE sessions s SET open_requests = s.open_requests + 1, runnable_at = least(s.runnable_at, $4)
    FROM found f WHERE s.id = f.id AND NOT f.idle AND NOT f.requested
    RETURNING s.id
), added AS (
    INSERT INTO requests (id, session_id, kind, status, author, created_at)
    SELECT r.id, r.session_id, 'cancel', 'open', $3, $4
    FROM unnest($2::uuid[], $1::uuid[]) AS r (id, session_id) JOIN asked ON asked.id = r.session_id
)
SELECT id, idle, requested FROM found`

// addDecisionSQL takes one decision for each call, while the call waits. The session goes to the front of the queue: somebody has
// just worked on it.
var addDecisionSQL = `
WITH asked AS (
    UPDATE sessions s SET open_requests = s.open_requests + 1, runnable_at = least(s.runnable_at, s.created_at)
    FROM mcp_interactions c JOIN approvals a ON a.id = c.id JOIN executions e ON e.id = c.execution_id
    WHERE s.id = $3 AND c.session_id = s.id AND c.id = $6 AND ` + openApproval("$1") + `
    RETURNING s.id
)
INSERT INTO requests (id, session_id, kind, status, author, payload, created_at)
SELECT $2, asked.id, 'approval', 'open', $4, $5, $1 FROM asked
RETURNING id`

// AddCancel requests that what a session is doing be cancelled, by its holder or by the server that claims it for that. Repeated
// requests have no effect. It returns false if the session is doing nothing or does not exist.
func (db *DB) AddCancel(ctx context.Context, r tarsy.Request) (bool, error) {
	var running, added bool

	err := db.request(ctx, r.SessionID, func(batch *pgx.Batch) {
		batch.Queue(addCancelSQL, r.ID, r.SessionID, r.Author, r.CreatedAt).QueryRow(func(row pgx.Row) error { return row.Scan(&running, &added) })
	}, &added)
	if err != nil {
		return false, fmt.Errorf("store request: %w", err)
	}

	if added {
		db.signalRequest(r.SessionID)
	}

	return running, nil
}

// CancelTarget is a session in a bulk cancellation.
type CancelTarget struct {
	ID string
	// Idle sessions have nothing to cancel; the cancellation of Requested ones was requested before.
	Idle, Requested bool
}

// asked reports whether AddCancels adds a request.
func (t CancelTarget) asked() bool { return !t.Idle && !t.Requested }

// CancelTargets returns what AddCancels would find, without changing anything.
func (db *DB) CancelTargets(ctx context.Context, sessionIDs []string) ([]CancelTarget, error) {
	found, err := Collect[CancelTarget](ctx, db.front, bulkSQL, sessionIDs)
	if err != nil {
		return nil, fmt.Errorf("read the targets of requests: %w", err)
	}

	return found, nil
}

// AddCancels is AddCancel for several sessions, in one transaction: it adds a request for each session that is neither idle nor
// requested. They share one row of the audit log.
func (db *DB) AddCancels(ctx context.Context, sessionIDs []string, author string, now time.Time) ([]CancelTarget, error) {
	var (
		found []CancelTarget
		ids   = make([]string, len(sessionIDs))
	)

	for i := range ids {
		ids[i] = ident.New()
	}

	ctx = audit.Each(ctx, "")

	err := audit.Change(ctx, db.front, func(tx pgx.Tx) error {
		var (
			batch pgx.Batch
			added []string
		)

		batch.Queue(`SELECT 1 FROM sessions WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE`, sessionIDs)
		QueueRows(&batch, &found, addCancelsSQL, sessionIDs, ids, author, now)

		if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
			return err
		}

		for _, target := range found {
			if target.asked() {
				added = append(added, target.ID)
			}
		}

		if len(added) == 0 {
			return audit.ErrUnchanged
		}

		audit.Detail(ctx, "requested", strconv.Itoa(len(added)))
		audit.Detail(ctx, "skipped", strconv.Itoa(len(sessionIDs)-len(added)))
		audit.Detail(ctx, "session_ids", strings.Join(added, " "))

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("store requests: %w", err)
	}

	for _, target := range found {
		if target.asked() {
			db.signalRequest(target.ID)
		}
	}

	return found, nil
}

// AddQuestion asks a question about a finished session, and returns it with the id of the session's chat. It returns false if the
// session is not over, is answering another question or does not exist.
func (db *DB) AddQuestion(ctx context.Context, r tarsy.Request, q tarsy.Question) (tarsy.Question, bool, error) {
	payload, err := json.Marshal(q)
	if err != nil {
		return q, false, fmt.Errorf("encode question: %w", err)
	}

	asked := false
	err = db.request(ctx, r.SessionID, func(batch *pgx.Batch) {
		batch.Queue(addQuestionSQL, r.ID, r.SessionID, r.Author, r.CreatedAt, payload).Query(func(rows pgx.Rows) error {
			stored, err := pgx.CollectRows(rows, pgx.RowTo[tarsy.Question])
			if len(stored) > 0 {
				q, asked = stored[0], true
			}

			return err
		})
	}, &asked)
	if err != nil {
		return q, false, fmt.Errorf("store question: %w", err)
	}

	if asked {
		db.signalRequest(r.SessionID)
	}

	return q, asked, nil
}

// AddDecision stores a person's decision about a call; the holder of the session applies it. It returns false if the call does
// not wait for a decision: it was already decided, it has expired, or its session has ended.
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
	}, &added)
	if err != nil {
		return false, fmt.Errorf("store decision: %w", err)
	}

	if added {
		db.signalRequest(r.SessionID)
	}

	return added, nil
}

// request locks the session and then stores a request, unless there turns out to be nothing to add.
func (db *DB) request(ctx context.Context, sessionID string, queue func(*pgx.Batch), added *bool) error {
	return audit.Change(ctx, db.front, func(tx pgx.Tx) error {
		var batch pgx.Batch

		batch.Queue(lockSessionSQL, sessionID)
		queue(&batch)

		if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
			return err
		}

		if !*added {
			return audit.ErrUnchanged
		}

		return nil
	})
}

func (db *DB) signalRequest(sessionID string) {
	db.signals.raise(topicRequests, sessionID)
	db.signals.raise(topicQueue, "")
}

// RequestTarget is what determines whether a session takes a request.
type RequestTarget struct {
	ChainID string
	Status  tarsy.SessionStatus
}

// RequestTarget returns the target of a request. Unlike SessionDetail it never waits behind readers.
func (db *DB) RequestTarget(ctx context.Context, sessionID string) (RequestTarget, error) {
	if !ident.Valid(sessionID) {
		return RequestTarget{}, SessionNotFound(sessionID)
	}

	targets, err := Collect[RequestTarget](ctx, db.front, `SELECT chain_id, status FROM sessions WHERE id = $1 AND deleted_at IS NULL`, sessionID)
	if err != nil {
		return RequestTarget{}, fmt.Errorf("read the target of a request: %w", err)
	}

	if len(targets) == 0 {
		return RequestTarget{}, SessionNotFound(sessionID)
	}

	return targets[0], nil
}

// OpenRequests returns the open requests of a session.
func (db *DB) OpenRequests(ctx context.Context, sessionID string) ([]tarsy.Request, error) {
	requests, err := Collect[tarsy.Request](ctx, db.front,
		requestsTable.SelectWhere(`session_id = $1 AND status = 'open' ORDER BY created_at, id`), sessionID)
	if err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}

	return requests, nil
}
