package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// lockForPurgeSQL selects sessions that were deleted before $1. A deleted session takes no requests, so nobody else needs its
// row; the condition is repeated because a request may have been stored just before the deletion.
const lockForPurgeSQL = `
SELECT s.id FROM sessions s
WHERE s.deleted_at < $1 AND ` + idle + `
ORDER BY s.deleted_at, s.id LIMIT $2
FOR UPDATE OF s SKIP LOCKED`

// purgeSQL removes everything that belongs to a session, the session last. The statements do not rely on cascading
// foreign keys: the journal has none.
var purgeSQL = []string{
	`DELETE FROM events WHERE session_id = ANY($1)`,
	`DELETE FROM announcements WHERE session_id = ANY($1)`,
	`DELETE FROM suppressed_alerts WHERE session_id = ANY($1)`,
	`DELETE FROM session_alerts WHERE session_id = ANY($1)`,
	`DELETE FROM verdicts WHERE session_id = ANY($1)`,
	`DELETE FROM feedback WHERE session_id = ANY($1)`,
	`DELETE FROM session_tags WHERE session_id = ANY($1)`,
	`DELETE FROM session_handling WHERE session_id = ANY($1)`,
	`DELETE FROM session_shares WHERE session_id = ANY($1)`,
	`DELETE FROM requests WHERE session_id = ANY($1)`,
	`DELETE FROM chat_user_messages WHERE session_id = ANY($1)`,
	`DELETE FROM chats WHERE session_id = ANY($1)`,
	`DELETE FROM approvals WHERE session_id = ANY($1)`,
	`DELETE FROM mcp_interactions WHERE session_id = ANY($1)`,
	`DELETE FROM llm_interactions WHERE session_id = ANY($1)`,
	`DELETE FROM messages WHERE session_id = ANY($1)`,
	`DELETE FROM timeline_events WHERE session_id = ANY($1)`,
	`DELETE FROM executions WHERE session_id = ANY($1)`,
	`DELETE FROM stages WHERE session_id = ANY($1)`,
	`DELETE FROM sessions WHERE id = ANY($1)`,
}

const (
	// purgeSuppressedSQL removes old suppressed alerts that are not counted by any session.
	purgeSuppressedSQL = `
DELETE FROM suppressed_alerts WHERE id IN (
    SELECT id FROM suppressed_alerts WHERE last_at < $1 AND session_id IS NULL ORDER BY last_at LIMIT 10000)`

	purgeSilencesSQL = `DELETE FROM silences WHERE ends_at < $1`
)

// PurgeSessions removes, in one transaction, all rows of up to limit sessions that were deleted before a time. The last batch
// also removes recipes that no session follows any more, and suppressed alerts of no session and silences that are as old; last
// runs in the same transaction.
func (db *DB) PurgeSessions(ctx context.Context, before time.Time, limit int, last func(pgx.Tx) error) (Swept, error) {
	var swept Swept

	err := pgx.BeginFunc(ctx, db.jobs, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, lockForPurgeSQL, before, limit)
		if err != nil {
			return err
		}

		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}

		if len(ids) > 0 {
			var batch pgx.Batch
			for _, sql := range purgeSQL {
				batch.Queue(sql, ids)
			}

			if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
				return err
			}
		}

		if swept = (Swept{Sessions: len(ids), More: len(ids) == limit}); swept.More {
			return nil
		}

		for _, sql := range []string{purgeSuppressedSQL, purgeSilencesSQL} {
			if _, err := tx.Exec(ctx, sql, before); err != nil {
				return err
			}
		}

		removed, err := tx.Exec(ctx, removeRecipesSQL, db.clock.Now().Add(-recipeRetention))
		if err != nil {
			return err
		}

		swept.Recipes = int(removed.RowsAffected())

		return last(tx)
	})
	if err != nil {
		return Swept{}, fmt.Errorf("purge sessions: %w", err)
	}

	return swept, nil
}
