package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

const commitTimeout = 30 * time.Second

// unit is what one transaction writes for one session: the waiting steps of its holder, merged. A row that several of them put is
// written once, in its last version.
type unit struct {
	holder *Holder
	steps  []*queued
	merged progress.State
	// put means that the session's own row is written.
	put       bool
	answered  []tarsy.Request
	events    []tarsy.Event
	announced []tarsy.Announcement
	verdicts  []tarsy.Verdict
	release   bool
	runAt     *time.Time

	lost   bool
	result Committed
}

// takes reports whether a step can be merged: it must be of the same lease, and nothing comes after a release.
func (u *unit) takes(q *queued) bool { return u.holder == q.holder && !u.release }

// checkOwnership rejects rows of another session: the fence would prove nothing for them.
func checkOwnership(step progress.Step, sessionID string) error {
	if slices.Contains([]bool{
		step.Session != nil && step.Session.ID != sessionID,
		foreign(sessionID, step.Stages, func(r tarsy.Stage) string { return r.SessionID }),
		foreign(sessionID, step.Executions, func(r tarsy.Execution) string { return r.SessionID }),
		foreign(sessionID, step.Timeline, func(r tarsy.TimelineEvent) string { return r.SessionID }),
		foreign(sessionID, step.Messages, func(r tarsy.Message) string { return r.SessionID }),
		foreign(sessionID, step.LLMInteractions, func(r tarsy.LLMInteraction) string { return r.SessionID }),
		foreign(sessionID, step.MCPInteractions, func(r tarsy.MCPInteraction) string { return r.SessionID }),
		foreign(sessionID, step.Chats, func(r tarsy.Chat) string { return r.SessionID }),
		foreign(sessionID, step.ChatMessages, func(r tarsy.ChatUserMessage) string { return r.SessionID }),
		foreign(sessionID, step.Verdicts, func(r tarsy.Verdict) string { return r.SessionID }),
		foreign(sessionID, step.Answered, func(r tarsy.Request) string { return r.SessionID }),
		foreign(sessionID, step.Announcements, func(r tarsy.Announcement) string { return r.SessionID }),
	}, true) {
		return fmt.Errorf("%w: it belongs to another session than %s", errBadRow, sessionID)
	}

	return nil
}

func foreign[R any](sessionID string, rows []R, of func(R) string) bool {
	return slices.ContainsFunc(rows, func(r R) bool { return of(r) != sessionID })
}

func (u *unit) add(q *queued) {
	u.steps = append(u.steps, q)
	u.merged.Apply(q.step)
	u.put = u.put || q.step.Session != nil
	u.answered = append(u.answered, q.step.Answered...)
	u.events = append(u.events, q.step.Events...)
	u.announced = append(u.announced, q.step.Announcements...)
	u.verdicts = append(u.verdicts, q.step.Verdicts...)
	u.release, u.runAt = q.step.Release, q.step.RunAt
}

// lockSQL is the first statement of every step: it locks the rows, checks the fences and returns the last numbers of the
// journals. Nobody changes them until the commit. The locks are taken in the order of ids, as by every statement that locks
// several sessions. It only locks, because each version of a session's row costs an entry in most of its indexes: changes are
// written once, by updateSessionsSQL.
const lockSQL = `
SELECT s.id, s.last_seq
FROM sessions s JOIN unnest($1::uuid[], $2::bigint[]) AS w (id, fence) ON w.id = s.id AND w.fence = s.fence
WHERE s.lease_until IS NOT NULL
ORDER BY s.id
FOR UPDATE OF s`

func lockAndNumber(ctx context.Context, conn *pgx.Conn, group []*unit) error {
	ids, fences := make([]string, len(group)), make([]int64, len(group))
	units := make(map[string]*unit, len(group))

	for i, u := range group {
		ids[i], fences[i] = u.holder.SessionID, u.holder.Fence
		units[u.holder.SessionID] = u
		u.lost = true
	}

	var batch pgx.Batch

	batch.Queue("BEGIN")
	batch.Queue(lockSQL, ids, fences).Query(func(rows pgx.Rows) error {
		held, err := pgx.CollectRows(rows, pgx.RowToStructByName[head])
		if err != nil {
			return err
		}

		for _, h := range held {
			u := units[h.ID]
			u.lost = false
			u.result.LastSeq = h.LastSeq + int64(len(u.events))
		}

		return nil
	})

	if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("lock sessions: %w", err)
	}

	return nil
}

const (
	answerRequestsSQL = `
WITH closed AS (
    UPDATE requests q SET status = r.status, closed_at = r.closed_at
    FROM jsonb_populate_recordset(NULL::requests, $1) r WHERE q.id = r.id AND q.status = 'open' AND r.status <> 'open'
    RETURNING q.session_id
), counted AS (SELECT session_id, count(*) AS n FROM closed GROUP BY session_id)
UPDATE sessions s SET open_requests = s.open_requests - c.n FROM counted c WHERE s.id = c.session_id`
	// The index ensures that an end is announced once, without an error: an announcement must never hold up a session.
	announceSQL = `
INSERT INTO announcements (id, session_id, channel, subject, target, due_at, created_at)
SELECT id, session_id, channel, subject, target, due_at, created_at
FROM jsonb_populate_recordset(NULL::announcements, $1) ON CONFLICT DO NOTHING`
	// Payloads are already JSON, so events are passed as columns.
	appendEventsSQL = `
INSERT INTO events (session_id, seq, type, payload, created_at)
SELECT session_id, seq, type, payload, created_at
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::json[], $5::timestamptz[]) AS e (session_id, seq, type, payload, created_at)`
)

// encodedRows are the statements that put the rows of some units. They do not depend on the numbers of the journals, so they are
// built before the sessions are locked: a step may have megabytes, and PostgreSQL ends a transaction that waits for its server
// too long.
type encodedRows struct {
	// records run before the events are appended, changes after.
	records, changes pgx.Batch
}

func encodeRows(units []*unit) (*encodedRows, error) {
	var (
		all       progress.State
		answered  []tarsy.Request
		announced []tarsy.Announcement
		verdicts  []tarsy.Verdict
		encoded   encodedRows
	)

	for _, u := range units {
		all.Stages = append(all.Stages, u.merged.Stages...)
		all.Executions = append(all.Executions, u.merged.Executions...)
		all.Timeline = append(all.Timeline, u.merged.Timeline...)
		all.Messages = append(all.Messages, u.merged.Messages...)
		all.LLMInteractions = append(all.LLMInteractions, u.merged.LLMInteractions...)
		all.MCPInteractions = append(all.MCPInteractions, u.merged.MCPInteractions...)
		all.Chats = append(all.Chats, u.merged.Chats...)
		all.ChatMessages = append(all.ChatMessages, u.merged.ChatMessages...)
		answered = append(answered, u.answered...)
		announced = append(announced, u.announced...)
		verdicts = append(verdicts, u.verdicts...)
	}

	records, changes := &encoded.records, &encoded.changes

	return &encoded, cmp.Or(
		queuePut(records, stagesTable, all.Stages),
		queuePut(records, executionsTable, all.Executions),
		queuePut(records, TimelineTable, all.Timeline),
		queuePut(records, messagesTable, all.Messages),
		queuePut(records, llmInteractionsTable, all.LLMInteractions),
		queuePut(records, mcpInteractionsTable, all.MCPInteractions),
		queuePut(records, approvalsTable, approvalRows(all.MCPInteractions)),
		queuePut(records, chatsTable, all.Chats),
		queuePut(records, chatMessagesTable, all.ChatMessages),
		queuePut(records, VerdictsTable, verdicts),
		queueJSON(changes, answerRequestsSQL, answered),
		queueJSON(changes, announceSQL, announced),
	)
}

// write writes the rows of all units that still hold their session, and commits. rows are those of the whole group.
func write(ctx context.Context, conn *pgx.Conn, group []*unit, rows *encodedRows) error {
	held := slices.DeleteFunc(slices.Clone(group), func(u *unit) bool { return u.lost })

	if len(held) < len(group) {
		var err error
		if rows, err = encodeRows(held); err != nil {
			return err
		}
	}

	var events []tarsy.Event

	for _, u := range held {
		first := u.result.LastSeq - int64(len(u.events)) + 1
		for i, e := range u.events {
			e.SessionID, e.Seq = u.holder.SessionID, first+int64(i)
			events = append(events, e)
		}
	}

	batch := rows.records

	if err := queueEvents(&batch, events); err != nil {
		return err
	}

	batch.QueuedQueries = append(batch.QueuedQueries, rows.changes.QueuedQueries...)

	if err := queueSessions(&batch, held); err != nil {
		return err
	}

	batch.Queue("COMMIT")

	if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("write steps: %w", err)
	}

	return nil
}

// updateSessionsSQL writes everything that a transaction changes in its sessions: the journal's number, the columns that a step
// put, and the lease if it is released. The rows are locked, so no request can slip in before that.
var updateSessionsSQL = `
UPDATE sessions s SET last_seq = w.last_seq, (` + sessionsTable.changes.List() + `) = ROW (` + sessionsTable.changes.either("w.status IS NULL", "s", "w") + `),
    lease_until = CASE WHEN ` + released + ` THEN NULL ELSE s.lease_until END,
    lease_counted = s.lease_counted OR ` + released + `,
    runnable_at = CASE WHEN ` + released + ` THEN w.runnable_at ELSE s.runnable_at END
FROM jsonb_populate_recordset(NULL::sessions, $1) w
WHERE s.id = ANY ($2) AND s.id = w.id
RETURNING s.id, s.lease_until IS NULL AS released`

const released = `(s.id = ANY ($3) AND s.open_requests = 0)`

func queueSessions(batch *pgx.Batch, held []*unit) error {
	if len(held) == 0 {
		return nil
	}

	var (
		rows  []map[string]any
		ids   []string
		leave = []string{}
		units = make(map[string]*unit, len(held))
	)

	for _, u := range held {
		id := u.holder.SessionID
		row := map[string]any{"id": id, "last_seq": u.result.LastSeq}
		units[id], ids = u, append(ids, id)

		if u.put {
			sessionsTable.copy(row, u.merged.Session, sessionsTable.changes)
		}

		if u.release {
			leave = append(leave, id)
			row["runnable_at"] = u.runAt
		}

		rows = append(rows, row)
	}

	raw, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadRow, err)
	}

	batch.Queue(updateSessionsSQL, raw, ids, leave).Query(func(rows pgx.Rows) error {
		var (
			id       string
			released bool
		)

		_, err := pgx.ForEachRow(rows, []any{&id, &released}, func() error {
			units[id].result.Released = released

			return nil
		})

		return err
	})

	return nil
}

func queueEvents(batch *pgx.Batch, events []tarsy.Event) error {
	if len(events) == 0 {
		return nil
	}

	columns, err := eventColumns(events)
	if err == nil {
		batch.Queue(appendEventsSQL, columns...)
	}

	return err
}

// eventColumns converts events to arrays of session_id, seq, type, payload and created_at.
func eventColumns(events []tarsy.Event) ([]any, error) {
	ids, seqs, types := make([]string, len(events)), make([]int64, len(events)), make([]string, len(events))
	payloads, times := make([][]byte, len(events)), make([]time.Time, len(events))

	for i, e := range events {
		if !json.Valid(e.Payload) {
			return nil, fmt.Errorf("%w: the payload of an event is not JSON", errBadRow)
		}

		ids[i], seqs[i], types[i], payloads[i], times[i] = e.SessionID, e.Seq, e.Type, e.Payload, e.CreatedAt
	}

	return []any{ids, seqs, types, payloads, times}, nil
}

// putSQL returns the statement that puts whole rows by id, from JSON keyed by column. Columns that are not named get their
// defaults in new rows, and keep their values in others.
func putSQL(table string, known, changes Columns) string {
	sql := "INSERT INTO " + table + " (" + known.List() + ") SELECT " + known.List() + " FROM jsonb_populate_recordset(NULL::" + table + ", $1)"

	if len(changes) == 0 {
		return sql
	}

	return sql + " ON CONFLICT (id) DO UPDATE SET (" + changes.List() + ") = ROW (" + changes.Of("excluded") + ")"
}

func queuePut[R any](batch *pgx.Batch, t table[R], rows []R) error {
	return queueJSON(batch, t.put, rows)
}

// queueJSON queues a statement whose parameter is rows encoded as JSON.
func queueJSON[R any](batch *pgx.Batch, sql string, rows []R) error {
	if len(rows) == 0 {
		return nil
	}

	raw, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadRow, err)
	}

	// A []byte, because a json.RawMessage would be decoded and encoded once more.
	batch.Queue(sql, raw)

	return nil
}
