package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/postgres"
)

const webhooks = "/api/v1/webhooks/"

// alertmanager returns an Alertmanager body with alerts of these names.
func alertmanager(status string, names ...string) string {
	var alerts []string
	for _, name := range names {
		alerts = append(alerts, fmt.Sprintf(`{"status": %q, "labels": {"alertname": %q, "severity": "critical", "namespace": %q},
			"annotations": {"summary": "%s fires"}, "startsAt": "2026-11-15T09:00:00Z", "endsAt": "0001-01-01T00:00:00Z",
			"generatorURL": "https://prometheus.example/graph", "fingerprint": "fp-%s"}`, status, name, name, name, name))
	}

	return fmt.Sprintf(`{"version": "4", "groupKey": "{}", "truncatedAlerts": 0, "status": %q, "receiver": "tarsy", "groupLabels": {},
		"commonLabels": {}, "commonAnnotations": {}, "externalURL": "https://alertmanager.example", "alerts": [%s]}`, status, strings.Join(alerts, ","))
}

// sessions returns how many sessions there are.
func (f *fixture) sessions(t *testing.T) int {
	t.Helper()

	all, err := f.db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 100, Order: tarsy.OrderNewest})
	require.NoError(t, err)

	return len(all)
}

func (f *fixture) delivered(t *testing.T, receiver, body string, headers ...string) tarsy.DeliveryResult {
	t.Helper()

	got := f.request(t, http.MethodPost, webhooks+receiver, body, headers...)
	require.Equal(t, http.StatusOK, got.status, got.body)

	return decode[tarsy.DeliveryResult](t, got)
}

func TestReceiverTokenOpensOnlyItsReceiver(t *testing.T) {
	t.Parallel()

	for name, f := range map[string]*fixture{"with keys": newFixture(t, locked), "without keys": newFixture(t)} {
		a, b := []string{"Authorization", "Bearer token-of-team-a"}, []string{"Authorization", "Bearer token-of-team-b"}

		result := f.delivered(t, "alertmanager/team-a", alertmanager("firing", "A"), a...)
		require.Equal(t, tarsy.ActionInvestigate, result.Alerts[0].Action, name)

		session, err := f.db.SessionDetail(t.Context(), *result.Alerts[0].SessionID)
		require.NoError(t, err)
		require.Equal(t, "webhook:team-a", session.Author)
		require.Equal(t, "A fires", session.Title)
		require.Equal(t, tarsy.SourceAlertmanager, session.Source)
		require.Equal(t, "team-a", session.Receiver)

		for _, wrong := range [][]string{nil, b, {"Authorization", "Bearer "}, {"Authorization", "token-of-team-a"}} {
			f.requireProblem(t, f.request(t, http.MethodPost, webhooks+"alertmanager/team-a", alertmanager("firing", "B"), wrong...),
				http.StatusUnauthorized, tarsy.CodeUnauthenticated)
		}

		// A receiver whose variable is not set trusts no request, not even one with an empty token.
		f.requireProblem(t, f.request(t, http.MethodPost, webhooks+"alertmanager/unset", alertmanager("firing", "B"), "Authorization", "Bearer "),
			http.StatusUnauthorized, tarsy.CodeUnauthenticated)
		require.Equal(t, 1, f.sessions(t), name)
	}

	f := newFixture(t, locked)
	a := []string{"Authorization", "Bearer token-of-team-a"}

	for _, o := range f.operations(t) {
		if o.scope == "" {
			continue
		}

		body := ""
		if o.hasBody() {
			body = alertmanager("firing", "A")
		}

		got := f.request(t, o.method, o.path, body, a...)
		f.requireProblem(t, got, http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}

	f.requireProblem(t, f.request(t, http.MethodPost, webhooks+"alertmanager/default", alertmanager("firing", "A"), a...),
		http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	require.Zero(t, f.sessions(t))
}

func TestAPIKeyDeliversToAnyReceiver(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, write := f.key(t, "prometheus", tarsy.ScopeWrite)
	_, read := f.key(t, "viewer", tarsy.ScopeRead)

	result := f.delivered(t, "alertmanager/default", alertmanager("firing", "A"), write...)
	session, err := f.db.SessionDetail(t.Context(), *result.Alerts[0].SessionID)
	require.NoError(t, err)
	require.Equal(t, "prometheus", session.Author)

	f.delivered(t, "alertmanager/team-a", alertmanager("firing", "B"), write...)
	f.requireProblem(t, f.request(t, http.MethodPost, webhooks+"alertmanager/team-a", alertmanager("firing", "C"), read...), http.StatusForbidden, tarsy.CodeForbidden)

	for _, unknown := range []string{"alertmanager/nobody", "grafana/team-a", "nagios/default"} {
		f.requireProblem(t, f.request(t, http.MethodPost, webhooks+unknown, alertmanager("firing", "C"), write...), http.StatusNotFound, tarsy.CodeNotFound)
		f.requireProblem(t, f.request(t, http.MethodPost, webhooks+unknown, alertmanager("firing", "C")), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}

	listed := get[struct {
		Receivers []api.Receiver `json:"receivers"`
	}](t, f, "/api/v1/webhooks", read...).Receivers
	require.Len(t, listed, 7)
	require.Equal(t, "/api/v1/webhooks/alertmanager/default", listed[0].Path)
	require.Equal(t, api.AuthAPIKey, listed[0].Auth)
	require.Empty(t, listed[0].TokenEnv)
	require.Empty(t, listed[0].URL)
	require.Equal(t, api.AuthToken, listed[1].Auth)
	require.Equal(t, "TOKEN_A", listed[1].TokenEnv)
}

func TestSignatureOfPagerDutyIsVerified(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	body := alert.Sample(tarsy.SourcePagerDuty, f.clock.Now())
	header, err := alert.Sign(config.Receiver{Source: "pagerduty", Name: "oncall", SecretEnv: "PAGERDUTY_SECRET"}, inboxEnv, body)
	require.NoError(t, err)

	signature := header.Get("X-PagerDuty-Signature") //nolint:canonicalheader // as PagerDuty writes it
	require.NotEmpty(t, signature)

	for _, wrong := range []string{"", "v1=" + strings.Repeat("0", 64), "v1=", signature[:len(signature)-1]} {
		f.requireProblem(t, f.request(t, http.MethodPost, webhooks+"pagerduty/oncall", string(body), "X-PagerDuty-Signature", wrong),
			http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}

	f.requireProblem(t, f.request(t, http.MethodPost, webhooks+"pagerduty/oncall", string(body)+" ", "X-PagerDuty-Signature", signature),
		http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	require.Zero(t, f.sessions(t))

	result := f.delivered(t, "pagerduty/oncall", string(body), "X-PagerDuty-Signature", signature)
	require.Equal(t, tarsy.ActionInvestigate, result.Alerts[0].Action)
	require.Equal(t, 1, f.sessions(t))
}

func TestRepeatedDeliveryChangesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	first := f.delivered(t, "alertmanager/default", alertmanager("firing", "A", "B"))
	require.False(t, first.Repeated)

	session, err := f.db.SessionDetail(t.Context(), *first.Alerts[0].SessionID)
	require.NoError(t, err)
	require.Equal(t, "webhook:default", session.Author, "nobody has a key")
	require.Equal(t, 2, f.sessions(t))

	again := f.delivered(t, "alertmanager/default", alertmanager("firing", "A", "B"))
	require.True(t, again.Repeated)
	require.Equal(t, first.Alerts, again.Alerts)

	session, err = f.db.SessionDetail(t.Context(), *first.Alerts[0].SessionID)
	require.NoError(t, err)
	require.EqualValues(t, 1, session.Alert.Occurrences)

	empty := f.delivered(t, "alertmanager/default", alertmanager("firing"))
	require.Equal(t, tarsy.ActionIgnore, empty.Alerts[0].Action)
}

func TestBadDeliveriesAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	half := strings.TrimSuffix(alertmanager("firing", "A"), "]}") + `, 5]}`

	for _, c := range []struct {
		receiver, body string
		headers        []string
		status         int
		code           tarsy.Code
	}{
		{"alertmanager/default", "", nil, http.StatusBadRequest, ""},
		{"alertmanager/default", "{", nil, http.StatusBadRequest, tarsy.CodeInvalidJSON},
		{"alertmanager/default", "[]", nil, http.StatusBadRequest, ""},
		{"alertmanager/default", "{}", nil, http.StatusBadRequest, ""},
		{"alertmanager/default", half, nil, http.StatusBadRequest, ""},
		{"grafana/default", `{"alerts": "none"}`, nil, http.StatusBadRequest, ""},
		{"generic/status", `"text"`, nil, http.StatusBadRequest, ""},
		{"alertmanager/default", "x", []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType, tarsy.CodeUnsupportedMedia},
		{"alertmanager/default", `{"x": "` + strings.Repeat("x", 8<<20) + `"}`, nil, http.StatusRequestEntityTooLarge, tarsy.CodeTooLarge},
		{"alertmanager/default?x=1", alertmanager("firing", "A"), nil, http.StatusBadRequest, tarsy.CodeInvalidParameter},
	} {
		got := f.request(t, http.MethodPost, webhooks+c.receiver, c.body, c.headers...)
		require.Equal(t, c.status, got.status, "%s %.80s: %s", c.receiver, c.body, got.body)
		require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))

		if c.code != "" {
			f.requireProblem(t, got, c.status, c.code)
		}
	}

	require.Zero(t, f.sessions(t))
}

func TestOverloadedReceiverAnswers503(t *testing.T) {
	t.Parallel()

	f := newFixtureOn(t, postgres.Config{MaxConns: 4, MaxWaiting: 1})
	f.delivered(t, "alertmanager/default", alertmanager("firing", "A"))
	got := f.request(t, http.MethodPost, webhooks+"alertmanager/default", alertmanager("firing", "B"))
	f.requireProblem(t, got, http.StatusServiceUnavailable, tarsy.CodeOverloaded)
	require.NotEmpty(t, got.header.Get("Retry-After"))
	require.Equal(t, 1, f.sessions(t))
}

func TestAlertsEndpointRecognizesDeliveries(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	got := f.request(t, http.MethodPost, "/api/v1/alerts", alertmanager("firing", "A", "B"))
	require.Equal(t, http.StatusAccepted, got.status, got.body)

	type accepted struct {
		SessionID  string                 `json:"session_id"`
		Status     tarsy.SessionStatus    `json:"status"`
		Message    string                 `json:"message"`
		SessionURL string                 `json:"session_url"`
		Alerts     []tarsy.DeliveredAlert `json:"alerts"`
	}

	first := decode[accepted](t, got)
	require.Len(t, first.Alerts, 2)
	require.Equal(t, *first.Alerts[0].SessionID, first.SessionID)
	require.Equal(t, "/api/v1/sessions/"+first.SessionID, got.header.Get("Location"))
	require.Equal(t, tarsy.SessionPending, first.Status)
	require.Equal(t, "Alerts: 2 investigated.", first.Message)
	require.Equal(t, 2, f.sessions(t))

	grafana := f.request(t, http.MethodPost, "/api/v1/alerts", string(alert.Sample(tarsy.SourceGrafana, f.clock.Now())))
	require.Equal(t, http.StatusAccepted, grafana.status, grafana.body)
	require.Equal(t, 3, f.sessions(t))

	// With a fingerprint the same problem is counted, whatever the alert's text.
	one := decode[accepted](t, f.request(t, http.MethodPost, "/api/v1/alerts", `{"data": "disk is 90% full", "fingerprint": "disk-1"}`))
	two := decode[accepted](t, f.request(t, http.MethodPost, "/api/v1/alerts", `{"data": "disk is 91% full", "fingerprint": "disk-1"}`))
	require.Equal(t, one.SessionID, two.SessionID)
	require.Equal(t, tarsy.ActionInvestigate, one.Alerts[0].Action)
	require.Equal(t, tarsy.ActionCount, two.Alerts[0].Action)
	require.Equal(t, two.Alerts[0].Reason, two.Message)
	require.Equal(t, 4, f.sessions(t))

	session, err := f.db.SessionDetail(t.Context(), one.SessionID)
	require.NoError(t, err)
	require.Equal(t, "disk is 90% full", session.Title)
	require.EqualValues(t, 2, session.Alert.Occurrences)

	// The same request again is the same delivery.
	key := []string{"Idempotency-Key", "k1"}
	once := f.request(t, http.MethodPost, "/api/v1/alerts", `{"data": "x", "fingerprint": "x"}`, key...)
	twice := decode[accepted](t, f.request(t, http.MethodPost, "/api/v1/alerts", `{"data": "x", "fingerprint": "x"}`, key...))
	require.Equal(t, decode[accepted](t, once).SessionID, twice.SessionID)
	require.Contains(t, twice.Message, "received before")

	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/alerts", `{"data": "x", "fingerprint": "`+strings.Repeat("x", 1001)+`"}`),
		http.StatusBadRequest, tarsy.CodeInvalidField)
	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/alerts", `{"data": "x", "fingerprint": 5}`), http.StatusBadRequest, tarsy.CodeInvalidField)
}

func TestAlertsEndpointTakesDeliveriesAsLargeAsWebhooksDo(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	sized := func(size int) string {
		return strings.Replace(alertmanager("firing", "A", "B"), `"summary"`, `"description": "`+strings.Repeat("x", size)+`", "summary"`, 1)
	}

	for i, path := range []string{"/api/v1/alerts", webhooks + "alertmanager/default"} {
		got := f.request(t, http.MethodPost, path, sized(2*tarsy.MaxAlertBytes+i))
		require.Less(t, got.status, http.StatusMultipleChoices, got.body)
		require.Equal(t, 2, f.sessions(t))

		got = f.request(t, http.MethodPost, path, sized(8<<20))
		f.requireProblem(t, got, http.StatusRequestEntityTooLarge, tarsy.CodeTooLarge)
	}

	// A body that is not a delivery keeps the limit of one alert.
	got := f.request(t, http.MethodPost, "/api/v1/alerts", `{"data": {"alerts": "`+strings.Repeat("x", tarsy.MaxAlertBytes)+`"}}`)
	f.requireProblem(t, got, http.StatusRequestEntityTooLarge, tarsy.CodeTooLarge)
	require.Contains(t, got.body, "1048576")
	require.Equal(t, 2, f.sessions(t))
}
