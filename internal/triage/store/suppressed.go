package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres"
)

// Stored is an alert in a form that can be submitted later. Its facts are in the row, and everything is masked.
type Stored struct {
	AlertType               string              `json:"alert_type"`
	Data                    string              `json:"data"`
	Runbook                 string              `json:"runbook,omitempty"`
	RunbookURL              string              `json:"runbook_url,omitempty"`
	MCPSelection            *tarsy.MCPSelection `json:"mcp_selection,omitempty"`
	SlackMessageFingerprint string              `json:"slack_message_fingerprint,omitempty"`
	ChainID                 string              `json:"chain_id,omitempty"`
}

// Suppressed is a suppressed alert with its internal fields.
type Suppressed struct {
	tarsy.SuppressedAlert

	// Owner is the session or silence that counts the alert: repetitions with the same owner and reason share a row.
	Owner string `json:"owner"`
	Alert Stored `json:"alert"`
}

type suppressedKey struct {
	ID          string
	Owner       string
	Fingerprint string
	Reason      tarsy.SuppressionReason
}

func (s Suppressed) key() suppressedKey {
	return suppressedKey{Owner: s.Owner, Fingerprint: s.Fingerprint, Reason: s.Reason}
}

var (
	suppressedColumns = postgres.ColumnsOf[Suppressed]().List()

	// suppressSQL adds up repetitions. The first stored alert is kept.
	suppressSQL = `
INSERT INTO suppressed_alerts AS s (` + suppressedColumns + `)
SELECT ` + suppressedColumns + ` FROM jsonb_populate_recordset(NULL::suppressed_alerts, $1) ORDER BY owner, fingerprint, reason
ON CONFLICT (owner, fingerprint, reason) DO UPDATE SET occurrences = s.occurrences + excluded.occurrences, firing = excluded.firing,
    last_at = greatest(s.last_at, excluded.last_at), times = ` + latest("s.times || excluded.times") + `
RETURNING s.id, s.owner, s.fingerprint, s.reason`
)

// idsOf returns the IDs of alerts after they were stored.
func idsOf(alerts []Suppressed, stored []suppressedKey) []string {
	found := make(map[suppressedKey]string, len(stored))
	for _, s := range stored {
		id := s.ID
		s.ID = ""
		found[s] = id
	}

	ids := make([]string, len(alerts))
	for i, a := range alerts {
		ids[i] = found[a.key()]
	}

	return ids
}

// SuppressedAlerts returns a page of the list, newest first.
func (db *DB) SuppressedAlerts(ctx context.Context, f tarsy.SuppressedFilter) ([]tarsy.SuppressedAlert, error) {
	where, args := []string{"true"}, pgx.NamedArgs{}

	add := func(use bool, condition, name string, value any) {
		if use {
			where = append(where, condition)
			args[name] = value
		}
	}

	add(f.Reason != "", "reason = @reason", "reason", string(f.Reason))
	add(f.SessionID != "", "session_id = @session_id", "session_id", f.SessionID)
	add(f.Severity != "", "severity = @severity", "severity", string(f.Severity))
	add(f.Visible.Limited, "team = ANY (@visible)", "visible", f.Visible.Values())
	add(f.Search != "", "strpos(lower(concat_ws(' ', title, alert_type, service, namespace, cluster, team, fingerprint, labels::text)), lower(@search)) > 0",
		"search", f.Search)

	if f.After != nil {
		add(true, "(last_at, id) < (@after_at, @after_id::uuid)", "after_at", f.After.LastAt)
		args["after_id"] = f.After.ID
	}

	alerts, err := collect[tarsy.SuppressedAlert](ctx, db.read, `SELECT `+postgres.ColumnsOf[tarsy.SuppressedAlert]().List()+`
FROM suppressed_alerts WHERE `+strings.Join(where, " AND ")+`
ORDER BY last_at DESC, id DESC LIMIT `+strconv.Itoa(f.Limit), args)
	if err != nil {
		return nil, fmt.Errorf("list suppressed alerts: %w", err)
	}

	return alerts, nil
}

// SuppressedAlert returns one suppressed alert with its stored form.
func (db *DB) SuppressedAlert(ctx context.Context, id string) (Suppressed, error) {
	return suppressedAlert(ctx, db.read, id, "")
}

// LockSuppressed is SuppressedAlert for a change.
func LockSuppressed(ctx context.Context, tx pgx.Tx, id string) (Suppressed, error) {
	return suppressedAlert(ctx, tx, id, " FOR UPDATE")
}

// NoSuppressedAlert returns the error for an ID without a suppressed alert.
func NoSuppressedAlert(id string) error {
	return tarsy.Errorf(tarsy.CodeNotFound, "There is no suppressed alert %q.", plaintext.Cut(id, 40))
}

func suppressedAlert(ctx context.Context, q querier, id, lock string) (Suppressed, error) {
	if !ident.Valid(id) {
		return Suppressed{}, NoSuppressedAlert(id)
	}

	found, err := collect[suppressedRow](ctx, q, `SELECT `+suppressedColumns+` FROM suppressed_alerts WHERE id = $1`+lock, id)

	switch {
	case err != nil:
		return Suppressed{}, fmt.Errorf("read suppressed alert: %w", err)
	case len(found) == 0:
		return Suppressed{}, NoSuppressedAlert(id)
	}

	row := Suppressed{SuppressedAlert: found[0].SuppressedAlert, Owner: found[0].Owner}
	if err := json.Unmarshal(found[0].Alert, &row.Alert); err != nil {
		return Suppressed{}, fmt.Errorf("read suppressed alert: %w", err)
	}

	return row, nil
}

type suppressedRow struct {
	tarsy.SuppressedAlert

	Owner string
	Alert json.RawMessage
}

// SetInvestigation records the session that a person started for a suppressed alert.
func SetInvestigation(ctx context.Context, tx pgx.Tx, id, sessionID, author string) error {
	if _, err := tx.Exec(ctx, `UPDATE suppressed_alerts SET investigation_id = $2, investigated_by = $3 WHERE id = $1`, id, sessionID, author); err != nil {
		return fmt.Errorf("record the investigation: %w", err)
	}

	return nil
}
