package alert_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

func read(source, body string) (tarsy.Delivery, error) {
	return alert.Read(config.Receiver{Name: "default", Source: source}, []byte(body), config.AlertFields{}, nil)
}

func TestBodiesThatCannotBeReadNameTheField(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		source, body, field string
		code                tarsy.Code
	}{
		{"alertmanager", ``, "", tarsy.CodeInvalidJSON},
		{"alertmanager", `{`, "", tarsy.CodeInvalidJSON},
		{"alertmanager", `[]`, "", tarsy.CodeInvalidField},
		{"alertmanager", `"text"`, "", tarsy.CodeInvalidField},
		{"alertmanager", `{"version": "4"}`, "alerts", tarsy.CodeMissingField},
		{"alertmanager", `{"version": "4", "alerts": null}`, "alerts", tarsy.CodeMissingField},
		{"alertmanager", `{"version": "4", "alerts": {}}`, "alerts", tarsy.CodeInvalidField},
		{"alertmanager", `{"version": "3", "alerts": []}`, "version", tarsy.CodeInvalidField},
		{"alertmanager", `{"version": "4", "alerts": ["x"]}`, "alerts", tarsy.CodeInvalidField},
		{"grafana", `{"status": "firing"}`, "alerts", tarsy.CodeMissingField},
		{"pagerduty", `{}`, "event", tarsy.CodeMissingField},
		{"pagerduty", `{"event": {"event_type": "incident.triggered"}}`, "event.id", tarsy.CodeMissingField},
		{"pagerduty", `{"event": {"id": "1"}}`, "event.event_type", tarsy.CodeMissingField},
		{"pagerduty", `{"event": 1}`, "event", tarsy.CodeInvalidField},
		{"generic", `text`, "", tarsy.CodeInvalidJSON},
		{"generic", `{"a": 1} {"b": 2}`, "", tarsy.CodeInvalidJSON},
		{"generic", `"text"`, "", tarsy.CodeInvalidField},
		{"other", `{}`, "", tarsy.CodeNotFound},
	} {
		_, err := read(test.source, test.body)
		require.Equal(t, test.code, tarsy.CodeOf(err), "%s %s: %v", test.source, test.body, err)

		var shown *tarsy.Error
		require.ErrorAs(t, err, &shown)
		require.Equal(t, test.field, shown.Field, test.body)
		require.NotContains(t, shown.Message, "groupBody", "internals reach no user")
	}
}

func TestSendersMayChangeTypesWithoutLosingAlerts(t *testing.T) {
	t.Parallel()

	delivery, err := read("alertmanager", `{
		"version": 4, "groupKey": 666, "truncatedAlerts": "2", "commonLabels": [], "status": "resolved", "unknown": {"x": 1},
		"alerts": [{"labels": {"alertname": "A", "n": 1, "ok": true, "none": null, "deep": {"a": [1]}}, "annotations": null, "startsAt": "noon", "values": null}, {}, null]
	}`)
	require.NoError(t, err)
	require.Len(t, delivery.Alerts, 3)

	first := delivery.Alerts[0]
	require.True(t, first.Resolved, "the status of the group counts for alerts without one")
	require.Equal(t, map[string]string{"alertname": "A", "n": "1", "ok": "true", "deep": `{"a": [1]}`}, first.Facts.Labels)
	require.Nil(t, first.Facts.StartsAt)
	require.Contains(t, first.Data, `"truncated_alerts": 2`)

	require.Equal(t, "Untitled alert", delivery.Alerts[1].Facts.Title)
}

func TestPagerDutyEventsOtherThanStartAndEndAreNoAlerts(t *testing.T) {
	t.Parallel()

	body := string(testdata(t, "pagerduty"))
	r := config.Receiver{Name: "default", Source: "pagerduty"}

	triggered, err := read("pagerduty", body)
	require.NoError(t, err)

	for event, resolved := range map[string]bool{"incident.reopened": false, "incident.resolved": true} {
		delivery, err := read("pagerduty", strings.Replace(body, "incident.triggered", event, 1))
		require.NoError(t, err)
		require.Len(t, delivery.Alerts, 1, event)
		require.Equal(t, resolved, delivery.Alerts[0].Resolved, event)
		require.Equal(t, triggered.Alerts[0].Facts, delivery.Alerts[0].Facts, "the same problem")
	}

	for _, event := range []string{
		"incident.acknowledged", "incident.unacknowledged", "incident.annotated", "incident.delegated", "incident.escalated", "incident.priority_updated",
		"incident.reassigned", "incident.responder.added", "incident.responder.replied", "incident.status_update_published", "service.updated",
	} {
		other := strings.Replace(body, "incident.triggered", event, 1)
		delivery, err := read("pagerduty", other)
		require.NoError(t, err)
		require.Empty(t, delivery.Alerts, event)
		require.NotEmpty(t, delivery.Key)
		require.Contains(t, alert.Describe(r, []byte(other)), event)
	}

	ping := `{"event": {"id": "01PING", "event_type": "pagey.ping", "resource_type": "pagey", "occurred_at": "2026-11-16T10:00:00Z", "agent": null, "client": null,
		"data": {"message": "Hello", "type": "ping"}}}`
	delivery, err := read("pagerduty", ping)
	require.NoError(t, err)
	require.Empty(t, delivery.Alerts)
	require.Contains(t, alert.Describe(r, []byte(ping)), "tests the connection")

	require.Equal(t, "The delivery contains no alerts.", alert.Describe(config.Receiver{Source: "alertmanager"}, []byte(`{"alerts": []}`)))
}

func TestPagerDutyIncidentWithoutKeyIsIdentifiedByItsID(t *testing.T) {
	t.Parallel()

	delivery, err := read("pagerduty", `{"event": {"id": "1", "event_type": "incident.triggered", "data": {
		"id": "PINC", "incident_key": null, "title": "", "number": 7, "urgency": "low", "priority": null, "teams": null, "service": {"summary": "Mail"}}}}`)
	require.NoError(t, err)

	f := delivery.Alerts[0].Facts
	require.Equal(t, "pagerduty/default:PINC", f.Fingerprint)
	require.Equal(t, "PagerDuty incident 7 Mail", f.Title)
	require.Equal(t, tarsy.SeverityInfo, f.Severity, "of the urgency")

	delivery, err = read("pagerduty", `{"event": {"id": "1", "event_type": "incident.triggered", "data": "odd"}}`)
	require.NoError(t, err)
	require.Contains(t, delivery.Alerts[0].Data, "odd", "nothing is lost")
}

func TestRecognizeTellsDeliveriesFromAlerts(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		body string
		want tarsy.AlertSource
	}{
		{string(testdata(t, "alertmanager")), tarsy.SourceAlertmanager},
		{string(testdata(t, "grafana")), tarsy.SourceGrafana},
		{string(alert.Sample(tarsy.SourceAlertmanager, now)), tarsy.SourceAlertmanager},
		{string(alert.Sample(tarsy.SourceGrafana, now)), tarsy.SourceGrafana},
		{`{"groupKey": "x", "alerts": []}`, tarsy.SourceAlertmanager},
		{`{"commonLabels": {}, "alerts": [{"panelURL": ""}]}`, tarsy.SourceGrafana},
		{string(testdata(t, "pagerduty")), ""},
		{string(testdata(t, "generic")), ""},
		{`{"alert_type": "kubernetes", "data": "text"}`, ""},
		{`{"data": {"alerts": [], "groupKey": "x"}}`, ""},
		{`{"alerts": [], "data": "x"}`, ""},
		{`{"groupKey": "x", "alerts": null}`, ""},
		{`{"groupKey": "x", "alerts": ["x"]}`, ""},
		{`[]`, ""},
		{`text`, ""},
		{``, ""},
		{strings.Repeat(`{"alerts":`, 1000), ""},
	} {
		source, ok := alert.Recognize([]byte(test.body))
		require.Equal(t, test.want, source, "%.80s", test.body)
		require.Equal(t, test.want != "", ok)
	}
}
