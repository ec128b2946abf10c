package e2e

import (
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// feedback checks what the author of an alert says about its investigation.
func (c *contracts) feedback(t *testing.T) {
	app, _, sessionID := investigated(t)
	path := "/api/v1/sessions/" + sessionID + "/feedback"

	me := equal(get(t, app, "/api/v1/me")["id"])
	given := app.Do(http.MethodPut, path, map[string]any{"rating": "wrong", "why": "All is not well.", "real_cause": "An expired certificate."})
	require.Equal(t, http.StatusOK, given.Status, string(given.Body))

	held := map[string]is{
		"id": isID, "session_id": equal(sessionID), "author": equal("alertmanager"), "author_id": me, "rating": equal("wrong"), "why": equal("All is not well."),
		"real_cause": equal("An expired certificate."), "created_at": minute(2), "updated_at": minute(2),
	}
	c.require(t, "Feedback", decode[any](given.Body), held)

	all := get(t, app, path)
	c.require(t, "FeedbackList", all, map[string]is{"feedback": list(1)})
	c.require(t, "Feedback", within(t, all, "feedback", 0), held)

	detail := get(t, app, "/api/v1/sessions/"+sessionID)
	c.requireSome(t, "SessionDetail", detail, map[string]is{"feedback": list(1)})
	c.require(t, "Feedback", within(t, detail, "feedback", 0), held)
	c.require(t, "Feedback", within(t, get(t, app, "/api/v1/sessions/"+sessionID+"/export"), "session", "feedback", 0), held)
	c.requireSome(t, "SessionItem", within(t, get(t, app, "/api/v1/sessions"), "sessions", 0), map[string]is{"rating": equal("wrong")})

	require.Equal(t, http.StatusNoContent, app.Do(http.MethodDelete, path, nil).Status)
	require.Equal(t, map[string]any{"feedback": []any{}}, get(t, app, path))
}

// quality checks the figures of one session with three agents that took two minutes, cost 75 dollars, and was rated right.
func (c *contracts) quality(t *testing.T) {
	app, _, sessionID := investigated(t)
	require.Equal(t, http.StatusOK, app.Do(http.MethodPut, "/api/v1/sessions/"+sessionID+"/feedback", map[string]any{"rating": "right"}).Status)

	from, to := beginning().Add(-time.Hour).Format(time.RFC3339), beginning().Add(time.Hour).Format(time.RFC3339)
	body := get(t, app, "/api/v1/quality?by=agent&from="+from+"&to="+to)
	c.require(t, "Quality", body, map[string]is{
		"from": equal(from), "to": equal(to), "by": equal("agent"), "total": isObject, "rows": list(3), "days": list(1),
	})

	counts := func(key string) map[string]is {
		return map[string]is{
			"key": equal(key), "sessions": equal(1.0), "right": equal(1.0), "partly": equal(0.0), "wrong": equal(0.0), "agreement": equal(1.0),
			"outcomes":               equal(map[string]any{"cause_found": 0.0, "probable_cause": 0.0, "inconclusive": 1.0, "false_alarm": 0.0, "needs_human": 0.0}),
			"time_to_verdict_p50_ms": equal(120_000.0), "time_to_verdict_p95_ms": equal(120_000.0),
			"cost_usd": equal(75.0), "cost_per_alert_usd": equal(75.0),
		}
	}

	c.require(t, "QualityRow", within(t, body, "total"), counts(""))
	c.require(t, "QualityRow", within(t, body, "days", 0), counts(beginning().Format(time.DateOnly)))

	for n, agent := range []string{"Optimist", "Pessimist", "SynthesisAgent"} {
		c.require(t, "QualityRow", within(t, body, "rows", n), counts(agent))
	}

	for _, rating := range []string{"partly", "wrong"} {
		require.Equal(t, http.StatusOK, app.Do(http.MethodPut, "/api/v1/sessions/"+sessionID+"/feedback", map[string]any{"rating": rating}).Status)

		row := counts("test")
		maps.Copy(row, map[string]is{"right": equal(0.0), "agreement": equal(0.0), rating: equal(1.0)})
		c.require(t, "QualityRow", within(t, get(t, app, "/api/v1/quality?from="+from+"&to="+to), "rows", 0), row)
	}
}
