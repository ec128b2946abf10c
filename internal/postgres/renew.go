package postgres

import (
	"context"
	"fmt"
	"time"
)

// Renewal is what a renewal found of one lease.
type Renewal struct {
	SessionID string
	// Requested tells that a request is open.
	Requested bool
	// Resolved tells that the session's alert was resolved while the session ran, and does not fire again. Only RenewWithAlerts
	// looks for it.
	Resolved bool
}

// resolvedSQL finds out whether the alert of session s is resolved. What was resolved before the session began does not count:
// the agents would have nothing to conclude from.
const resolvedSQL = `EXISTS (SELECT FROM session_alerts a WHERE a.session_id = s.id AND NOT a.firing AND a.resolved_at >= s.started_at)`

// Renew prolongs leases by fence, also those past their time that nobody took. Leases that are missing from the
// answer are lost. A renewal that was slow in flight shortens none that was made meanwhile.
func (db *DB) Renew(ctx context.Context, leases []Lease, until time.Time) ([]Renewal, error) {
	return db.renew(ctx, leases, until, "false")
}

// RenewWithAlerts is Renew, and reads the state of the sessions' alerts too.
func (db *DB) RenewWithAlerts(ctx context.Context, leases []Lease, until time.Time) ([]Renewal, error) {
	return db.renew(ctx, leases, until, resolvedSQL)
}

func (db *DB) renew(ctx context.Context, leases []Lease, until time.Time, resolved string) ([]Renewal, error) {
	ids, fences := make([]string, len(leases)), make([]int64, len(leases))
	for i, l := range leases {
		ids[i], fences[i] = l.SessionID, l.Fence
	}

	renewed, err := collect[Renewal](ctx, db.work, `
WITH held AS (
    SELECT s.id FROM sessions s
    JOIN unnest($1::uuid[], $2::bigint[]) AS w (id, fence) ON w.id = s.id AND w.fence = s.fence
    WHERE s.lease_until IS NOT NULL
    ORDER BY s.id
    FOR UPDATE OF s
)
UPDATE sessions s SET lease_until = greatest(s.lease_until, $3) FROM held h WHERE s.id = h.id
RETURNING s.id AS session_id, s.open_requests > 0 AS requested, `+resolved+` AS resolved`, ids, fences, until)
	if err != nil {
		return nil, fmt.Errorf("renew leases: %w", err)
	}

	return renewed, nil
}
