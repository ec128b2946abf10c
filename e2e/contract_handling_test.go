package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// handling checks what a person does with a session, wherever it can be read.
func (c *contracts) handling(t *testing.T) {
	app, _, sessionID := investigated(t)
	path := "/api/v1/sessions/" + sessionID + "/handling"

	c.require(t, "Handling", get(t, app, path), map[string]is{
		"session_id": equal(sessionID), "state": equal("open"), "assignee": equal(""), "assignee_id": equal(""), "acknowledged_by": equal(""), "acknowledged_at": isNull,
		"resolved_by": equal(""), "resolved_at": isNull, "resolution": equal(""), "tags": list(0), "version": equal(0.0), "updated_at": isNull,
		"updated_by": equal(""),
	})

	for _, change := range []map[string]any{
		{"state": "acknowledged"},
		{"state": "resolved", "resolution": "Renewed the certificate.", "assignee": "me", "tags": map[string]any{"add": []string{"TLS", "expiry"}}},
	} {
		answer := app.Do(http.MethodPatch, path, change)
		require.Equal(t, http.StatusOK, answer.Status, string(answer.Body))
	}

	held := map[string]is{
		"session_id": equal(sessionID), "state": equal("resolved"), "assignee": equal("alertmanager"), "assignee_id": equal(get(t, app, "/api/v1/me")["id"]), "acknowledged_by": equal("alertmanager"),
		"acknowledged_at": minute(2), "resolved_by": equal("alertmanager"), "resolved_at": minute(2), "resolution": equal("Renewed the certificate."),
		"tags": equal([]any{"expiry", "TLS"}), "version": equal(2.0), "updated_at": minute(2), "updated_by": equal("alertmanager"),
	}
	c.require(t, "Handling", get(t, app, path), held)

	detail := get(t, app, "/api/v1/sessions/"+sessionID)
	c.requireSome(t, "SessionDetail", detail, map[string]is{"handling": isObject})
	c.require(t, "Handling", within(t, detail, "handling"), held)

	item := within(t, get(t, app, "/api/v1/sessions?handling=resolved&assignee=me&tag=tls"), "sessions", 0)
	c.requireSome(t, "SessionItem", item, map[string]is{"handling": isObject})
	c.require(t, "Handling", within(t, item, "handling"), held)
	c.require(t, "Handling", within(t, get(t, app, "/api/v1/sessions/"+sessionID+"/export"), "session", "handling"), held)
	c.requireSome(t, "FilterOptions", get(t, app, "/api/v1/sessions/filter-options"), map[string]is{
		"assignees": equal([]any{"alertmanager"}), "tags": equal([]any{"TLS", "expiry"}),
	})

	answer := app.Do(http.MethodPost, "/api/v1/sessions/handling", map[string]any{"ids": []string{sessionID, "none"}, "state": "open"})
	require.Equal(t, http.StatusOK, answer.Status, string(answer.Body))

	results := decode[any](answer.Body)
	c.require(t, "HandlingResults", results, map[string]is{"results": list(2)})
	c.require(t, "HandlingResult", within(t, results, "results", 0), map[string]is{
		"session_id": equal(sessionID), "handling": isObject, "changed": equal(true), "code": isAbsent, "message": isAbsent,
	})
	c.require(t, "HandlingResult", within(t, results, "results", 1), map[string]is{
		"session_id": equal("none"), "handling": isNull, "changed": equal(false), "code": equal("session_not_found"), "message": isText,
	})
}
