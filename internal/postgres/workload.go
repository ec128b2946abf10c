package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy"
)

// Workload is the work of all servers together, from one snapshot.
type Workload struct {
	// Pending, InProgress and Cancelling are the numbers of unfinished sessions, by status.
	Pending, InProgress, Cancelling int
	// Waiting is the number of sessions that no server has taken yet, and OldestWaiting when the oldest of them was created; nil
	// if there is none.
	Waiting       int
	OldestWaiting *time.Time
	// WaitingApprovals is the number of tool calls that can be approved or rejected.
	WaitingApprovals int
	// Unnumbered is the number of journal entries that no reader sees yet, because their sequencer has not numbered them.
	Unnumbered int
	// IntakePaused and ClaimingPaused report whether people paused them.
	IntakePaused, ClaimingPaused bool
}

// workloadSQL reads small indexes only: those of running sessions, of waiting sessions and calls, and of entries without a
// number. The oldest waiting session is searched among the unfinished ones, in the order of time: few running ones are older.
var workloadSQL = `
SELECT (SELECT count(*) FROM session_list WHERE status = '') - r.in_progress - r.cancelling AS pending, r.in_progress, r.cancelling,
       (SELECT count(*) FROM sessions s WHERE ` + waitingSQL + ` AND s.runnable_at <= $1) AS waiting,
       (SELECT l.created_at FROM session_list l JOIN sessions s ON s.id = l.session_id
        WHERE l.status = '' AND ` + waitingSQL + ` AND s.runnable_at <= $1 ORDER BY l.created_at LIMIT 1) AS oldest_waiting,
       (` + OpenApprovals("count(*)", "$1") + `) AS waiting_approvals,
       (SELECT count(*) FROM pgjournal_entries WHERE seq IS NULL) AS unnumbered,
       EXISTS (` + pausedSQL(tarsy.PauseIntake, "$1") + `) AS intake_paused, EXISTS (` + pausedSQL(tarsy.PauseClaiming, "$1") + `) AS claiming_paused
FROM (SELECT count(*) FILTER (WHERE o.status = 'in_progress') AS in_progress, count(*) FILTER (WHERE o.status = 'cancelling') AS cancelling
      FROM sessions o WHERE ` + isRunning + ` AND o.deleted_at IS NULL) AS r`

// Workload returns the current workload.
func (db *DB) Workload(ctx context.Context) (Workload, error) {
	found, err := Collect[Workload](ctx, db.front, workloadSQL, db.clock.Now())
	if err != nil {
		return Workload{}, fmt.Errorf("read the workload: %w", err)
	}

	return found[0], nil
}

// PoolStats returns the statistics of the connection pools, by name.
func (db *DB) PoolStats() map[string]*pgxpool.Stat {
	return map[string]*pgxpool.Stat{
		"readers": db.readers.Stat(), "front": db.front.Stat(), "work": db.work.Stat(), "jobs": db.jobs.Stat(), "notes": db.notes.Stat(),
		"alerts": db.alerts.Stat(),
	}
}
