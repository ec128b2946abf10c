package postgres

import (
	"context"
	"fmt"
	"time"
)

// Renewal is the result of renewing one lease.
type Renewal struct {
	SessionID string
	// Requested means that a request is open.
	Requested bool
	// Resolved means that the session's alert was resolved while the session ran, and is not firing again. Only RenewWithAlerts sets it.
	Resolved bool
}

// resolvedSQL is the condition that the alert of session s was resolved. A resolution before the session began does not count:
// the agents would have nothing to conclude from.
const resolvedSQL = `EXISTS (SELECT FROM session_alerts a WHERE a.session_id = s.id AND NOT a.firing AND a.resolved_at >= s.started_at)`

// Renew extends leases by fence, including expired ones that nobody took. Leases that are missing from the result are lost. A
// renewal that was slow in flight does not shorten one that was made since.
func (db *DB) Renew(ctx context.Context, leases []Lease, until time.Time) ([]Renewal, error) {
	return db.renew(ctx, leases, until, "false")
}

// RenewWithAlerts is Renew that also reads the state of the sessions' alerts.
func (db *DB) RenewWithAlerts(ctx context.Context, leases []Lease, until time.Time) ([]Renewal, error) {
	return db.renew(ctx, leases, until, resolvedSQL)
}

func (db *DB) renew(ctx context.Context, leases []Lease, until time.Time, resolved string) ([]Renewal, error) {
	ids, fences := make([]string, len(leases)), make([]int64, len(leases))
	for i, l := range leases {
		ids[i], fences[i] = l.SessionID, l.Fence
	}

	renewed, err := Collect[Renewal](ctx, db.work, `
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
