package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// similar checks a session of an alert that was investigated before.
func (c *contracts) similar(t *testing.T) {
	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, Config: loneAgent + alertRules})
	app.Script.Route("Investigator", says("It leaks."), says("It leaks again."), says("Fine."))
	app.Script.Route("ExecSummaryAgent", says("In short."), says("In short."), says("In short."))
	app.Script.Route("VerdictAgent", concludes(t, tarsy.OutcomeProbableCause, "web leaks memory"), concludes(t, tarsy.OutcomeInconclusive, ""), concludes(t, tarsy.OutcomeFalseAlarm, ""))

	investigate := func() string {
		_, alert := deliver(t, app, fmt.Sprintf(slowCheckout, "firing", "firing", clock.Now().Format("15:04:05")))
		app.WaitFor(*alert.SessionID, tarsy.SessionCompleted)

		return *alert.SessionID
	}

	past := investigate()
	rate(t, app, past, "wrong", "a slow disk")
	clock.Advance(24 * time.Hour)

	body := get(t, app, "/api/v1/sessions/"+investigate()+"/similar?limit=3")
	c.require(t, "SimilarList", body, map[string]is{"sessions": list(1)})
	c.require(t, "SimilarSession", within(t, body, "sessions", 0), map[string]is{
		"id": equal(past), "alert_type": equal("test"), "title": equal("Checkout is slow"), "severity": equal("critical"), "status": equal("completed"),
		"likeness": equal("fingerprint"), "shared_labels": equal(map[string]any{
			"alertname": "Slow", "severity": "critical", "service": "checkout", "namespace": "shop", "cluster": "eu-1", "team": "payments",
		}),
		"outcome": equal("probable_cause"), "cause": equal("web leaks memory"), "confidence": equal("medium"),
		"rating": equal("wrong"), "real_cause": equal("a slow disk"), "created_at": minute(0), "completed_at": minute(0),
	})

	unrelated := app.Run("test", "unrelated").ID
	require.Equal(t, map[string]any{"sessions": []any{}}, get(t, app, "/api/v1/sessions/"+unrelated+"/similar"))
}
