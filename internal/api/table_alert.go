package api

import (
	"net/http"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// alerts accepts alerts, and manages what suppresses them.
type alerts struct {
	store      *postgres.DB
	intake     Intake
	inbox      Inbox
	triage     Triage
	alertTypes func() []AlertType
	teams      *teamCheck
	public     public
	bodies     *bodies
	clock      clockwork.Clock
}

// operations returns the operations of alerts and of what suppresses them.
func (h *alerts) operations() []operation {
	return []operation{
		{
			method: http.MethodPost, path: "/api/v1/alerts", id: "submit-alert", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "alert.submit", target: "session", onlyDenied: true},
			errors:  append(submitErrors(), tarsy.CodeEmptyAlert, tarsy.CodeConflict),
			summary: "Submit an alert",
			description: "Stores the alert as a pending session. It is durable once 202 is returned. " +
				"Send an Idempotency-Key to be able to repeat a request whose response was lost. " +
				"A body of Alertmanager or Grafana, up to 8 MiB, is recognized and treated as a delivery to their default receiver. " +
				"Its alerts, and alerts with a fingerprint, may be counted on an existing session, or silenced; the message says so.",
			status: http.StatusAccepted, body: required[alertRequest](), bodyLimit: webhookLimit, handler: run(h.submitAlert),
		},
		{
			method: http.MethodGet, path: "/api/v1/alert-types", id: "list-alert-types", scope: tarsy.ScopeRead,
			summary: "List the alert types",
			handler: run(h.listAlertTypes),
		},
		{
			method: http.MethodGet, path: "/api/v1/webhooks", id: "list-webhooks", scope: tarsy.ScopeRead,
			summary: "List the webhooks",
			handler: run(h.listWebhooks),
		},
		{
			method: http.MethodPost, path: "/api/v1/webhooks/{source}/{name}", id: "deliver-alerts", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "alert.deliver", target: "webhook", onlyDenied: true},
			errors:  append(submitErrors(), tarsy.CodeEmptyAlert, tarsy.CodeNotFound, tarsy.CodeConflict),
			summary: "Deliver alerts from a monitoring system",
			description: "Accepts the body that the sender posts, up to 8 MiB: Alertmanager (version 4), Grafana, PagerDuty (v3) or what a generic receiver maps. " +
				"200 is returned after everything was stored. A delivery that is repeated within ten minutes and an invalid body change nothing. " +
				"An overloaded server returns 503, never 429, which Alertmanager would not retry. " +
				"Instead of an API key, the sender can use the receiver's own token or signature.",
			body: foreignBody("As documented by the sender."), bodyLimit: webhookLimit, webhook: true, handler: run(h.deliver),
		},
		{
			method: http.MethodGet, path: "/api/v1/silences", id: "list-silences", scope: tarsy.ScopeRead,
			summary: "List active and future silences",
			handler: run(h.listSilences),
		},
		{
			method: http.MethodPost, path: "/api/v1/silences", id: "add-silence", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "silence.create", target: "silence"},
			errors:      []tarsy.Code{tarsy.CodeConflict},
			summary:     "Silence alerts",
			description: "Matching alerts are not investigated while the silence is active. They are listed as suppressed.",
			status:      http.StatusCreated, body: required[silenceRequest](), handler: run(h.addSilence),
		},
		{
			method: http.MethodDelete, path: "/api/v1/silences/{id}", id: "end-silence", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "silence.end", target: "silence"},
			errors:  []tarsy.Code{tarsy.CodeNotFound},
			summary: "End a silence now",
			handler: run(h.endSilence),
		},
		{
			method: http.MethodGet, path: "/api/v1/suppressed", id: "list-suppressed", scope: tarsy.ScopeRead,
			summary:     "List suppressed alerts, latest first",
			description: "Alerts without a session of their own, each with the reason: it repeats another, belongs to a storm, matches a silence or a maintenance window, or is resolved.",
			handler:     run(h.listSuppressed),
		},
		{
			method: http.MethodPost, path: "/api/v1/suppressed/{id}/investigate", id: "investigate-suppressed", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "suppressed.investigate", target: "suppressed_alert"},
			errors:      append(submitErrors(), tarsy.CodeNotFound, tarsy.CodeConflict),
			summary:     "Investigate a suppressed alert",
			description: "Stores the alert as a pending session, regardless of what suppressed it. It is durable once 202 is returned.",
			status:      http.StatusAccepted, body: optional[nothing](), handler: run(h.investigateSuppressed),
		},
	}
}
