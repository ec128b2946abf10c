package alert_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/golden"
)

// readOne reads a body with exactly one alert.
func readOne(t *testing.T, source, body string) tarsy.Alert {
	t.Helper()

	delivery, err := read(source, body)
	require.NoError(t, err, body)
	require.Len(t, delivery.Alerts, 1, body)
	requireBounded(t, delivery.Alerts[0])
	requireReadable(t, delivery.Alerts[0])

	return delivery.Alerts[0]
}

// requireReviewed compares the alert in a testdata file with its golden file.
func requireReviewed(t *testing.T, source, name string) {
	t.Helper()

	r := config.Receiver{Name: "default", Source: source, AlertType: "kubernetes", Labels: map[string]string{"cluster": "added", "region": "eu"}}
	delivery, err := alert.Read(r, testdata(t, name), config.AlertFields{}, nil)
	require.NoError(t, err)
	golden.Compare(t, name+".txt", show(t, delivery))
}

// requireSample checks the invariants of every source's sample.
func requireSample(t *testing.T, source tarsy.AlertSource) {
	t.Helper()

	body := alert.Sample(source, now)
	require.NotEmpty(t, body)

	got := readOne(t, string(source), string(body))
	require.False(t, got.Resolved)
	require.Contains(t, got.Facts.Title, "from tarsy webhooks test")
	require.Equal(t, tarsy.SeverityInfo, got.Facts.Severity)
	require.Equal(t, now.Add(-5*time.Minute), *got.Facts.StartsAt)
	require.Equal(t, "example", got.Facts.Service)
	require.NotEmpty(t, got.Facts.Links)

	later := readOne(t, string(source), string(alert.Sample(source, now.Add(time.Hour))))
	require.Equal(t, got.Facts.Fingerprint, later.Facts.Fingerprint)
}

func TestSentryBodiesBecomeAlertsAsReviewed(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"sentry", "sentry_issue", "sentry_metric_alert", "sentry_plugin"} {
		requireReviewed(t, "sentry", name)
	}

	requireSample(t, tarsy.SourceSentry)
}

func TestSentryAlertRuleIssueAndPluginReportTheSameAlert(t *testing.T) {
	t.Parallel()

	event := readOne(t, "sentry", string(testdata(t, "sentry"))).Facts
	require.Equal(t, "sentry/default:1117540176", event.Fingerprint)
	require.Equal(t, "TimeoutError: payment gateway did not answer", event.Title)
	require.Equal(t, tarsy.SeverityHigh, event.Severity)
	require.Equal(t, []string{"payments", "shop", "production"}, []string{event.Service, event.Namespace, event.Cluster})
	require.Equal(t, "2026-11-16T10:02:05Z", event.StartsAt.Format(time.RFC3339))
	require.Contains(t, event.Links, tarsy.AlertLink{
		Kind: tarsy.LinkIncident, URL: "https://sentry.io/organizations/example/issues/1117540176/events/e4874d664c3540c1a32eab185f12c5ab/",
	})
	require.Contains(t, event.Links, tarsy.AlertLink{Kind: tarsy.LinkRunbook, URL: "https://runbooks.example.com/payments"})
	require.Equal(t, "payments-7d9f", event.Labels["server_name"])
	require.Equal(t, "Errors of payments", event.Labels["rule"])

	issue := readOne(t, "sentry", string(testdata(t, "sentry_issue"))).Facts
	require.Equal(t, event.Fingerprint, issue.Fingerprint)
	require.Equal(t, event.Service, issue.Service)
	require.Equal(t, tarsy.SeverityCritical, issue.Severity, "fatal")
	require.Equal(t, "PAYMENTS-7", issue.Labels["issue"])

	plugin := readOne(t, "sentry", string(testdata(t, "sentry_plugin"))).Facts
	require.Equal(t, event.Fingerprint, plugin.Fingerprint)
	require.Equal(t, event.Title, plugin.Title)
	require.Equal(t, event.Service, plugin.Service)
	require.Equal(t, event.StartsAt, plugin.StartsAt)
	require.Equal(t, "production", plugin.Labels["environment"])
}

func TestTagsOfSentryDoNotChooseTheTeam(t *testing.T) {
	t.Parallel()

	got := readOne(t, "sentry", `{"action": "triggered", "data": {"event": {"issue_id": "1", "title": "T", "tags": [["team", "payments"], ["owner", "a"], ["squad", "b"], ["browser", "Firefox"]]}}}`)
	require.Equal(t, "Firefox", got.Facts.Labels["browser"])
	require.Empty(t, got.Facts.Team)
}

func TestSentryIssuesFireAndEnd(t *testing.T) {
	t.Parallel()

	body := string(testdata(t, "sentry_issue"))
	created := readOne(t, "sentry", body)

	for action, resolved := range map[string]bool{"unresolved": false, "resolved": true, "archived": true, "ignored": true} {
		got := readOne(t, "sentry", strings.Replace(body, `"created"`, `"`+action+`"`, 1))
		require.Equal(t, resolved, got.Resolved, action)
		require.Equal(t, created.Facts.Fingerprint, got.Facts.Fingerprint, action)
		require.Contains(t, got.Data, `"event": "issue.`+action+`"`)
	}

	require.Equal(t, "10:02:05", created.Facts.StartsAt.Format(time.TimeOnly))
	back := readOne(t, "sentry", strings.Replace(body, `"created"`, `"unresolved"`, 1))
	require.Equal(t, "10:05:00", back.Facts.StartsAt.Format(time.TimeOnly), "when it came back")
}

func TestSentryMetricAlertsFireAndEnd(t *testing.T) {
	t.Parallel()

	body := string(testdata(t, "sentry_metric_alert"))

	for action, want := range map[string]struct {
		resolved bool
		severity tarsy.Severity
	}{
		"critical": {false, tarsy.SeverityCritical}, "warning": {false, tarsy.SeverityWarning}, "open": {false, ""}, "resolved": {true, ""},
	} {
		got := readOne(t, "sentry", strings.ReplaceAll(strings.Replace(body, `"critical"`, `"`+action+`"`, 1), "Critical: ", action+": "))
		require.Equal(t, want.resolved, got.Resolved, action)
		require.Equal(t, want.severity, got.Facts.Severity, action)
		require.Equal(t, "sentry/default:metric_alert:12", got.Facts.Fingerprint, action)
		require.Equal(t, "Too many errors", got.Facts.Title, action)
		require.Equal(t, []string{"payments", "production"}, []string{got.Facts.Service, got.Facts.Cluster})
		require.Equal(t, "2026-11-16T10:00:00Z", got.Facts.StartsAt.Format(time.RFC3339))
		require.Equal(t, []tarsy.AlertLink{{Kind: tarsy.LinkIncident, URL: "https://sentry.io/organizations/example/alerts/rules/details/7/?alert=12"}}, got.Facts.Links)
		require.Contains(t, got.Data, "1000 events in the last 10 minutes")
	}
}

func TestOtherSentryEventsAreIgnored(t *testing.T) {
	t.Parallel()

	r := config.Receiver{Name: "default", Source: "sentry"}

	for body, want := range map[string]string{
		`{"action": "assigned", "data": {"issue": {"id": "1"}}}`:                                           "issue.assigned",
		`{"action": "triggered", "data": {"issue": {"id": "1"}, "activity": {"type": "seer_pr_created"}}}`: "activity_alert.triggered",
		`{"action": "created", "data": {"error": {"issue_id": "1"}}}`:                                      "error.created",
		`{"action": "created", "data": {"comment": "done", "issue_id": 100}}`:                              "comment.created",
		`{"action": "deleted", "data": {"installation": {"uuid": "1"}}}`:                                   "installation.deleted",
		`{"action": "created", "data": {"issue": null, "event": null}}`:                                    "Sentry reports created,",
		`{"action": "root_cause_started", "data": {"run_id": 1}}`:                                          "root_cause_started",
		`{"action": "a\u0000\nb\u202e` + strings.Repeat("x", 5000) + `", "data": {}}`:                      "Sentry reports a b xx",
	} {
		delivery, err := read("sentry", body)
		require.NoError(t, err, body)
		require.Empty(t, delivery.Alerts, body)

		said := alert.Describe(r, []byte(body))
		require.Contains(t, said, want)
		require.Contains(t, said, "neither starts nor ends")
		require.Less(t, len(said), 300)
	}
}

func TestBodiesThatAreNotOfSentryNameTheField(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]struct {
		field string
		code  tarsy.Code
	}{
		``:                                  {"", tarsy.CodeInvalidJSON},
		`[]`:                                {"", tarsy.CodeInvalidField},
		`null`:                              {"data", tarsy.CodeMissingField},
		`{"title": "x"}`:                    {"data", tarsy.CodeMissingField},
		`{"action": "created", "data": 1}`:  {"data", tarsy.CodeMissingField},
		`{"data": {"issue": {"id": "1"}}}`:  {"action", tarsy.CodeMissingField},
		`{"event": {"id": "1"}, "id": "1"}`: {"data", tarsy.CodeMissingField},
		strings.Repeat(`{"data":`, 101) + `1` + strings.Repeat(`}`, 101): {"", tarsy.CodeInvalidJSON},
	} {
		_, err := read("sentry", body)

		var shown *tarsy.Error
		require.ErrorAs(t, err, &shown, body)
		require.Equal(t, want.code, shown.Code, body)
		require.Equal(t, want.field, shown.Field, body)
		require.NotContains(t, shown.Message, "sentryObject", "internals reach no user")
	}
}

func TestSentrySignatureIsThatOfTheBodyWithoutPrefix(t *testing.T) {
	t.Parallel()

	// Computed with openssl dgst -sha256 -hmac client-secret.
	const body, digest = `{"action":"created","data":{"issue":{"id":"1"}}}`, "b4fba633488444ec6d0453d0af0b3f8df059212a5f4ab4c78d9cb74599d89f22"

	r := config.Receiver{Name: "r", Source: "sentry", SecretEnv: "SECRET"}
	secrets := environment(map[string]string{"SECRET": "client-secret"})

	for _, test := range []struct {
		header http.Header
		body   string
		want   bool
	}{
		{headers("Sentry-Hook-Signature", digest), body, true},
		{headers("sentry-hook-signature", digest), body, true},
		{headers("Sentry-Hook-Signature", digest), body + " ", false},
		{headers("Sentry-Hook-Signature", "sha256="+digest), body, false},
		{headers("Sentry-Hook-Signature", digest[1:]), body, false},
		{headers("Sentry-Hook-Signature", ""), body, false},
		{headers("X-Signature-256", "sha256="+digest), body, false},
		{headers("Authorization", "Bearer client-secret"), body, false},
		{headers(), body, false},
	} {
		ok, err := alert.Verify(r, secrets, test.header, []byte(test.body))
		require.NoError(t, err)
		require.Equal(t, test.want, ok, "%v", test.header)
	}

	header, err := alert.Sign(r, secrets, []byte(body))
	require.NoError(t, err)
	require.Equal(t, headers("Sentry-Hook-Signature", digest), header)
}

func TestHostileSentryBodiesBecomeBoundedAlerts(t *testing.T) {
	t.Parallel()

	// odd are values of the wrong type, hostile strings and huge values.
	odd := []string{
		`null`, `1`, `true`, `""`, `[]`, `{}`, `"text"`, `[null, 1, "a", ["a"], ["a", "b", "c"], [{}, []], ["k\u0000\n", "v\u202e"]]`, `"a\u0000b\nc"`, `"javascript:alert(1)"`,
		`"` + strings.Repeat("é", 5_000) + `"`, strings.Repeat("[", 90) + strings.Repeat("]", 90), "[" + strings.Repeat(`["tag", "value"],`, 5_000) + `[]]`,
	}
	for _, body := range hostile() {
		odd = append(odd, body)
	}

	for _, value := range odd {
		fields := `{`
		for _, name := range []string{
			"id", "issue_id", "title", "level", "web_url", "url", "project", "tags", "firstSeen", "identifier", "name",
		} {
			fields += `"` + name + `": ` + value + `, `
		}

		fields += `"extra": 1}`

		for _, body := range []string{
			`{"action": "created", "data": {"issue": ` + fields + `}}`,
			`{"action": "triggered", "data": {"event": ` + fields + `, "triggered_rule": ` + value + `}}`,
			`{"action": "critical", "data": {"metric_alert": {"alert_rule": ` + fields + `, "projects": ` + value + `}, "web_url": ` + value + `}}`,
			`{"id": "1", "project_slug": "a", "url": ` + value + `, "event": ` + fields + `}`,
		} {
			readOne(t, "sentry", body)
		}

		_, _ = read("sentry", `{"action": `+value+`, "data": `+value+`}`)
		_, _ = read("sentry", `{"action": "created", "data": {"issue": `+value+`, "event": `+value+`, "metric_alert": `+value+`}}`)
	}
}

func TestConnectSentryShowsURLAndSecret(t *testing.T) {
	t.Parallel()

	source, ok := alert.Find(tarsy.SourceSentry)
	require.True(t, ok)

	const url = "https://tarsy.example.com/api/v1/webhooks/sentry/errors"

	text := source.Connect(alert.Endpoint{Source: "sentry", Name: "errors", URL: url, SecretEnv: "SENTRY_SECRET"})
	require.Contains(t, text, url)
	require.Contains(t, text, "Set SENTRY_SECRET on the server to the Client Secret")
	require.NotContains(t, text, "Authorization")

	text = source.Connect(alert.Endpoint{Source: "sentry", Name: "errors", URL: url, TokenEnv: "SENTRY_TOKEN"})
	require.Contains(t, text, "Authorization: Bearer TARSY_TOKEN")
	require.Contains(t, text, "the value of SENTRY_TOKEN on the server")
	require.Contains(t, source.Connect(alert.Endpoint{Source: "sentry", Name: "errors", URL: url}), "tarsy keys create sentry")
}
