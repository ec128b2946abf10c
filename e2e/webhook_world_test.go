package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// alertsTest is a chain for alerts that name no type, and the beginning of the section alerts, which the test continues.
const alertsTest = "defaults: {llm_provider: test, alert_type: test}\n" + loneAgent + "alerts:\n"

// sentAlert is an alert as Alertmanager sends it.
type sentAlert struct {
	Status       string            `json:"status"`
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL"`
	Fingerprint  string            `json:"fingerprint"`
}

// fires returns a firing alert of the group of alertname and namespace. Further labels are alternating names and values.
func fires(alertname, namespace, pod string, labels ...string) sentAlert {
	a := sentAlert{
		Status: "firing", Labels: map[string]string{"alertname": alertname, "namespace": namespace, "pod": pod},
		Annotations: map[string]string{"summary": alertname + " of " + pod}, StartsAt: beginning(), Fingerprint: alertname + "-" + namespace + "-" + pod,
		GeneratorURL: "https://prometheus.example.com/graph?g0.expr=up",
	}

	for i := 0; i+1 < len(labels); i += 2 {
		a.Labels[labels[i]] = labels[i+1]
	}

	return a
}

// resolved returns the alert as resolved.
func (a sentAlert) resolved() sentAlert {
	a.Status, a.EndsAt = "resolved", beginning()

	return a
}

// describes returns the alert with another description: annotations contain measured values, so that a repetition is not the same delivery.
func (a sentAlert) describes(text string) sentAlert {
	a.Annotations = map[string]string{"summary": a.Annotations["summary"], "description": text}

	return a
}

// notification returns the body that Alertmanager posts for alerts.
func notification(alerts ...sentAlert) map[string]any {
	status := "resolved"

	for _, a := range alerts {
		if a.Status == "firing" {
			status = "firing"
		}
	}

	return map[string]any{
		"version": "4", "groupKey": "{}:{}", "truncatedAlerts": 0, "status": status, "receiver": "tarsy", "groupLabels": map[string]string{},
		"commonLabels": map[string]string{}, "commonAnnotations": map[string]string{}, "externalURL": "https://alertmanager.example.com", "alerts": alerts,
	}
}

// notify posts alerts as Alertmanager does, and returns the result for each.
func notify(app *tarsytest.App, alerts ...sentAlert) []tarsy.DeliveredAlert {
	return app.Deliver("alertmanager/default", notification(alerts...)).Alerts
}

// investigates posts an alert that must get its own session, and returns the session's id.
func investigates(t *testing.T, app *tarsytest.App, alert sentAlert) string {
	t.Helper()

	result := notify(app, alert)[0]
	require.Equal(t, tarsy.ActionInvestigate, result.Action, result.Reason)
	require.Nil(t, result.SuppressedID)

	return *result.SessionID
}

// actions returns the actions taken for alerts.
func actions(results []tarsy.DeliveredAlert) []tarsy.DeliveryAction {
	all := make([]tarsy.DeliveryAction, len(results))
	for i, r := range results {
		all[i] = r.Action
	}

	return all
}

// modelAnswers makes the model answer every call, after the gate of the first text that its prompt contains.
func modelAnswers(app *tarsytest.App, gates map[string]*script.Gate) {
	app.Script.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply {
		reply := says("The pod has no memory left.")

		for text, gate := range gates {
			if req.Agent == "Investigator" && strings.Contains(req.Messages[1].Content, text) {
				reply.Gate = gate
			}
		}

		return reply
	})
}

// prompts returns the first prompts of a session's agents.
func prompts(app *tarsytest.App, sessionID string) string {
	var all strings.Builder

	for _, call := range app.Script.Calls() {
		if call.Request.SessionID == sessionID && call.Request.Agent == "Investigator" {
			all.WriteString(call.Request.Messages[1].Content)
		}
	}

	return all.String()
}

// indented returns a value as JSON that people can read.
func indented(t *testing.T, value any) []byte {
	t.Helper()

	var b strings.Builder

	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(value))

	return []byte(b.String())
}
