package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

var (
	activeSQL = itemSQL("$2") + `
FROM sessions o JOIN sessions s ON s.id = o.id` + itemJoin + `
WHERE ` + isRunning + ` AND o.deleted_at IS NULL AND ` + visibleSQL("o", "$3") + ` ORDER BY o.created_at DESC, o.id DESC LIMIT $1`
	// queuedSQL lists claimed sessions that have not started first, then the others in queue order, from the index of the queue.
	queuedSQL = itemSQL("$2") + `
FROM (
    SELECT id, 0 AS place, runnable_at FROM sessions WHERE lease_until IS NOT NULL AND status = 'pending' AND deleted_at IS NULL AND ` + visibleSQL("sessions", "$3") + `
    UNION ALL
    (SELECT id, 1 AS place, runnable_at FROM sessions
     WHERE runnable_at IS NOT NULL AND lease_until IS NULL AND completed_at IS NULL AND status = 'pending' AND deleted_at IS NULL AND ` + visibleSQL("sessions", "$3") + `
     ORDER BY runnable_at, id LIMIT $1)
) AS q JOIN sessions s ON s.id = q.id` + itemJoin + ` ORDER BY q.place, q.runnable_at, q.id LIMIT $1`
	openTotalsSQL = `
SELECT running AS active_total, (SELECT count(*) FROM session_list l WHERE status = '' AND ` + visibleSQL("l", "$1") + `) - running AS queued_total
FROM (SELECT count(*) AS running FROM sessions o WHERE ` + isRunning + ` AND o.deleted_at IS NULL AND ` + visibleSQL("o", "$1") + `) AS r`
)

// visibleSQL is the condition that the team of a row is in the array of a parameter, or that the parameter is null.
func visibleSQL(table, parameter string) string {
	return "(" + parameter + "::text[] IS NULL OR " + table + ".team = ANY (" + parameter + "))"
}

type openTotals struct {
	ActiveTotal int `json:"active_total"`
	QueuedTotal int `json:"queued_total"`
}

// ActiveSessions returns, from one snapshot, up to limit visible sessions under investigation and up to limit waiting ones.
func (db *DB) ActiveSessions(ctx context.Context, visible tarsy.Visibility, limit int) (tarsy.ActiveSessions, error) {
	var (
		found  tarsy.ActiveSessions
		totals []openTotals
		now    = db.clock.Now()
		teams  = visible.Values()
	)

	err := InSnapshot(ctx, db.readers, func(tx pgx.Tx) error {
		var batch pgx.Batch

		QueueRows(&batch, &found.Active, activeSQL, limit, now, teams)
		QueueRows(&batch, &found.Queued, queuedSQL, limit, now, teams)
		QueueRows(&batch, &totals, openTotalsSQL, teams)

		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return tarsy.ActiveSessions{}, fmt.Errorf("list active sessions: %w", err)
	}

	found.ActiveTotal, found.QueuedTotal = totals[0].ActiveTotal, totals[0].QueuedTotal

	return found, nil
}
