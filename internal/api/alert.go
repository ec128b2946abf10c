package api

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/runbook"
)

const (
	maxAlertType   = 200
	maxRunbookURL  = 2048
	maxFingerprint = 1000
	// defaultReceiver is the receiver for monitoring-system bodies that are recognized at POST /api/v1/alerts.
	defaultReceiver = "default"
)

// alertRequest is the body of an alert.
type alertRequest struct {
	AlertType    string              `doc:"The alert type. Optional if a default is configured." json:"alert_type,omitempty"`
	Data         alertData           `json:"data"`
	Runbook      string              `doc:"The text of a runbook for the agents. If it is only an http or https URL, it is fetched like runbook_url."               json:"runbook,omitempty"`
	RunbookURL   string              `doc:"URL of the runbook." format:"uri"                            json:"runbook_url,omitempty"`
	MCPSelection *tarsy.MCPSelection `doc:"Limits which of the chain's MCP servers and tools this alert uses."         json:"mcp_selection,omitempty"`
	// MCP is the published TARSy's name for mcp_selection.
	MCP                     *tarsy.MCPSelection `doc:"Alias of mcp_selection; set only one of them." json:"mcp,omitempty"`
	SlackMessageFingerprint string              `doc:"Identifies the Slack message that the alert came from; stored with the session." json:"slack_message_fingerprint,omitempty"`
	Fingerprint             string              `doc:"Identifies the problem. An alert with the fingerprint of an earlier one is counted on its session instead of being investigated again." json:"fingerprint,omitempty"`
}

type alertInput struct {
	Key idempotencyKey `doc:"A unique key of your choice. Repeating the request with the same key within 24 hours returns the session that the first one created." header:"Idempotency-Key" maxLength:"255"`
}

type acceptedOutput struct {
	Location string `doc:"URL of the new session." header:"Location"`
	Body     alertAccepted
}

type alertAccepted struct {
	SessionID  string                 `doc:"The session that investigates or counts the alert; for several alerts, the first session. Empty if the alert is silenced." json:"session_id"`
	Status     tarsy.SessionStatus    `doc:"The status of that session." json:"status"`
	Message    string                 `json:"message,omitempty"`
	SessionURL string                 `doc:"URL of the session in the dashboard; absent unless system.dashboard_url is set." json:"session_url,omitempty"`
	Alerts     []tarsy.DeliveredAlert `doc:"The result for each alert; absent for an alert without a fingerprint." json:"alerts,omitempty"`
}

type alertTypesOutput struct{ Body alertTypeList }

type alertTypeList struct {
	AlertTypes []AlertType `json:"alert_types"`
}

func (h *alerts) submitAlert(ctx context.Context, in *alertInput) (*acceptedOutput, error) {
	who := callerOf(ctx)

	key, err := in.Key.identify(who, "submit")
	if err != nil {
		return nil, err
	}

	if source, ok := h.inbox.Recognize(who.body); ok {
		return h.submitDelivery(ctx, source, who)
	}

	if len(who.body) > tarsy.MaxAlertBytes {
		return nil, tooLarge("", tarsy.MaxAlertBytes)
	}

	alert, err := readAlert(who.body)
	if err != nil {
		return nil, err
	}

	alert.Author, alert.Idempotency = who.author, key

	if h.inbox.Identifies(alert) {
		result, err := h.inbox.Accept(ctx, alert)
		if err != nil {
			return nil, fmt.Errorf("submit alert: %w", err)
		}

		return h.acceptedDelivery(ctx, result)
	}

	session, err := h.intake.Submit(ctx, alert)
	if err != nil {
		return nil, fmt.Errorf("submit alert: %w", err)
	}

	return h.public.accepted(session), nil
}

// submitDelivery delivers a monitoring system's body to its default receiver.
func (h *alerts) submitDelivery(ctx context.Context, source tarsy.AlertSource, who *caller) (*acceptedOutput, error) {
	result, err := h.inbox.Deliver(ctx, string(source), defaultReceiver, who.author, who.body)
	if err != nil {
		return nil, fmt.Errorf("deliver alerts: %w", err)
	}

	return h.acceptedDelivery(ctx, result)
}

// accepted builds the response for an alert that has a session.
func (p public) accepted(session tarsy.Session) *acceptedOutput {
	message := "The alert is stored and waits to be investigated."
	if session.Status != tarsy.SessionPending {
		message = "The alert was submitted before with this idempotency key."
	}

	return &acceptedOutput{
		Location: "/api/v1/sessions/" + session.ID,
		Body: alertAccepted{
			SessionID: session.ID, Status: session.Status, Message: message,
			SessionURL: tarsy.SessionURL(p.url, session.ID),
		},
	}
}

func (h *alerts) listAlertTypes(context.Context, *struct{}) (*alertTypesOutput, error) {
	return &alertTypesOutput{Body: alertTypeList{AlertTypes: append([]AlertType{}, h.alertTypes()...)}}, nil
}

// readAlert parses an alert from a body. Intake checks that its type and its servers exist.
func readAlert(body []byte) (tarsy.Alert, error) {
	request, err := readRequest[alertRequest](body)
	if err != nil {
		return tarsy.Alert{}, err
	}

	err = request.check()
	if err != nil {
		return tarsy.Alert{}, err
	}

	return tarsy.Alert{
		AlertType: request.AlertType, Data: string(request.Data), Runbook: request.Runbook, RunbookURL: request.RunbookURL,
		MCPSelection: cmp.Or(request.MCPSelection, request.MCP), SlackMessageFingerprint: request.SlackMessageFingerprint,
		Facts: tarsy.AlertFacts{Source: tarsy.SourceAPI, Fingerprint: request.Fingerprint},
	}, nil
}

func (r *alertRequest) check() error {
	if utf8.RuneCountInString(r.AlertType) > maxAlertType {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "alert_type", "alert_type is longer than %d characters", maxAlertType)
	}

	if r.Data == "" {
		return missing("data", dataKinds)
	}

	if utf8.RuneCountInString(r.SlackMessageFingerprint) > maxFingerprint {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "slack_message_fingerprint", "slack_message_fingerprint is longer than %d characters", maxFingerprint)
	}

	if utf8.RuneCountInString(r.Fingerprint) > maxFingerprint {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "fingerprint", "fingerprint is longer than %d characters", maxFingerprint)
	}

	r.Fingerprint = strings.TrimSpace(r.Fingerprint)

	r.moveRunbookURL()

	err := checkRunbookURL(r.RunbookURL)
	if err != nil {
		return err
	}

	return checkSelections(r.MCPSelection, r.MCP)
}

// moveRunbookURL treats a runbook that is only a URL as runbook_url.
func (r *alertRequest) moveRunbookURL() {
	if r.RunbookURL == "" && runbook.IsURL(r.Runbook) {
		r.Runbook, r.RunbookURL = "", strings.TrimSpace(r.Runbook)
	}
}

func checkRunbookURL(text string) error {
	if text != "" && !runbook.IsURL(text) {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "runbook_url",
			"runbook_url must be an address that starts with http:// or https:// and has at most %d characters", maxRunbookURL)
	}

	return nil
}
