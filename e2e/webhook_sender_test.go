package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

const (
	grafanaToken    = "token-of-grafana"
	pagerDutySecret = "secret-of-pagerduty"
)

// senders has a receiver of each kind. The mapping of the generic one uses paths and templates.
const senders = alertsTest + `
  receivers:
    cluster: {source: alertmanager, token_env: RECEIVER_TOKEN, labels: {region: eu, cluster: not used}}
    dashboards: {source: grafana, token_env: GRAFANA_TOKEN}
    oncall: {source: pagerduty, secret_env: PAGERDUTY_SECRET}
    checks:
      source: generic
      mapping:
        alerts: checks
        title: '{{.check.name}} on {{.host}}'
        severity: state
        service: check.tags.app.kubernetes.io/name
        cluster: site
        team: '{{default "nobody" .group}}'
        fingerprint: id
        status: state
        resolved: [recovered]
        starts_at: since
        labels: check.tags
        links: {dashboard: urls.0}
        runbook: urls.1
`

// newSenders returns a server that all senders deliver to.
func newSenders(t *testing.T) *tarsytest.App {
	t.Helper()

	app := tarsytest.New(t, tarsytest.Options{Config: senders, RequireKey: true, Env: map[string]string{
		"RECEIVER_TOKEN": receiverToken, "GRAFANA_TOKEN": grafanaToken, "PAGERDUTY_SECRET": pagerDutySecret,
	}})
	app.Token = app.Key("viewer", tarsy.ScopeWrite)

	return app
}

// signed returns the header with PagerDuty's signature of a body.
func signed(body []byte) []string {
	mac := hmac.New(sha256.New, []byte(pagerDutySecret))
	mac.Write(body)

	return []string{"X-PagerDuty-Signature", "v1=" + hex.EncodeToString(mac.Sum(nil))}
}

// payload returns a body with the fields that the sender documents.
func payload(t *testing.T, source string) []byte {
	t.Helper()

	body, err := os.ReadFile("../internal/alert/testdata/" + source + ".json")
	require.NoError(t, err)

	return body
}

// The documented body of each sender becomes a session with the facts of the alert, and agents read the alert. The session
// shows that the alert is resolved.
func TestAlertOfEachSenderIsInvestigated(t *testing.T) {
	t.Parallel()

	app := newSenders(t)
	modelAnswers(app, nil)

	anonymous := *app
	anonymous.Token = ""

	bearer := func(token string) func([]byte) []string {
		return func([]byte) []string { return []string{"Authorization", "Bearer " + token} }
	}

	for _, sender := range []struct {
		source, receiver string
		headers          func(body []byte) []string
		// over is how many alerts of the body are resolved; ends changes the body into one in which all are.
		over   int
		ends   *strings.Replacer
		author string
	}{
		{"alertmanager", "cluster", bearer(receiverToken), 1, strings.NewReplacer(`"firing"`, `"resolved"`), "webhook:cluster"},
		{"grafana", "dashboards", bearer(grafanaToken), 0, strings.NewReplacer(`"firing"`, `"resolved"`), "webhook:dashboards"},
		{
			"pagerduty", "oncall", signed, 0,
			strings.NewReplacer("01EVENTTRIGGERED", "01EVENTRESOLVED", "incident.triggered", "incident.resolved", `"triggered"`, `"resolved"`), "webhook:oncall",
		},
		{"generic", "checks", bearer(app.Token), 1, strings.NewReplacer("CRIT", "Recovered"), "viewer"},
	} {
		t.Run(sender.source, func(t *testing.T) {
			body, address := payload(t, sender.source), sender.source+"/"+sender.receiver
			result := anonymous.Deliver(address, body, sender.headers(body)...)
			require.False(t, result.Repeated)
			require.Len(t, result.Alerts, 1+sender.over)
			require.Equal(t, tarsy.ActionInvestigate, result.Alerts[0].Action, result.Alerts[0].Reason)

			session := app.WaitFor(*result.Alerts[0].SessionID, tarsy.SessionCompleted)
			require.Equal(t, sender.author, session.Author)
			require.Equal(t, "test", session.ChainID)
			require.Contains(t, prompts(app, session.ID), session.AlertData)
			require.Contains(t, session.AlertData, firstWords(session.Title))
			tarsytest.Golden(t, "webhook/"+sender.source+".json", indented(t, session.AlertFacts))

			// The list shows the same, and a resolved alert has no session.
			listed := app.Sessions(url.Values{"fingerprint": {session.Fingerprint}}.Encode())
			require.Len(t, listed, 1)
			require.Equal(t, session.AlertFacts, listed[0].AlertFacts)

			before := app.Suppressed("")
			for _, ended := range result.Alerts[1:] {
				require.Equal(t, tarsy.ActionResolve, ended.Action)
				require.Nil(t, ended.SessionID)
				require.True(t, slices.ContainsFunc(before, func(a tarsy.SuppressedAlert) bool {
					return a.ID == *ended.SuppressedID && a.Reason == tarsy.SuppressedResolved && a.Title == ended.Title
				}))
			}

			again := anonymous.Deliver(address, body, sender.headers(body)...)
			require.True(t, again.Repeated)
			require.Equal(t, result.Alerts, again.Alerts)
			require.Equal(t, session.Alert, app.Session(session.ID).Alert, "a repeated delivery is not counted")
			require.Equal(t, before, app.Suppressed(""))

			// Its resolution finds the session.
			ended := []byte(sender.ends.Replace(string(body)))
			end := anonymous.Deliver(address, ended, sender.headers(ended)...)
			require.Equal(t, tarsy.ActionResolve, end.Alerts[0].Action)
			require.Equal(t, &session.ID, end.Alerts[0].SessionID)
			require.False(t, app.Session(session.ID).Alert.Firing)
			require.NotNil(t, app.Session(session.ID).Alert.ResolvedAt)
		})
	}

	require.Len(t, app.Sessions(""), 4)
}

// firstWords returns the beginning of a title: a template may have made the rest.
func firstWords(title string) string {
	first, _, _ := strings.Cut(title, " on ")

	return first
}

// A sender that knows only the endpoint for alerts can post its body there.
func TestAlertsEndpointInvestigatesBodiesOfSenders(t *testing.T) {
	t.Parallel()

	app := newSenders(t)
	modelAnswers(app, nil)

	for source, title := range map[string]string{"alertmanager": "Pod is crash looping.", "grafana": "Checkout is slow in eu-1"} {
		resp := app.Do(http.MethodPost, "/api/v1/alerts", payload(t, source))
		require.Equal(t, http.StatusAccepted, resp.Status, "%s", resp.Body)

		var answer struct {
			SessionID string                 `json:"session_id"`
			Alerts    []tarsy.DeliveredAlert `json:"alerts"`
		}

		resp.Decode(t, &answer)
		require.Equal(t, answer.SessionID, *answer.Alerts[0].SessionID)

		session := app.WaitFor(answer.SessionID, tarsy.SessionCompleted)
		require.Equal(t, title, session.Title)
		require.Equal(t, tarsy.AlertSource(source), session.Source)
		require.Equal(t, "default", session.Receiver)
		require.Equal(t, "viewer", session.Author)
		require.Contains(t, prompts(app, session.ID), session.AlertData)

		// The receiver of this sender recognizes it as the same delivery.
		require.True(t, app.Deliver(source+"/default", payload(t, source)).Repeated)
	}

	require.Len(t, app.Sessions(""), 2)
}
