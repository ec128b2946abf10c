package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// Group is a group of alerts.
type Group struct {
	Key string `json:"key"`
	// Created is how many sessions were created for alerts of the group since WindowStart.
	Created     int       `json:"created"`
	WindowStart time.Time `json:"window_start"`
	// StormSessionID is the session of the current storm; nil if there is none.
	StormSessionID *string `json:"storm_session_id"`
	// LastAt is when an alert of the group was last received.
	LastAt time.Time `json:"last_at"`
}

// Alert is the state of the alert of a session.
type Alert struct {
	SessionID   string `json:"session_id"`
	Fingerprint string `json:"fingerprint"`
	GroupKey    string `json:"group_key"`
	tarsy.AlertState

	// Changes are the latest times at which the alert fired again or was resolved.
	Changes []time.Time `json:"changes"`
}

// Investigation is an alert with the relevant columns of its session.
type Investigation struct {
	Alert

	// CompletedAt is nil until the session ends.
	CompletedAt *time.Time
	// Version is the number of the last event in the session's journal.
	Version int64
}

// Kept is a suppressed alert that still fires, or that is a member of a storm.
type Kept struct {
	ID          string
	Reason      tarsy.SuppressionReason
	SessionID   *string
	Fingerprint string
	Firing      bool
}

// Known is the stored state of the alerts of a delivery.
type Known struct {
	Groups []Group
	// Investigations are the last session of each alert, the current storm of each group, and the storms that alerts were
	// members of.
	Investigations []Investigation
	Kept           []Kept
	Silences       []tarsy.Silence
}

var alertColumns = postgres.ColumnsOf[Alert]().List()

var (
	// lockGroupsSQL locks groups in a fixed order, including new ones.
	lockGroupsSQL = `
INSERT INTO alert_groups AS g (key, window_start, last_at)
SELECT key, $2, $2 FROM unnest($1::text[]) AS k (key) ORDER BY key COLLATE "C"
ON CONFLICT (key) DO UPDATE SET key = excluded.key
RETURNING ` + postgres.ColumnsOf[Group]().Of("g")

	// keptSQL finds the storms that each alert was a member of, and the rows of firing alerts, latest first.
	keptSQL = `
SELECT k.id, k.reason, k.session_id, k.fingerprint, k.firing
FROM unnest($1::text[]) AS f (fingerprint) CROSS JOIN LATERAL (
    SELECT s.id, s.reason, s.session_id, s.fingerprint, s.firing, s.last_at FROM suppressed_alerts s
    WHERE s.fingerprint = f.fingerprint AND (s.firing OR s.reason = 'storm')
    ORDER BY s.last_at DESC, s.id DESC LIMIT 8) k`

	// investigationsSQL locks what it finds: alerts of different groups can have the same fingerprint.
	investigationsSQL = `
SELECT ` + postgres.ColumnsOf[Alert]().Of("a") + `, s.completed_at, s.last_seq AS version
FROM session_alerts a JOIN sessions s ON s.id = a.session_id
WHERE s.deleted_at IS NULL AND a.session_id = ANY (ARRAY (
    SELECT l.session_id FROM unnest($1::text[]) AS f (fingerprint) CROSS JOIN LATERAL (
        SELECT x.session_id FROM session_alerts x WHERE x.fingerprint = f.fingerprint ORDER BY x.session_id DESC LIMIT 1) l
    UNION SELECT g.storm_session_id FROM alert_groups g WHERE g.key = ANY ($2::text[]) AND g.storm_session_id IS NOT NULL
    UNION SELECT k.session_id FROM (` + keptSQL + `) k WHERE k.reason = 'storm'))
ORDER BY a.session_id
FOR UPDATE OF a`

	writeAlertsSQL = `
INSERT INTO session_alerts AS a (` + alertColumns + `)
SELECT ` + alertColumns + ` FROM jsonb_populate_recordset(NULL::session_alerts, $1) ORDER BY session_id
ON CONFLICT (session_id) DO UPDATE SET firing = excluded.firing, occurrences = excluded.occurrences, last_at = excluded.last_at,
    times = excluded.times, changes = excluded.changes, resolved_at = excluded.resolved_at, flapping = excluded.flapping,
    members = excluded.members, firing_members = excluded.firing_members`

	writeGroupsSQL = `
UPDATE alert_groups g SET created = n.created, window_start = n.window_start, storm_session_id = n.storm_session_id, last_at = n.last_at
FROM jsonb_populate_recordset(NULL::alert_groups, $1) n WHERE g.key = n.key`
)

// Lock locks the groups of alerts in a fixed order, and returns their stored state. It also removes some groups that had no
// alert since forgetBefore. While intake is paused, the error has CodeIntakePaused; otherwise no pause is acknowledged before
// the transaction ends.
func Lock(ctx context.Context, tx pgx.Tx, groups, fingerprints []string, now, forgetBefore time.Time) (Known, error) {
	var (
		known Known
		batch pgx.Batch
	)

	// Before locking the groups: a delivery that waits for a pause must not block others.
	paused := postgres.QueueIntakeCheck(&batch, now)
	queueRows(&batch, &known.Groups, lockGroupsSQL, groups, now)
	// Each statement sees what was committed while the previous one waited.
	queueRows(&batch, &known.Investigations, investigationsSQL, fingerprints, groups)
	queueRows(&batch, &known.Kept, keptSQL, fingerprints)
	queueRows(&batch, &known.Silences, activeSilencesSQL, now)
	batch.Queue(forgetGroupsSQL, forgetBefore, groups)

	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return Known{}, fmt.Errorf("lock groups of alerts: %w", err)
	}

	return known, paused()
}

// Change is the decision of triage about a delivery, except for the sessions.
type Change struct {
	Groups     []Group
	Alerts     []Alert
	Suppressed []Suppressed
	// Resolved are suppressed alerts that no longer fire, unless they are also in Suppressed.
	Resolved []string
}

// Write stores a change and returns the IDs of its suppressed alerts, in order.
func Write(ctx context.Context, tx pgx.Tx, c Change) ([]string, error) {
	var (
		batch pgx.Batch
		rows  []suppressedKey
	)

	for _, write := range []struct {
		sql   string
		rows  any
		count int
	}{{writeGroupsSQL, c.Groups, len(c.Groups)}, {writeAlertsSQL, c.Alerts, len(c.Alerts)}} {
		if write.count == 0 {
			continue
		}

		raw, err := json.Marshal(write.rows)
		if err != nil {
			return nil, fmt.Errorf("encode rows: %w", err)
		}

		batch.Queue(write.sql, raw)
	}

	if len(c.Resolved) > 0 {
		batch.Queue(`UPDATE suppressed_alerts SET firing = false WHERE id = ANY($1)`, c.Resolved)
	}

	if len(c.Suppressed) > 0 {
		raw, err := json.Marshal(c.Suppressed)
		if err != nil {
			return nil, fmt.Errorf("encode suppressed alerts: %w", err)
		}

		queueRows(&batch, &rows, suppressSQL, raw)
	}

	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("store the results of alerts: %w", err)
	}

	return idsOf(c.Suppressed, rows), nil
}
