package tarsytest

import (
	"net/http"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// Deliver posts a body to a webhook, such as "alertmanager/default", as its sender does, and returns what happened to the alerts.
func (a *App) Deliver(receiver string, body any, headers ...string) tarsy.DeliveryResult {
	a.t.Helper()

	resp := a.Do(http.MethodPost, "/api/v1/webhooks/"+receiver, body, headers...)
	require.Equal(a.t, http.StatusOK, resp.Status, "body: %s", resp.Body)

	var result tarsy.DeliveryResult

	resp.Decode(a.t, &result)

	return result
}

// Sessions reads the first page of the session list, with a query of GET /api/v1/sessions such as "severity=critical".
func (a *App) Sessions(query string) []tarsy.SessionItem {
	a.t.Helper()

	var page struct {
		Sessions []tarsy.SessionItem `json:"sessions"`
	}

	a.get("/api/v1/sessions?"+query, &page)

	return page.Sessions
}

// Suppressed reads the first page of the suppressed alerts, with a query of GET /api/v1/suppressed.
func (a *App) Suppressed(query string) []tarsy.SuppressedAlert {
	a.t.Helper()

	var page struct {
		Alerts []tarsy.SuppressedAlert `json:"alerts"`
	}

	a.get("/api/v1/suppressed?"+query, &page)

	return page.Alerts
}

// Investigate starts a session for a suppressed alert and returns the session's id.
func (a *App) Investigate(suppressedID string) string {
	a.t.Helper()

	resp := a.Do(http.MethodPost, "/api/v1/suppressed/"+suppressedID+"/investigate", nil)
	require.Equal(a.t, http.StatusAccepted, resp.Status, "body: %s", resp.Body)

	var answer struct {
		SessionID string `json:"session_id"`
	}

	resp.Decode(a.t, &answer)

	return answer.SessionID
}
