package client

import (
	"encoding/json"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/notebook"
)

// The operations that the client supports. Each is named after its operation in docs/openapi.json; a test compares
// this table with that file.
const (
	// Alerts and their senders.
	SubmitAlert           Creation[Alert, Accepted]                        = "POST /api/v1/alerts"
	ListAlertTypes        Listing[None, AlertType]                         = "GET /api/v1/alert-types alert_types"
	ListWebhooks          Listing[None, Webhook]                           = "GET /api/v1/webhooks receivers"
	DeliverAlerts         Operation[json.RawMessage, tarsy.DeliveryResult] = "POST /api/v1/webhooks/{source}/{name}"
	ListSilences          Listing[SilenceFilter, tarsy.Silence]            = "GET /api/v1/silences silences"
	AddSilence            Operation[NewSilence, tarsy.Silence]             = "POST /api/v1/silences"
	EndSilence            Operation[None, tarsy.Silence]                   = "DELETE /api/v1/silences/{id}"
	ListSuppressed        Listing[SuppressedFilter, tarsy.SuppressedAlert] = "GET /api/v1/suppressed alerts paged"
	InvestigateSuppressed Operation[None, Accepted]                        = "POST /api/v1/suppressed/{id}/investigate"

	// Sessions, newest first unless the filter orders them, and actions on them.
	ListSessions     Listing[Filter, tarsy.SessionItem]             = "GET /api/v1/sessions sessions paged"
	GetSession       Operation[None, tarsy.SessionDetail]           = "GET /api/v1/sessions/{id}"
	GetTimeline      Operation[TimelinePart, timelinePage]          = "GET /api/v1/sessions/{id}/timeline"
	SessionEvents    Operation[None, None]                          = "GET /api/v1/sessions/{id}/events"
	ExportSession    Operation[None, None]                          = "GET /api/v1/sessions/{id}/export"
	RerunSession     Creation[*RerunChanges, Accepted]              = "POST /api/v1/sessions/{id}/rerun"
	CancelSession    Operation[None, Accepted]                      = "POST /api/v1/sessions/{id}/cancel"
	CancelSessions   Operation[Cancellation, tarsy.BulkCancel]      = "POST /api/v1/sessions/cancel"
	DeleteSession    Operation[None, None]                          = "DELETE /api/v1/sessions/{id}"
	HandleSessions   Operation[HandlingChange, HandlingResults]     = "POST /api/v1/sessions/handling"
	Ask              Operation[Question, Asked]                     = "POST /api/v1/sessions/{id}/chat/messages"
	ListFeedback     Listing[None, tarsy.Feedback]                  = "GET /api/v1/sessions/{id}/feedback feedback"
	GiveFeedback     Operation[NewFeedback, tarsy.Feedback]         = "PUT /api/v1/sessions/{id}/feedback"
	WithdrawFeedback Operation[None, None]                          = "DELETE /api/v1/sessions/{id}/feedback"
	ListShares       Listing[None, tarsy.Share]                     = "GET /api/v1/sessions/{id}/shares shares"
	ShareSession     Operation[NewShare, CreatedShare]              = "POST /api/v1/sessions/{id}/shares"
	RevokeShare      Operation[None, tarsy.Share]                   = "DELETE /api/v1/sessions/{id}/shares/{share_id}"
	GetQuality       Operation[QualityPeriod, tarsy.Quality]        = "GET /api/v1/quality"
	ListApprovals    Listing[ApprovalFilter, tarsy.ApprovalRequest] = "GET /api/v1/approvals approvals paged"
	Approve          Operation[Approval, Decision]                  = "POST /api/v1/approvals/{id}/approve"
	Reject           Operation[Rejection, Decision]                 = "POST /api/v1/approvals/{id}/reject"

	// Notes and the entities extracted from them, newest first.
	ListNotes     Listing[NoteFilter, notebook.Note]           = "GET /api/v1/notes notes paged"
	GetNote       Operation[None, notebook.NoteDetail]         = "GET /api/v1/notes/{id}"
	CaptureNote   Creation[NewNote, CapturedNote]              = "POST /api/v1/notes"
	ListEntities  Listing[EntityFilter, notebook.EntityDetail] = "GET /api/v1/entities entities paged"
	CreateProject Operation[NewProject, notebook.Project]      = "POST /api/v1/projects"
	CreateEpic    Operation[NewProject, notebook.Epic]         = "POST /api/v1/projects/{id}/epics"

	// The server and its users.
	Health        Operation[None, ServerHealth]          = "GET /health"
	ListProviders Listing[ProviderFilter, Provider]      = "GET /api/v1/system/providers providers"
	ReloadConfig  Operation[ReloadOptions, ConfigReload] = "POST /api/v1/system/config/reload"
	ListPauses    Listing[None, tarsy.Pause]             = "GET /api/v1/system/pauses pauses"
	Pause         Operation[NewPause, tarsy.Pause]       = "PUT /api/v1/system/pauses/{kind}"
	Resume        Operation[None, None]                  = "DELETE /api/v1/system/pauses/{kind}"
	ListKeys      Listing[None, tarsy.APIKey]            = "GET /api/v1/keys keys"
	CreateKey     Operation[NewKey, CreatedKey]          = "POST /api/v1/keys"
	RevokeKey     Operation[None, tarsy.APIKey]          = "DELETE /api/v1/keys/{id}"
	ListAudit     Listing[AuditFilter, tarsy.AuditEntry] = "GET /api/v1/audit entries paged"
)
