package triage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/triage/store"
)

// Intake turns alerts into sessions. engine.Intake implements it.
type Intake interface {
	// Enter counts alerts that are held in memory, or rejects them with CodeOverloaded.
	Enter(alerts ...tarsy.Alert) (leave func(), err error)
	// Prepare finds an alert's chain and masks the alert.
	Prepare(ctx context.Context, alert tarsy.Alert) (postgres.Prepared, error)
	// PrepareMasked is Prepare for an alert that consists of masked texts.
	PrepareMasked(alert tarsy.Alert) (postgres.Prepared, error)
}

// Config configures a Desk. Everything is required.
type Config struct {
	DB       *postgres.DB
	Intake   Intake
	Settings Settings
	// Mask masks secrets in what people write.
	Mask  func(string) string
	Clock clockwork.Clock
}

// Desk receives alerts. Any number of servers can use the same database.
type Desk struct {
	cfg   Config
	store *store.DB

	mu sync.Mutex
	// matchers are the parsed matchers of the silences that were last active, by ID.
	matchers map[string]match.Set
}

// New returns a desk.
func New(cfg Config) *Desk {
	return &Desk{cfg: cfg, store: store.New(cfg.DB.Alerts(), cfg.DB.Readers()), matchers: map[string]match.Set{}}
}

func (d *Desk) now() time.Time { return calendar.Time(d.cfg.Clock.Now()) }

// Receive decides about the alerts of a delivery and stores the outcome in one transaction. When it returns without error,
// everything is durable; otherwise nothing is stored. A delivery that is repeated within a few minutes changes nothing.
func (d *Desk) Receive(ctx context.Context, delivery tarsy.Delivery) (tarsy.DeliveryResult, error) {
	leave, err := d.cfg.Intake.Enter(delivery.Alerts...)
	if err != nil {
		return tarsy.DeliveryResult{}, err
	}
	defer leave()

	alerts := make([]Incoming, len(delivery.Alerts))
	for n, alert := range delivery.Alerts {
		if alerts[n], err = d.prepare(ctx, delivery, alert); err != nil {
			return tarsy.DeliveryResult{}, err
		}
	}

	var (
		result tarsy.DeliveryResult
		after  func()
	)

	err = d.store.Change(ctx, func(tx pgx.Tx) (err error) {
		result, after, err = d.decide(ctx, tx, delivery, alerts)

		return err
	})
	if err != nil {
		return tarsy.DeliveryResult{}, fmt.Errorf("receive alerts: %w", err)
	}

	after()

	return result, nil
}

// prepare masks an alert of a delivery. It drops a runbook that is not allowed instead of rejecting the alert: most senders do
// not choose it.
func (d *Desk) prepare(ctx context.Context, delivery tarsy.Delivery, alert tarsy.Alert) (Incoming, error) {
	alert.Author = delivery.Author

	prepared, err := d.cfg.Intake.Prepare(ctx, alert)
	if e, ok := errors.AsType[*tarsy.Error](err); ok && e.Field == "runbook_url" {
		alert.RunbookURL = ""
		prepared, err = d.cfg.Intake.Prepare(ctx, alert)
	}

	if err != nil {
		return Incoming{}, err
	}

	s := prepared.Session
	stored := store.Stored{
		AlertType: s.AlertType, Data: s.AlertData, RunbookURL: s.RunbookURL, MCPSelection: s.MCPSelection,
		SlackMessageFingerprint: s.SlackMessageFingerprint, ChainID: alert.ChainID,
	}

	if alert.Runbook != "" {
		stored.Runbook = s.Runbook
	}

	return Incoming{Prepared: prepared, Resolved: alert.Resolved, Stored: stored}, nil
}

// decide decides about a delivery in a transaction. The caller must call after once the transaction is committed.
func (d *Desk) decide(ctx context.Context, tx pgx.Tx, delivery tarsy.Delivery, alerts []Incoming) (result tarsy.DeliveryResult, after func(), err error) {
	now := d.now()

	repeated, err := store.AddDelivery(ctx, tx, delivery, now)
	if err != nil {
		return result, nil, err
	}

	if repeated != nil {
		repeated.Repeated = true

		return *repeated, func() {}, nil
	}

	known, err := d.lock(ctx, tx, alerts, now)
	if err != nil {
		return result, nil, err
	}

	quiet, err := d.quiet(known.Silences, now)
	if err != nil {
		return result, nil, err
	}

	decision := Decide(Situation{Now: now, Settings: d.cfg.Settings, Known: known, Quiet: quiet}, alerts)

	sessions, err := d.sessions(decision, alerts, delivery.Author)
	if err != nil {
		return result, nil, err
	}

	stored, err := d.cfg.DB.CreateSessions(ctx, tx, sessions)
	if err != nil {
		return result, nil, err
	}

	ids, err := store.Write(ctx, tx, decision.Change)
	if err != nil {
		return result, nil, err
	}

	result.Alerts = decision.Results

	for n, row := range decision.suppressed {
		if row >= 0 {
			result.Alerts[n].SuppressedID = &ids[row]
		}
	}

	if err := store.SetResult(ctx, tx, delivery.Key, result); err != nil {
		return result, nil, err
	}

	return result, func() {
		stored()

		for id, version := range decision.Touched {
			d.cfg.DB.Touch(id, version)
		}
	}, nil
}

// keepGroups is the minimum time that a group without alerts is kept.
const keepGroups = 24 * time.Hour

// lock locks the groups of alerts.
func (d *Desk) lock(ctx context.Context, tx pgx.Tx, alerts []Incoming, now time.Time) (store.Known, error) {
	groups, fingerprints := []string{}, []string{}

	for _, a := range alerts {
		groups = append(groups, a.group())
		fingerprints = append(fingerprints, a.Session.Fingerprint, stormFingerprint(a.group()))
	}

	slices.Sort(groups)
	slices.Sort(fingerprints)

	keep := max(keepGroups, 2*d.cfg.Settings.StormWindow)

	return store.Lock(ctx, tx, slices.Compact(groups), slices.Compact(fingerprints), now, now.Add(-keep))
}

// sessions returns the sessions that a decision creates, storms last.
func (d *Desk) sessions(decision Decision, alerts []Incoming, author string) ([]postgres.Prepared, error) {
	sessions := make([]postgres.Prepared, 0, len(decision.Create)+len(decision.Storms))
	for _, n := range decision.Create {
		sessions = append(sessions, alerts[n].Prepared)
	}

	for _, storm := range decision.Storms {
		prepared, err := d.cfg.Intake.PrepareMasked(stormAlert(storm, alerts, author))
		if err != nil {
			return nil, fmt.Errorf("make the session of a storm: %w", err)
		}

		prepared.Session.ID = storm.SessionID
		sessions = append(sessions, prepared)
	}

	return sessions, nil
}
