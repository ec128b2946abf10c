package alert_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

func TestDatadogBodiesBecomeAlertsAsReviewed(t *testing.T) {
	t.Parallel()

	requireReviewed(t, "datadog", "datadog")
	requireReviewed(t, "datadog", "datadog_default")
	requireSample(t, tarsy.SourceDatadog)
}

func TestDatadogPayloadHasTheFactsOfTheAlert(t *testing.T) {
	t.Parallel()

	f := readOne(t, "datadog", string(testdata(t, "datadog"))).Facts
	require.Equal(t, "CPU of the shop is high (host:web-1,region:eu-west-1)", f.Title)
	require.Equal(t, tarsy.SeverityHigh, f.Severity, "P2")
	require.Equal(t, []string{"shop", "shop", "shop-eu", "platform"}, []string{f.Service, f.Namespace, f.Cluster, f.Team})
	require.Equal(t, "datadog/default:148275309 host:web-1,region:eu-west-1", f.Fingerprint)
	require.Equal(t, []tarsy.AlertLink{{Kind: tarsy.LinkGenerator, URL: "https://app.datadoghq.com/event/event?id=7716548234011234567"}}, f.Links)
	require.Equal(t, "2026-11-16T10:02:06Z", f.StartsAt.Format(time.RFC3339))

	for name, value := range map[string]string{
		"env": "production", "environment": "production", "host": "web-1", "region": "eu-west-1", "security-group": "sg-1", "metric": "system.cpu.user", "priority": "P2",
	} {
		require.Equal(t, value, f.Labels[name], name)
	}

	require.NotContains(t, f.Labels, "monitor", "a tag without a value is no label")
}

func TestDatadogTransitionsFireAndEndTheSameAlert(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"datadog", "datadog_default"} {
		body := string(testdata(t, name))
		triggered := readOne(t, "datadog", body)

		for transition, want := range map[string]struct{ resolved, starts bool }{
			"Triggered": {false, true}, "Warn": {false, true}, "No Data": {false, true},
			"Re-Triggered": {false, false}, "Re-Warn": {false, false}, "Re-No Data": {false, false}, "Renotify": {false, false}, "Recovered": {true, false},
		} {
			got := readOne(t, "datadog", strings.ReplaceAll(body, "Triggered", transition))
			require.Equal(t, want.resolved, got.Resolved, transition)
			require.Equal(t, want.starts, got.Facts.StartsAt != nil, transition)
			require.Equal(t, triggered.Facts.Fingerprint, got.Facts.Fingerprint, transition)
			require.Equal(t, triggered.Facts.Title, got.Facts.Title, transition)
			require.Equal(t, triggered.Facts.Labels, got.Facts.Labels, transition)
		}
	}
}

func TestDatadogDefaultPayloadIsReadByItsTitle(t *testing.T) {
	t.Parallel()

	body := string(testdata(t, "datadog_default"))

	f := readOne(t, "datadog", body).Facts
	require.Equal(t, "CPU of the shop is high (host:web-1,service:shop)", f.Title)
	require.Equal(t, tarsy.SeverityCritical, f.Severity, "P1")
	require.Equal(t, "shop", f.Service)
	require.Equal(t, "web-1", f.Labels["host"])

	other := readOne(t, "datadog", strings.ReplaceAll(body, "web-1", "web-2")).Facts
	require.NotEqual(t, f.Fingerprint, other.Fingerprint, "another group")

	for title, want := range map[string]string{
		"[TEST] [P1] [Warn] Queue grows": "Queue grows",
		"[Synthetics] Checkout":          "[Synthetics] Checkout",
		"[Triggered]":                    "[Triggered]",
		"[No Data on {host:a}] [b] c":    "[b] c (host:a)",
	} {
		got := readOne(t, "datadog", `{"title": "`+title+`", "event_type": "x"}`)
		require.Equal(t, want, got.Facts.Title)
	}
}

func TestDatadogFingerprintIsTheMonitorAndItsGroup(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]string{
		`{"alert_title": "A", "alert_id": "1", "alert_scope": "host:a", "alert_cycle_key": "9"}`:                      "1 host:a",
		`{"alert_title": "A", "alert_id": 1, "alert_scope": "", "alert_cycle_key": "9"}`:                              "9",
		`{"alert_title": "A", "alert_id": "$ALERT_ID", "alert_scope": "$ALERT_SCOPE", "aggreg_key": "8"}`:             "8",
		`{"alert_title": "[Recovered on {host:a}] A", "alert_id": "1", "alert_scope": "null", "alert_cycle_key": ""}`: "1 host:a",
		`{"alert_title": "A", "alert_id": "1"}`:                                                                       "1 A",
	} {
		require.Equal(t, "datadog/default:"+want, readOne(t, "datadog", body).Facts.Fingerprint, body)
	}

	require.Contains(t, readOne(t, "datadog", `{"alert_title": "A"}`).Facts.Fingerprint, "datadog/default:labels:")
}

func TestDatadogSeverityIsThePriorityThenTheTransition(t *testing.T) {
	t.Parallel()

	for fields, want := range map[string]tarsy.Severity{
		`"alert_priority": "P1", "alert_type": "warning"`:                               tarsy.SeverityCritical,
		`"alert_priority": "P3", "alert_type": "error"`:                                 tarsy.SeverityWarning,
		`"alert_priority": "P5", "tags": "severity:critical"`:                           tarsy.SeverityInfo,
		`"priority": "low", "alert_type": "error"`:                                      tarsy.SeverityHigh, // not an event's priority
		`"alert_priority": "$ALERT_PRIORITY", "tags": "severity:critical"`:              tarsy.SeverityCritical,
		`"alert_type": "error", "tags": "severity:critical"`:                            tarsy.SeverityCritical,
		`"alert_transition": "Re-Warn", "alert_type": "error"`:                          tarsy.SeverityWarning,
		`"alert_transition": "Triggered", "alert_type": "error", "tags": "priority:p4"`: tarsy.SeverityHigh,
		`"alert_transition": "Recovered", "alert_type": "success"`:                      tarsy.SeverityUnknown,
	} {
		require.Equal(t, want, readOne(t, "datadog", `{"alert_title": "A", `+fields+`}`).Facts.Severity, fields)
	}
}

func TestDatadogEventsWithoutTransitionAreReadByTheirType(t *testing.T) {
	t.Parallel()

	r := config.Receiver{Name: "default", Source: "datadog"}

	for _, kind := range []string{"info", "user_update", "recommendation", "snapshot"} {
		body := `{"alert_title": "Deployed", "alert_type": "` + kind + `", "alert_transition": "Null"}`
		delivery, err := read("datadog", body)
		require.NoError(t, err)
		require.Empty(t, delivery.Alerts, kind)
		require.Equal(t, "Datadog reports an event of type "+kind+", which neither starts nor ends an alert.", alert.Describe(r, []byte(body)))
	}

	acknowledged := `{"alert_title": "A", "alert_transition": "Acknowledged\n\u202e", "alert_type": "error"}`
	require.Equal(t, "Datadog reports Acknowledged, which neither starts nor ends an alert.", alert.Describe(r, []byte(acknowledged)))

	for body, resolved := range map[string]bool{
		`{"alert_title": "A", "alert_type": "error"}`:                               false,
		`{"alert_title": "A", "alert_type": "success"}`:                             true,
		`{"alert_title": "A", "alert_status": "OK"}`:                                true,
		`{"alert_title": "A"}`:                                                      false,
		`{"alert_title": "A", "alert_status": "OK", "alert_transition": "No Data"}`: false,
	} {
		require.Equal(t, resolved, readOne(t, "datadog", body).Resolved, body)
	}

	require.Nil(t, readOne(t, "datadog", `{"alert_title": "A", "alert_type": "success", "date": "1794823326000"}`).Facts.StartsAt)
	require.NotNil(t, readOne(t, "datadog", `{"alert_title": "A", "alert_type": "error", "date": "1794823326000"}`).Facts.StartsAt)
}

func TestBodiesThatAreNotOfDatadogNameTheField(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]struct {
		field string
		code  tarsy.Code
	}{
		``:                               {"", tarsy.CodeInvalidJSON},
		`[]`:                             {"", tarsy.CodeInvalidField},
		`null`:                           {"alert_title", tarsy.CodeMissingField},
		`{}`:                             {"alert_title", tarsy.CodeMissingField},
		`{"alert_title": "$EVENT_NAME"}`: {"alert_title", tarsy.CodeMissingField},
		`{"alert_title": {"a": 1}}`:      {"alert_title", tarsy.CodeMissingField},
		strings.Repeat(`{"a":`, 101) + `1` + strings.Repeat(`}`, 101): {"", tarsy.CodeInvalidJSON},
	} {
		_, err := read("datadog", body)

		var shown *tarsy.Error
		require.ErrorAs(t, err, &shown, body)
		require.Equal(t, want.code, shown.Code, body)
		require.Equal(t, want.field, shown.Field, body)
	}
}

func TestHostileDatadogBodiesBecomeBoundedAlerts(t *testing.T) {
	t.Parallel()

	odd := []string{
		`null`, `1`, `true`, `""`, `[]`, `{}`, `"text"`, `"a\u0000b\nc:d\u202e,:,::,a:"`, `"javascript:alert(1)"`, `"` + strings.Repeat("é", 5_000) + `"`,
		`"` + strings.Repeat("tag:value,", 5_000) + `"`, `"` + strings.Repeat("[Triggered on {", 5_000) + `"`, strings.Repeat("[", 90) + strings.Repeat("]", 90),
	}
	for _, body := range hostile() {
		odd = append(odd, body)
	}

	for _, value := range odd {
		fields := ``
		for _, name := range []string{
			"alert_id", "alert_scope", "alert_cycle_key", "alert_transition", "alert_type", "alert_priority", "alert_status", "alert_metric", "hostname", "tags", "link", "snapshot",
			"date", "org", "org_name", "body",
		} {
			fields += `, "` + name + `": ` + value
		}

		readOne(t, "datadog", `{"alert_title": "A"`+fields+`}`)

		_, _ = read("datadog", value)
		if delivery, err := read("datadog", `{"alert_title": `+value+fields+`}`); err == nil {
			for _, a := range delivery.Alerts {
				requireBounded(t, a)
				requireReadable(t, a)
			}
		}
	}
}

// The payload given to users, with every variable substituted, is read with all of its facts.
func TestConnectDatadogShowsPayloadThatIsRead(t *testing.T) {
	t.Parallel()

	source, ok := alert.Find(tarsy.SourceDatadog)
	require.True(t, ok)

	const url = "https://tarsy.example.com/api/v1/webhooks/datadog/default"

	text := source.Connect(alert.Endpoint{Source: "datadog", Name: "default", URL: url, TokenEnv: "DATADOG_TOKEN"})
	require.Contains(t, text, url)
	require.Contains(t, text, `{"Authorization": "Bearer TARSY_TOKEN"}`)
	require.Contains(t, text, "the value of DATADOG_TOKEN on the server")

	_, payload, ok := strings.Cut(text, "encode as form):\n")
	require.True(t, ok)

	var fields, example map[string]string
	require.NoError(t, json.Unmarshal([]byte(payload), &fields))
	require.NoError(t, json.Unmarshal(testdata(t, "datadog"), &example))
	require.Len(t, example, len(fields), "testdata is this payload")

	for name, variable := range fields {
		require.Regexp(t, `^\$[A-Z_]+$`, variable)
		require.Contains(t, example, name)
		payload = strings.Replace(payload, `"`+variable+`"`, `"`+strings.ReplaceAll(example[name], "\n", `\n`)+`"`, 1)
	}

	require.JSONEq(t, string(testdata(t, "datadog")), payload)

	text = source.Connect(alert.Endpoint{Source: "datadog", Name: "default", URL: url, SecretEnv: "S"})
	require.Contains(t, text, "Datadog does not sign")
	require.Contains(t, text, "tarsy keys create datadog")
}
