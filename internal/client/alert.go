package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"

	"tarsy.dev/tarsy"
)

// Accepted is the response to an alert.
type Accepted struct {
	SessionID string              `json:"session_id"`
	Status    tarsy.SessionStatus `json:"status"`
	Message   string              `json:"message,omitempty"`
	// Answer is "cancelling" if the answer to a question is being cancelled.
	Answer string `json:"answer,omitempty"`
	// SessionURL is the session's page in the dashboard, if the server knows its public address.
	SessionURL string `json:"session_url,omitempty"`
	// Alerts is the result for an alert that has an identity; nil for others. Without a session, SessionID is empty.
	Alerts []tarsy.DeliveredAlert `json:"alerts,omitempty"`
}

// Alert is the body that submits an alert. Data is text, or any JSON object or list.
type Alert struct {
	AlertType    string              `json:"alert_type,omitempty"`
	Data         any                 `json:"data"`
	Runbook      string              `json:"runbook,omitempty"`
	RunbookURL   string              `json:"runbook_url,omitempty"`
	MCPSelection *tarsy.MCPSelection `json:"mcp_selection,omitempty"`
}

// AlertData returns the data of an alert given as text. JSON objects and lists are sent as JSON.
func AlertData(text string) any {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if raw := json.RawMessage(trimmed); json.Valid(raw) {
			return raw
		}
	}

	return text
}

// AlertType is a kind of alert that can be submitted.
type AlertType struct {
	Name        string `json:"name"`
	ChainID     string `json:"chain_id"`
	Description string `json:"description"`
}

// Webhook is a receiver of a server.
type Webhook struct {
	Source string `json:"source"`
	Name   string `json:"name"`
	Path   string `json:"path"`
	// URL is empty if the server does not know its public address.
	URL string `json:"url,omitempty"`
	// Auth is api_key, token or signature.
	Auth string `json:"auth"`
	// The environment variables of the server with the token and the signing secret; empty if the receiver has none.
	TokenEnv  string `json:"token_env,omitempty"`
	SecretEnv string `json:"secret_env,omitempty"`
}

// Deliver posts a body to a receiver as its sender would: unchanged, with a token or a signature in header. With a
// nil header it uses the API key.
func (c *Client) Deliver(ctx context.Context, source, name string, header http.Header, body []byte) (tarsy.DeliveryResult, error) {
	var result tarsy.DeliveryResult

	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()

	request, err := c.request(ctx, string(DeliverAlerts), []string{source, name}, nil, nil)
	if err != nil {
		return result, err
	}

	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	request.Header.Set("Content-Type", "application/json")

	if len(header) > 0 {
		request.Header.Del("Authorization")
		maps.Copy(request.Header, header)
	}

	err = c.do(request, &result)

	return result, err
}

// SilenceFilter selects silences: current and future ones, or all.
type SilenceFilter struct {
	All bool `query:"all"`
}

// NewSilence is the body that adds a silence. Either EndsAt or Duration must be set.
type NewSilence struct {
	Matchers []string `json:"matchers"`
	Reason   string   `json:"reason"`
	StartsAt string   `json:"starts_at,omitempty"`
	EndsAt   string   `json:"ends_at,omitempty"`
	Duration string   `json:"duration,omitempty"`
}

// SuppressedFilter selects suppressed alerts, which are listed newest first.
type SuppressedFilter struct {
	Reason    string `query:"reason"`
	SessionID string `query:"session_id"`
	Severity  string `query:"severity"`
	Search    string `query:"search"`
}
