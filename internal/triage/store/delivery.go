package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// KeepDeliveries is how long a repeated delivery is recognized. It is documented in docs/api.md.
const KeepDeliveries = 10 * time.Minute

const (
	// addDeliverySQL changes nothing if the delivery is known. It waits for a concurrent transaction that stores the same
	// delivery. A delivery also counts as new if it reports one of the alerts $6 with another state ($7: firing) than the
	// stored one.
	addDeliverySQL = `
INSERT INTO deliveries AS d (key, source, receiver, result, received_at) VALUES ($1, $2, $3, '{}', $4)
ON CONFLICT (key) DO UPDATE SET received_at = excluded.received_at, result = excluded.result
WHERE d.received_at <= $5 OR EXISTS (
    SELECT FROM unnest($6::text[], $7::boolean[]) AS n (fingerprint, firing) WHERE n.firing <> coalesce(
        (SELECT a.firing FROM session_alerts a WHERE a.fingerprint = n.fingerprint ORDER BY a.session_id DESC LIMIT 1),
        (SELECT s.firing FROM suppressed_alerts s WHERE s.fingerprint = n.fingerprint ORDER BY s.last_at DESC LIMIT 1),
        n.firing))`

	// forgetDeliveriesSQL removes up to two old deliveries for each new one, so that they never accumulate.
	forgetDeliveriesSQL = `
DELETE FROM deliveries WHERE key IN (
    SELECT key FROM deliveries WHERE received_at <= $1 ORDER BY received_at LIMIT 2 FOR UPDATE SKIP LOCKED)`

	// forgetGroupsSQL does the same for groups.
	forgetGroupsSQL = `
DELETE FROM alert_groups WHERE key IN (
    SELECT key FROM alert_groups WHERE last_at <= $1 AND key <> ALL ($2::text[]) ORDER BY last_at LIMIT 4 FOR UPDATE SKIP LOCKED)`
)

// AddDelivery starts a delivery. If it was received before, it returns the stored result.
func AddDelivery(ctx context.Context, tx pgx.Tx, d tarsy.Delivery, now time.Time) (*tarsy.DeliveryResult, error) {
	if d.Key == nil {
		return nil, nil //nolint:nilnil // it cannot be recognized
	}

	before := now.Add(-KeepDeliveries)

	if _, err := tx.Exec(ctx, forgetDeliveriesSQL, before); err != nil {
		return nil, fmt.Errorf("forget old deliveries: %w", err)
	}

	fingerprints, firing := undated(d)

	added, err := tx.Exec(ctx, addDeliverySQL, d.Key, string(d.Source), d.Receiver, now, before, fingerprints, firing)
	if err != nil {
		return nil, fmt.Errorf("store delivery: %w", err)
	}

	if added.RowsAffected() > 0 {
		return nil, nil //nolint:nilnil // it is new
	}

	var result tarsy.DeliveryResult
	if err := tx.QueryRow(ctx, `SELECT result FROM deliveries WHERE key = $1`, d.Key).Scan(&result); err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}

	return &result, nil
}

// undated returns the alerts of generic senders that have no time, and whether they fire. Their bodies are identical each time
// such an alert fires, so an identical body is a repetition only if the alert has not changed since.
func undated(d tarsy.Delivery) (fingerprints []string, firing []bool) {
	for _, a := range d.Alerts {
		if d.Source == tarsy.SourceGeneric && a.Facts.StartsAt == nil {
			fingerprints, firing = append(fingerprints, a.Facts.Fingerprint), append(firing, !a.Resolved)
		}
	}

	return fingerprints, firing
}

// SetResult stores the result of a delivery.
func SetResult(ctx context.Context, tx pgx.Tx, key []byte, result tarsy.DeliveryResult) error {
	if key == nil {
		return nil
	}

	raw, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("encode delivery: %w", err)
	}

	if _, err := tx.Exec(ctx, `UPDATE deliveries SET result = $2 WHERE key = $1`, key, raw); err != nil {
		return fmt.Errorf("store the result of the delivery: %w", err)
	}

	return nil
}
