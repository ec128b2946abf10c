package triage

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/triage/store"
)

// Suppressed returns a page of the alerts that were not investigated individually, newest first.
func (d *Desk) Suppressed(ctx context.Context, f tarsy.SuppressedFilter) ([]tarsy.SuppressedAlert, error) {
	return d.store.SuppressedAlerts(ctx, f)
}

// Investigate creates a session for a suppressed alert. This is possible only once: afterwards the error has CodeConflict and
// names the session. Repetitions of the alert are counted on the new session. An alert that is not visible to the caller is
// reported as missing.
func (d *Desk) Investigate(ctx context.Context, id, author string, visible tarsy.Visibility) (tarsy.Session, error) {
	row, err := d.store.SuppressedAlert(ctx, id)
	if err != nil {
		return tarsy.Session{}, err
	}

	if !visible.Includes(row.Team) {
		return tarsy.Session{}, store.NoSuppressedAlert(id)
	}

	prepared, err := d.cfg.Intake.PrepareMasked(tarsy.Alert{
		AlertType: row.Alert.AlertType, Data: row.Alert.Data, Runbook: row.Alert.Runbook, RunbookURL: row.Alert.RunbookURL,
		MCPSelection: row.Alert.MCPSelection, SlackMessageFingerprint: row.Alert.SlackMessageFingerprint, ChainID: row.Alert.ChainID,
		Author: author, Facts: row.AlertFacts,
	})
	if err != nil {
		return tarsy.Session{}, err
	}

	var stored func()

	err = d.store.Change(ctx, func(tx pgx.Tx) (err error) {
		stored, err = d.investigate(ctx, tx, id, prepared)

		return err
	})
	if err != nil {
		return tarsy.Session{}, fmt.Errorf("investigate suppressed alert: %w", err)
	}

	stored()

	return prepared.Session, nil
}

// investigate creates the session of a suppressed alert in a transaction.
func (d *Desk) investigate(ctx context.Context, tx pgx.Tx, id string, prepared postgres.Prepared) (stored func(), err error) {
	session := prepared.Session

	// Lock the group first, as every delivery does.
	if _, err := d.lock(ctx, tx, []Incoming{{Prepared: prepared}}, session.CreatedAt); err != nil {
		return nil, err
	}

	row, err := store.LockSuppressed(ctx, tx, id)
	if err != nil {
		return nil, err
	}

	if row.InvestigationID != nil {
		return nil, tarsy.Errorf(tarsy.CodeConflict, "Session %s investigates this alert already; %s started it.", *row.InvestigationID, row.InvestigatedBy)
	}

	if stored, err = d.cfg.DB.CreateSessions(ctx, tx, []postgres.Prepared{prepared}); err != nil {
		return nil, err
	}

	audit.Detail(ctx, "created", session.ID)

	alert := store.Alert{SessionID: session.ID, Fingerprint: session.Fingerprint, GroupKey: session.GroupKey, Changes: []time.Time{}}
	alert.AlertState = tarsy.AlertState{
		Firing: row.Firing, Occurrences: 1, LastAt: row.LastAt, Times: []time.Time{row.LastAt}, EarlierSessionID: row.SessionID,
	}

	if !row.Firing {
		alert.ResolvedAt = &row.LastAt
	}

	if _, err := store.Write(ctx, tx, store.Change{Alerts: []store.Alert{alert}}); err != nil {
		return nil, err
	}

	return stored, store.SetInvestigation(ctx, tx, id, session.ID, session.Author)
}
