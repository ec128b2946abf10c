package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
)

// tagsOf is an array of the tags of a session, which is given as an expression.
func tagsOf(session string) string {
	return `ARRAY (SELECT t.tag FROM session_tags t WHERE t.session_id = ` + session + ` ORDER BY t.key)`
}

var (
	handlingColumns = ColumnsOf[tarsy.Handling]()
	// storedHandling are the columns of session_handling: tags are rows of session_tags.
	storedHandling = slices.DeleteFunc(ColumnsOf[tarsy.Handling](), func(c string) bool { return c == "tags" })

	handlingSQL = `SELECT ` + handlingColumns.With(map[string]string{"tags": tagsOf("session_handling.session_id")}) + ` FROM session_handling WHERE session_id = $1`

	// handlingItemSQL reads the handling of session s for a list; it is null if there is none.
	handlingItemSQL = `
SELECT to_jsonb(h) || jsonb_build_object('tags', to_jsonb(` + tagsOf("s.id") + `))
FROM (SELECT ` + storedHandling.List() + ` FROM session_handling WHERE session_id = s.id) AS h`
)

const (
	// lockHandledSQL runs first: the end of a session locks its row and then that of the list, so a change of its handling does the same.
	lockHandledSQL = `SELECT last_seq AS version FROM sessions WHERE id = $1 AND deleted_at IS NULL FOR KEY SHARE`

	// openHandlingSQL makes sure that there is a row to lock. It is rolled back if nothing changes.
	openHandlingSQL = `
INSERT INTO session_handling (session_id, state, assignee, acknowledged_by, resolved_by, resolution, version, updated_at, updated_by)
VALUES ($1, 'open', '', '', '', '', 1, $2, '') ON CONFLICT (session_id) DO NOTHING`

	lockHandlingSQL = `SELECT session_id FROM session_handling WHERE session_id = $1 FOR UPDATE`

	putHandlingSQL = `
UPDATE session_handling SET state = $2, assignee = $3, acknowledged_by = $4, acknowledged_at = $5, resolved_by = $6, resolved_at = $7,
    resolution = $8, version = $9, updated_at = $10, updated_by = $11, assignee_id = $12
WHERE session_id = $1`

	removeTagsSQL  = `DELETE FROM session_tags WHERE session_id = $1 AND (key, tag) NOT IN (SELECT k, t FROM unnest($2::text[], $3::text[]) AS u (k, t))`
	addTagsSQL     = `INSERT INTO session_tags (session_id, key, tag) SELECT $1, k, t FROM unnest($2::text[], $3::text[]) AS u (k, t) ON CONFLICT (session_id, key) DO NOTHING`
	listHandledSQL = `UPDATE session_list SET handling = $2, assignee = $3, assignee_id = $4 WHERE session_id = $1 AND (handling, assignee, assignee_id) IS DISTINCT FROM ($2, $3, $4)`

	// A trigger clears an identity that stays while the name changes, as it does when the previous release writes. These restore the
	// identity of a person whose name has changed.
	keepAssigneeSQL     = `UPDATE session_handling SET assignee_id = $2 WHERE session_id = $1`
	listKeptAssigneeSQL = `UPDATE session_list SET assignee_id = $2 WHERE session_id = $1`
)

// Handling returns the handling of a session.
func (db *DB) Handling(ctx context.Context, sessionID string) (tarsy.Handling, error) {
	if _, err := db.RequestTarget(ctx, sessionID); err != nil {
		return tarsy.Handling{}, err
	}

	found, err := Collect[tarsy.Handling](ctx, db.readers, handlingSQL, sessionID)

	switch {
	case err != nil:
		return tarsy.Handling{}, fmt.Errorf("read handling: %w", err)
	case len(found) == 0:
		return tarsy.NewHandling(sessionID), nil
	}

	return found[0], nil
}

// ChangeHandling changes the handling of a session. Concurrent changes of one session are serialized: change gets the handling as
// it is then, and returns the new one. If the version stays the same, nothing is written and nobody is notified. If there is no
// error, the change is durable and readers have been notified.
func (db *DB) ChangeHandling(
	ctx context.Context, sessionID string, change func(tarsy.Handling) (tarsy.Handling, error),
) (before, after tarsy.Handling, err error) {
	if !ident.Valid(sessionID) {
		return before, after, SessionNotFound(sessionID)
	}

	var version int64

	err = audit.Change(ctx, db.front, func(tx pgx.Tx) error {
		var created bool

		version, created, err = db.lockHandling(ctx, tx, sessionID)
		if err != nil {
			return err
		}

		before, err = readHandling(ctx, tx, sessionID)
		if err != nil {
			return err
		}

		if created {
			before = tarsy.NewHandling(sessionID)
		}

		after, err = change(before)

		switch {
		case err != nil:
			return err
		case after.Version == before.Version:
			return audit.ErrUnchanged
		}

		return putHandling(ctx, tx, before, after)
	})

	if err != nil {
		return before, after, fmt.Errorf("change handling: %w", err)
	}

	if after.Version != before.Version {
		db.Touch(sessionID, version)
	}

	return before, after, nil
}

// lockHandling locks the row of a handling, creating it if there is none, and returns the number of the session's last event.
func (db *DB) lockHandling(ctx context.Context, tx pgx.Tx, sessionID string) (version int64, created bool, err error) {
	err = tx.QueryRow(ctx, lockHandledSQL, sessionID).Scan(&version)

	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, false, SessionNotFound(sessionID)
	case err != nil:
		return 0, false, err
	}

	tag, err := tx.Exec(ctx, openHandlingSQL, sessionID, db.clock.Now())
	if err != nil {
		return 0, false, err
	}

	_, err = tx.Exec(ctx, lockHandlingSQL, sessionID)

	return version, tag.RowsAffected() > 0, err
}

// readHandling reads a locked handling.
func readHandling(ctx context.Context, tx pgx.Tx, sessionID string) (tarsy.Handling, error) {
	rows, err := tx.Query(ctx, handlingSQL, sessionID)
	if err != nil {
		return tarsy.Handling{}, err
	}

	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[tarsy.Handling])
}

func putHandling(ctx context.Context, tx pgx.Tx, before, h tarsy.Handling) error {
	keys := make([]string, len(h.Tags))
	for i, tag := range h.Tags {
		keys[i] = tarsy.TagKey(tag)
	}

	var batch pgx.Batch

	batch.Queue(putHandlingSQL, h.SessionID, h.State, h.Assignee, h.AcknowledgedBy, h.AcknowledgedAt, h.ResolvedBy, h.ResolvedAt, h.Resolution,
		h.Version, h.UpdatedAt, h.UpdatedBy, h.AssigneeID)
	batch.Queue(removeTagsSQL, h.SessionID, keys, h.Tags)
	batch.Queue(addTagsSQL, h.SessionID, keys, h.Tags)
	batch.Queue(listHandledSQL, h.SessionID, h.State, h.Assignee, h.AssigneeID)

	if h.AssigneeID != "" && h.AssigneeID == before.AssigneeID && h.Assignee != before.Assignee {
		batch.Queue(keepAssigneeSQL, h.SessionID, h.AssigneeID)
		batch.Queue(listKeptAssigneeSQL, h.SessionID, h.AssigneeID)
	}

	return tx.SendBatch(ctx, &batch).Close()
}

// tagsSQL finds the distinct tags of sessions, each as it was first written, by skipping from key to key in the index. Tags of
// deleted sessions are included until the sessions are purged.
const tagsSQL = `
WITH RECURSIVE found AS (
    (SELECT key, tag FROM session_tags ORDER BY key, session_id LIMIT 1)
    UNION ALL
    SELECT n.key, n.tag FROM found f CROSS JOIN LATERAL (
        SELECT t.key, t.tag FROM session_tags t WHERE t.key > f.key ORDER BY t.key, t.session_id LIMIT 1) AS n
)
SELECT tag FROM found`

// addTags restricts a list to sessions with all of these tags.
func (q *listQuery) addTags(tags []string) {
	for i, tag := range tags {
		name := "tag" + strconv.Itoa(i)
		q.where = append(q.where, "EXISTS (SELECT FROM session_tags t WHERE t.session_id = l.session_id AND t.key = @"+name+")")
		q.args[name] = tarsy.TagKey(tag)
	}
}

// addAssignee restricts a list to sessions assigned to an identity, including those that have its name and no identity. Each
// condition has its own index.
func (q *listQuery) addAssignee(f tarsy.SessionFilter) {
	if f.AssigneeID == "" {
		return
	}

	q.either = []string{
		"l.assignee_id = @assignee_id AND l.assignee_id <> ''",
		"l.assignee = @assignee AND l.assignee <> '' AND l.assignee_id = ''",
	}
	q.args["assignee"], q.args["assignee_id"] = f.Assignee, f.AssigneeID
}

// splitGroups splits the groups of a list by handling state, because sessions of several states are not in the order of an index.
func (q *listQuery) splitGroups(states []tarsy.HandlingState) {
	if len(states) == 0 {
		return
	}

	groups := make([]listGroup, 0, len(q.groups)*len(states))

	for _, group := range q.groups {
		for _, state := range states {
			group.handling = state
			groups = append(groups, group)
		}
	}

	q.groups = groups
}
