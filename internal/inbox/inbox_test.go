package inbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestAlertWithoutIdentityIsInvestigatedEachTime(t *testing.T) {
	t.Parallel()

	f := newFixture(t, "")
	text := tarsy.Alert{Data: "the disk is full\nvery full", Author: "ana"}
	require.False(t, f.Identifies(text))

	first, second := f.submit(t, text), f.submit(t, text)
	require.NotEqual(t, first.ID, second.ID)
	require.Equal(t, "the disk is full", first.Title)
	require.NotEmpty(t, first.Fingerprint, "facts are derived all the same")
	require.Equal(t, tarsy.SourceAPI, first.Source)
	require.Nil(t, first.Alert, "nothing is counted on it")
	require.Empty(t, first.GroupKey)
}

func TestAlertWithFingerprintIsCounted(t *testing.T) {
	t.Parallel()

	f := newFixture(t, "")
	first := f.submit(t, tarsy.Alert{Data: "disk at 90%", Facts: tarsy.AlertFacts{Fingerprint: "disk-1"}})
	again := f.submit(t, tarsy.Alert{Data: "disk at 91%", Facts: tarsy.AlertFacts{Fingerprint: "disk-1"}})
	other := f.submit(t, tarsy.Alert{Data: "disk at 90%", Facts: tarsy.AlertFacts{Fingerprint: "disk-2"}})

	require.Equal(t, first.ID, again.ID)
	require.EqualValues(t, 2, again.Alert.Occurrences)
	require.NotEqual(t, first.ID, other.ID)
}

func TestAlertThatNoSessionCountsIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()

	f := newFixture(t, "")
	_, err := f.desk.AddSilence(t.Context(), tarsy.Silence{
		Matchers: []string{"service=db"}, Reason: "load test", Author: "ana", EndsAt: time.Date(2026, 11, 16, 13, 0, 0, 0, time.UTC),
	})
	require.NoError(t, err)

	_, err = f.Submit(t.Context(), tarsy.Alert{Data: `{"service": "db"}`, Facts: tarsy.AlertFacts{Fingerprint: "x"}})
	require.Equal(t, tarsy.CodeConflict, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "load test")
	require.Zero(t, f.sessions(t))
}

func TestRepeatedRequestWithItsIdempotencyKeyChangesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t, "")
	a := tarsy.Alert{
		Data: "x", Facts: tarsy.AlertFacts{Fingerprint: "x"}, Idempotency: &tarsy.IdempotencyKey{Hash: []byte("key"), Fingerprint: []byte("request")},
	}

	first, err := f.Accept(t.Context(), a)
	require.NoError(t, err)
	again, err := f.Accept(t.Context(), a)
	require.NoError(t, err)

	require.False(t, first.Repeated)
	require.True(t, again.Repeated)
	require.EqualValues(t, 1, f.session(t, *again.Alerts[0].SessionID).Alert.Occurrences)
}

func TestRerunIsNeitherCountedNorRoutedAgain(t *testing.T) {
	t.Parallel()

	f := newFixture(t, `
alerts:
  deduplicate: {text: true}
  routes:
    - {match: [severity="critical"], severity: info, team: first, chain: payments}
    - {match: [severity="info"], team: second}
`)
	first := f.submit(t, tarsy.Alert{Data: `{"severity": "critical", "service": "db"}`})
	require.Equal(t, []string{"info", "first", "payments"}, []string{string(first.Severity), first.Team, first.ChainID})

	again := f.submit(t, first.Session.Rerun("ana"))
	require.NotEqual(t, first.ID, again.ID)
	require.Equal(t, []string{"info", "first"}, []string{string(again.Severity), again.Team}, "the second route is not applied")
	require.Equal(t, first.ID, *again.RerunOf)
	require.EqualValues(t, 1, f.session(t, first.ID).Alert.Occurrences)
}

func TestRunbookLinkIsUsedIfItsHostIsAllowed(t *testing.T) {
	t.Parallel()

	f := newFixture(t, "alerts: {routes: [{match: [service=routed], runbook: Look at the ledger.}]}")

	for name, c := range map[string]struct {
		alert    tarsy.Alert
		url, own string
	}{
		"allowed":      {alert: tarsy.Alert{Data: `{"runbook_url": "https://runbooks.example/a"}`}, url: "https://runbooks.example/a"},
		"not allowed":  {alert: tarsy.Alert{Data: `{"runbook_url": "https://evil.example/a"}`}},
		"own runbook":  {alert: tarsy.Alert{Data: `{"runbook_url": "https://runbooks.example/a"}`, Runbook: "Mine."}, own: "Mine."},
		"own address":  {alert: tarsy.Alert{Data: `{"runbook_url": "https://runbooks.example/a"}`, RunbookURL: "https://runbooks.example/b"}, url: "https://runbooks.example/b"},
		"of the route": {alert: tarsy.Alert{Data: `{"service": "routed", "runbook_url": "https://runbooks.example/a"}`}, own: "Look at the ledger."},
	} {
		session := f.submit(t, c.alert)
		require.Equal(t, c.url, session.RunbookURL, name)
		require.Len(t, session.Links, 1, "%s: the link stays", name)

		if c.own != "" {
			require.Equal(t, c.own, session.Runbook, name)
		}
	}
}

func TestBodiesWithoutAlertsAreIgnoredWithTheReason(t *testing.T) {
	t.Parallel()

	f := newFixture(t, "alerts: {receivers: {oncall: {source: pagerduty, secret_env: SECRET}}}")

	for body, reason := range map[string]string{
		`{"event": {"id": "1", "event_type": "incident.acknowledged", "data": {"id": "I"}}}`: "PagerDuty reports incident.acknowledged, which neither starts nor ends an incident.",
		`{"event": {"id": "2", "event_type": "pagey.ping", "data": {}}}`:                     "PagerDuty tests the connection (pagey.ping).",
	} {
		result, err := f.Deliver(t.Context(), "pagerduty", "oncall", "ana", []byte(body))
		require.NoError(t, err)
		require.Equal(t, tarsy.DeliveryResult{Alerts: []tarsy.DeliveredAlert{{Action: tarsy.ActionIgnore, Reason: reason}}}, result)
	}

	result, err := f.Deliver(t.Context(), "alertmanager", "default", "ana", []byte(`{"version": "4", "status": "firing", "alerts": []}`))
	require.NoError(t, err)
	require.Equal(t, "The delivery contains no alerts.", result.Alerts[0].Reason)

	_, err = f.Deliver(t.Context(), "alertmanager", "nope", "ana", []byte(`{}`))
	require.Equal(t, tarsy.CodeNotFound, tarsy.CodeOf(err))

	_, err = f.Deliver(t.Context(), "alertmanager", "default", "ana", []byte(`{`))
	require.Equal(t, tarsy.CodeInvalidJSON, tarsy.CodeOf(err))

	require.False(t, f.Trusts(t.Context(), "pagerduty", "nope", http.Header{}, nil))
	require.False(t, f.Trusts(t.Context(), "pagerduty", "oncall", http.Header{}, nil), "its variable is not set")
	require.Zero(t, f.sessions(t))
}
