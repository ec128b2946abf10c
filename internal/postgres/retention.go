package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
)

// Besides the step commit, only this file and purge.go write sessions after intake, apart from their queue and request columns:
// it drops journals and marks sessions as deleted. It touches no session that is held or may be about to be, and locks each row
// first: a claim skips locked rows, so it takes such a session the next time it looks.
const (
	// idle is the condition that a session is over and nothing is pending for it.
	idle = `s.completed_at IS NOT NULL AND s.lease_until IS NULL AND s.runnable_at IS NULL AND s.open_requests = 0`

	// quiet is the condition that a session is idle and nobody has used it since $1: later questions count.
	quiet = idle + ` AND s.completed_at < $1 AND coalesce(s.last_interaction_at, s.completed_at) < $1`

	// lockForTrimSQL runs before trimSQL and not within: an event that was committed after a statement began is counted by the
	// locked row but not seen by the statement.
	lockForTrimSQL = `
SELECT s.id, s.fence, s.last_seq, s.last_seq - s.trimmed_seq AS events FROM sessions s
WHERE s.trimmed_fence < s.fence AND ` + quiet + `
ORDER BY s.completed_at, s.id LIMIT $2
FOR UPDATE OF s SKIP LOCKED`

	trimSQL = `
WITH trimmed AS (
    UPDATE sessions s SET trimmed_seq = t.last_seq, trimmed_fence = t.fence
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS t (id, last_seq, fence) WHERE s.id = t.id
)
DELETE FROM events e USING unnest($1::uuid[], $2::bigint[]) AS t (id, last_seq) WHERE e.session_id = t.id AND e.seq <= t.last_seq`

	// expireSQL marks up to $2 sessions as deleted.
	expireSQL = `
WITH locked AS (
    SELECT s.id FROM sessions s
    WHERE s.deleted_at IS NULL AND ` + quiet + `
    ORDER BY s.completed_at, s.id LIMIT $2
    FOR UPDATE OF s SKIP LOCKED
)
UPDATE sessions s SET deleted_at = $3 FROM locked l WHERE s.id = l.id
RETURNING s.id AS session_id, s.last_seq AS version`

	lockForDeletionSQL = `SELECT s.status, s.last_seq, ` + idle + ` AS idle FROM sessions s WHERE s.id = $1 AND s.deleted_at IS NULL FOR UPDATE`
	deleteSQL          = `UPDATE sessions SET deleted_at = $2 WHERE id = $1`
)

// Batch bounds one transaction of the clean-up: the number of sessions, and the number of events of all of them but the last.
type Batch struct {
	Sessions int
	Events   int
}

// Swept is the result of one batch. More means that another batch may find more; sessions that are locked at the moment are left
// for the next time.
type Swept struct {
	Sessions int
	Events   int
	Recipes  int
	More     bool
}

// TrimJournals drops, in one transaction, the journals of sessions that have been over and quiet since before a time. In the last
// batch, last runs in the same transaction.
func (db *DB) TrimJournals(ctx context.Context, before time.Time, batch Batch, last func(pgx.Tx) error) (Swept, error) {
	var swept Swept

	err := pgx.BeginFunc(ctx, db.jobs, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, lockForTrimSQL, before, batch.Sessions)
		if err != nil {
			return err
		}

		found, err := pgx.CollectRows(rows, pgx.RowToStructByName[trimmable])
		if err != nil {
			return err
		}

		chosen := within(found, batch.Events)
		if swept, err = trim(ctx, tx, chosen); err != nil {
			return err
		}

		if swept.More = len(found) == batch.Sessions || len(chosen) < len(found); swept.More {
			return nil
		}

		return last(tx)
	})
	if err != nil {
		return Swept{}, fmt.Errorf("trim journals: %w", err)
	}

	return swept, nil
}

// trimmable is a session whose journal can be dropped.
type trimmable struct {
	ID      string
	Fence   int64
	LastSeq int64
	Events  int64
}

// within returns the first sessions, as many as it takes to reach the number of events.
func within(found []trimmable, events int) []trimmable {
	left := int64(events)

	for i, t := range found {
		if left <= 0 {
			return found[:i]
		}

		left -= t.Events
	}

	return found
}

func trim(ctx context.Context, tx pgx.Tx, chosen []trimmable) (Swept, error) {
	if len(chosen) == 0 {
		return Swept{}, nil
	}

	ids, seqs, fences := make([]string, len(chosen)), make([]int64, len(chosen)), make([]int64, len(chosen))
	for i, t := range chosen {
		ids[i], seqs[i], fences[i] = t.ID, t.LastSeq, t.Fence
	}

	dropped, err := tx.Exec(ctx, trimSQL, ids, seqs, fences)

	return Swept{Sessions: len(chosen), Events: int(dropped.RowsAffected())}, err
}

// ExpireSessions marks, in one transaction, sessions as deleted that have been over and quiet since before a time. In the last
// batch, last runs in the same transaction.
func (db *DB) ExpireSessions(ctx context.Context, before time.Time, batch Batch, last func(pgx.Tx) error) (Swept, error) {
	var changes []Change

	err := pgx.BeginFunc(ctx, db.jobs, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, expireSQL, before, batch.Sessions, db.clock.Now())
		if err != nil {
			return err
		}

		changes, err = pgx.CollectRows(rows, pgx.RowToStructByName[Change])
		if err != nil || len(changes) == batch.Sessions {
			return err
		}

		return last(tx)
	})
	if err != nil {
		return Swept{}, fmt.Errorf("expire sessions: %w", err)
	}

	for _, c := range changes {
		db.signals.moved(c.SessionID, c.Version)
	}

	return Swept{Sessions: len(changes), More: len(changes) == batch.Sessions}, nil
}

// DeleteSession marks a session as deleted on request. If the session is not over or is answering a question, the error is a
// *tarsy.Error with CodeConflict.
func (db *DB) DeleteSession(ctx context.Context, id string) error {
	if !ident.Valid(id) {
		return SessionNotFound(id)
	}

	var version int64

	err := audit.Change(ctx, db.front, func(tx pgx.Tx) error {
		var (
			status tarsy.SessionStatus
			free   bool
		)

		err := tx.QueryRow(ctx, lockForDeletionSQL, id).Scan(&status, &version, &free)

		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return SessionNotFound(id)
		case err != nil:
			return fmt.Errorf("lock session: %w", err)
		case !status.Terminal():
			return tarsy.Errorf(tarsy.CodeConflict, "the session is %s: cancel it or wait until it is over, then delete it", status)
		case !free:
			return tarsy.Errorf(tarsy.CodeConflict, "the session is answering a question: cancel the answer or wait for it to finish, then delete the session")
		}

		if _, err := tx.Exec(ctx, deleteSQL, id, db.clock.Now()); err != nil {
			return fmt.Errorf("mark session: %w", err)
		}

		return nil
	})
	if err != nil {
		return err
	}

	// Lists notice it as any change: they load the session again and find none.
	db.signals.moved(id, version)

	return nil
}
