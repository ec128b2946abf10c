package app

import (
	"context"
	"net/http"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
)

// externalIntake is the intake for all external callers, with the configuration at the time of the request: alerts go through
// the inbox, everything else to the intake.
type externalIntake struct{ app *App }

// Submit implements api.Intake and notify.Intake.
func (i externalIntake) Submit(ctx context.Context, alert tarsy.Alert) (tarsy.Session, error) {
	return i.app.current().inbox.Submit(ctx, alert)
}

// Cancel implements api.Intake.
func (i externalIntake) Cancel(ctx context.Context, sessionID, author string) (tarsy.SessionStatus, error) {
	return i.app.current().intake.Cancel(ctx, sessionID, author)
}

// Ask implements api.Intake.
func (i externalIntake) Ask(ctx context.Context, sessionID, author, content string) (tarsy.Question, error) {
	return i.app.current().intake.Ask(ctx, sessionID, author, content)
}

// AskForStage implements notify.Intake.
func (i externalIntake) AskForStage(ctx context.Context, sessionID, author, content, stageID string) (tarsy.Question, error) {
	return i.app.current().intake.AskForStage(ctx, sessionID, author, content, stageID)
}

// webhooks adapts the inbox to the API.
type webhooks struct{ app *App }

// Receivers implements api.Inbox.
func (w webhooks) Receivers() []api.Receiver {
	var all []api.Receiver

	for _, r := range w.app.current().inbox.Receivers() {
		all = append(all, api.Receiver{
			Source: api.WebhookSource(r.Source), Name: r.Name, Path: r.Path(), Auth: api.ReceiverAuth(r.Auth()), TokenEnv: r.TokenEnv, SecretEnv: r.SecretEnv,
		})
	}

	return all
}

// Trusts implements api.Inbox.
func (w webhooks) Trusts(ctx context.Context, source, name string, header http.Header, body []byte) bool {
	return w.app.current().inbox.Trusts(ctx, source, name, header, body)
}

// Deliver implements api.Inbox.
func (w webhooks) Deliver(ctx context.Context, source, name, author string, body []byte) (tarsy.DeliveryResult, error) {
	return w.app.current().inbox.Deliver(ctx, source, name, author, body)
}

// Recognize implements api.Inbox.
func (w webhooks) Recognize(body []byte) (tarsy.AlertSource, bool) {
	return w.app.current().inbox.Recognize(body)
}

// Identifies implements api.Inbox.
func (w webhooks) Identifies(alert tarsy.Alert) bool { return w.app.current().inbox.Identifies(alert) }

// Accept implements api.Inbox.
func (w webhooks) Accept(ctx context.Context, alert tarsy.Alert) (tarsy.DeliveryResult, error) {
	return w.app.current().inbox.Accept(ctx, alert)
}

// triageAdapter adapts triage to the API.
type triageAdapter struct{ app *App }

// Suppressed implements api.Triage.
func (t triageAdapter) Suppressed(ctx context.Context, filter tarsy.SuppressedFilter) ([]tarsy.SuppressedAlert, error) {
	return t.app.current().desk.Suppressed(ctx, filter)
}

// Investigate implements api.Triage.
func (t triageAdapter) Investigate(ctx context.Context, id, author string, visible tarsy.Visibility) (tarsy.Session, error) {
	return t.app.current().desk.Investigate(ctx, id, author, visible)
}

// Silences implements api.Triage.
func (t triageAdapter) Silences(ctx context.Context, all bool) ([]tarsy.Silence, error) {
	return t.app.current().desk.Silences(ctx, all)
}

// AddSilence implements api.Triage.
func (t triageAdapter) AddSilence(ctx context.Context, silence tarsy.Silence) (tarsy.Silence, error) {
	return t.app.current().desk.AddSilence(ctx, silence)
}

// EndSilence implements api.Triage.
func (t triageAdapter) EndSilence(ctx context.Context, id, author string) (tarsy.Silence, error) {
	return t.app.current().desk.EndSilence(ctx, id, author)
}

// CancelMany implements api.Intake.
func (i externalIntake) CancelMany(ctx context.Context, sessionIDs []string, author string, dryRun bool) (tarsy.BulkCancel, error) {
	return i.app.current().intake.CancelMany(ctx, sessionIDs, author, dryRun)
}
