package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/tarsytest"
)

func (c *contracts) export(t *testing.T) {
	app, _, sessionID := investigated(t)
	answer := app.Do(http.MethodGet, "/api/v1/sessions/"+sessionID+"/export", nil)
	require.Equal(t, http.StatusOK, answer.Status)
	require.Equal(t, `attachment; filename="tarsy-test-`+sessionID[:8]+`.json"`, answer.Header.Get("Content-Disposition"))

	timeline, _ := get(t, app, "/api/v1/sessions/"+sessionID+"/timeline")["events"].([]any)

	for _, event := range timeline {
		fields, _ := event.(map[string]any)
		delete(fields, "content_length")
		delete(fields, "truncated")
	}

	// The parts are compared with the other responses, whose own contracts check their fields.
	sameAs := func(want any) is { return that(func(value any) bool { return equal(want)(value) == same }) }
	c.require(t, "Export", decode[map[string]any](answer.Body), map[string]is{
		"exported_at": minute(2), "session_url": equal("https://tarsy.example/sessions/" + sessionID),
		"session": sameAs(get(t, app, "/api/v1/sessions/"+sessionID)), "timeline": sameAs(timeline),
		"trace": sameAs(get(t, app, "/api/v1/sessions/"+sessionID+"/trace")),
	})

	report := app.Do(http.MethodGet, "/api/v1/sessions/"+sessionID+"/export?format=markdown", nil)
	require.Equal(t, http.StatusOK, report.Status)
	require.Equal(t, `attachment; filename="tarsy-test-`+sessionID[:8]+`.md"`, report.Header.Get("Content-Disposition"))

	for _, part := range []string{
		"# severity: high: Inconclusive\n\n## Verdict\n\n**Inconclusive**\n", "| Duration | 1m0s |", "| Cost | $75.0000 |", "## Executive summary\n\nWell.\n", "## Final analysis\n\nIt is well.\n",
		"### 2. look - Synthesis (synthesis, completed", "kubernetes.get\\_pods", "- **Pessimist** (failed, test",
	} {
		require.Contains(t, string(report.Body), part)
	}
}

// problem checks error responses.
func (c *contracts) problem(t *testing.T) {
	app := tarsytest.New(t, tarsytest.Options{})
	answer := app.Do(http.MethodPost, "/api/v1/alerts", map[string]any{"alert_type": "tset", "data": "x"})
	require.Equal(t, http.StatusBadRequest, answer.Status)
	c.requireSome(t, "Problem", decode[map[string]any](answer.Body), map[string]is{
		"type": equal("urn:tarsy:problem:unknown_alert_type"), "status": equal(400.0), "code": equal(string(tarsy.CodeUnknownAlertType)),
		"field": equal("alert_type"), "title": equal("The alert type is not known"), "detail": equal(answer.Problem(t).Detail),
	})
	require.Contains(t, answer.Problem(t).Detail, "did you mean test")

	// An internal error has an id under which the server's log has details.
	broken := tarsytest.New(t, tarsytest.Options{})
	broken.Exec(`ALTER TABLE browser_sessions RENAME TO mislaid; ALTER TABLE api_keys RENAME TO lost`)

	answer = broken.Do(http.MethodGet, "/api/v1/keys", nil)
	require.Equal(t, http.StatusInternalServerError, answer.Status)
	c.requireSome(t, "Problem", decode[map[string]any](answer.Body), map[string]is{
		"status": equal(500.0), "code": equal(string(tarsy.CodeInternal)), "instance": that(func(v any) bool {
			id, ok := v.(string)

			return ok && ident.Valid(strings.TrimPrefix(id, "urn:uuid:"))
		}),
	})
}
