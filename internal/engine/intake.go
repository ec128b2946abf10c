package engine

import (
	"context"
	"fmt"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// IntakeConfig is what intake needs.
type IntakeConfig struct {
	DB *postgres.DB
	// Check resolves the alert's chain and validates its type and MCP selection, with errors that tell what would
	// be right.
	Check func(alert *tarsy.Alert) (Route, error)
	// Mask hides secrets in what people wrote; it fails open by contract.
	Mask  func(text string) string
	Clock clockwork.Clock
}

// Route is where an alert goes.
type Route struct {
	ChainID   string
	AgentType string
	Runbook   string
}

// Intake takes alerts and wishes from outside. It runs on every server, also on one that works on no session.
type Intake struct{ cfg IntakeConfig }

// NewIntake returns an intake.
func NewIntake(cfg IntakeConfig) *Intake { return &Intake{cfg: cfg} }

// Submit turns an alert into a session. When it returns without error the session is durable.
func (i *Intake) Submit(ctx context.Context, alert tarsy.Alert) (tarsy.Session, error) {
	route, err := i.cfg.Check(&alert)
	if err != nil {
		return tarsy.Session{}, err
	}

	data := i.cfg.Mask(tarsy.CleanText(alert.Data))
	if len(data) > tarsy.MaxAlertBytes {
		return tarsy.Session{}, tarsy.FieldErrorf(tarsy.CodeTooLarge, "data", "the alert's data is larger than %d bytes", tarsy.MaxAlertBytes)
	}

	runbook := alert.Runbook
	if runbook == "" {
		runbook = route.Runbook
	}

	author := alert.Author
	if author == "" {
		author = tarsy.DefaultAuthor
	}

	now := tarsy.Time(i.cfg.Clock.Now())
	session := tarsy.Session{
		ID: tarsy.NewID(), AlertType: alert.AlertType, AlertData: data, ChainID: route.ChainID, AgentType: route.AgentType,
		Status: tarsy.SessionPending, Author: tarsy.CleanText(author), Runbook: i.cfg.Mask(tarsy.CleanText(runbook)),
		RunbookURL: tarsy.CleanText(alert.RunbookURL), MCPSelection: alert.MCPSelection, CreatedAt: now,
	}

	if err := i.cfg.DB.CreateSession(ctx, session, tarsy.SessionStatusChanged(session, now)); err != nil {
		return tarsy.Session{}, fmt.Errorf("submit alert: %w", err)
	}

	return session, nil
}

// Cancel asks for a session to be cancelled. It returns once the wish is durable; the holder acts on it.
func (i *Intake) Cancel(ctx context.Context, sessionID, author string) error {
	if !tarsy.ValidID(sessionID) {
		return tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session %q", sessionID)
	}

	asked, err := i.cfg.DB.AddRequest(ctx, tarsy.Request{
		ID: tarsy.NewID(), SessionID: sessionID, Kind: tarsy.RequestCancel, Author: author, CreatedAt: tarsy.Time(i.cfg.Clock.Now()),
	})
	if err != nil {
		return fmt.Errorf("cancel session: %w", err)
	}

	if asked {
		return nil
	}

	detail, err := i.cfg.DB.SessionDetail(ctx, sessionID)
	if err != nil {
		return err
	}

	return tarsy.Errorf(tarsy.CodeSessionNotRunning, "the session is %s: only a pending or running session can be cancelled", detail.Status)
}
