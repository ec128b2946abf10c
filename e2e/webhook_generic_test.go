package e2e

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// genericReceiver is a receiver without a mapping, for senders without their own kind of receiver.
const genericReceiver = alertsTest + `
  receivers:
    any: {source: generic}
`

// A sender without its own kind of receiver has id, title, status and severity in its own places. Its deliveries about one
// alert are one session, and the last one resolves it.
func TestWebhookOfNestedSenderIsOneAlertFromStartToEnd(t *testing.T) {
	t.Parallel()

	const (
		opsgenie = `{"source": {"name": "web", "type": "API"}, "alert": {"updatedAt": 1794823193166002000, "message": "Disk full on web-1", "alertId": "052652ac-5d1c",
			"alias": "disk-web-1", "tinyId": "23", "createdAt": 1794823191104, "priority": "P1"}, "action": "Create", "integrationName": "TARSy"}`
		datadog = `{"alert_title": "[Triggered on {host:web-1}] CPU", "alert_id": "7", "alert_scope": "host:web-1", "alert_transition": "Triggered", "alert_priority": "P2",
			"date_posix": "1794823191"}`
	)

	app := tarsytest.New(t, tarsytest.Options{Config: genericReceiver})
	modelAnswers(app, nil)

	for name, sender := range map[string]struct {
		start    string
		between  []*strings.Replacer
		end      *strings.Replacer
		title    string
		severity tarsy.Severity
	}{
		"opsgenie": {
			opsgenie, []*strings.Replacer{strings.NewReplacer("Create", "Acknowledge", "3166", "4166"), strings.NewReplacer("Create", "AddNote", "3166", "5166")},
			strings.NewReplacer("Create", "Close", "3166", "6166"), "Disk full on web-1", tarsy.SeverityCritical,
		},
		"datadog": {
			datadog, nil, strings.NewReplacer("Triggered", "Recovered", "3191", "4191"), "[Triggered on {host:web-1}] CPU", tarsy.SeverityHigh,
		},
	} {
		before := len(app.Sessions(""))

		started := app.Deliver("generic/any", []byte(sender.start))
		require.Equal(t, tarsy.ActionInvestigate, started.Alerts[0].Action, name)

		session := app.WaitFor(*started.Alerts[0].SessionID, tarsy.SessionCompleted)
		require.Equal(t, sender.title, session.Title, name)
		require.Equal(t, sender.severity, session.Severity, name)

		for _, event := range sender.between {
			ignored := app.Deliver("generic/any", []byte(event.Replace(sender.start)))
			require.Equal(t, tarsy.ActionIgnore, ignored.Alerts[0].Action, name)
			require.Contains(t, ignored.Alerts[0].Reason, "neither starts nor ends an alert", name)
		}

		ended := app.Deliver("generic/any", []byte(sender.end.Replace(sender.start)))
		require.Equal(t, tarsy.ActionResolve, ended.Alerts[0].Action, name)
		require.Equal(t, session.ID, *ended.Alerts[0].SessionID, name)

		after := app.Session(session.ID)
		require.False(t, after.Alert.Firing, name)
		require.EqualValues(t, 1, after.Alert.Occurrences, name)
		require.Len(t, app.Sessions(""), before+1, name)
	}
}

// Amazon SNS posts JSON as plain text, and supports only basic authentication.
func TestWebhookOfAmazonSNSIsInvestigatedOnce(t *testing.T) {
	t.Parallel()

	const body = `{"Type": "Notification", "MessageId": "m-1", "TopicArn": "arn:aws:sns:eu-central-1:123456789012:alarms", "Subject": "ALARM",
		"Message": "{\"AlarmName\": \"CPU of web\", \"NewStateValue\": \"ALARM\", \"AlarmArn\": \"arn:aws:cloudwatch:eu-central-1:1:alarm:CPU\"}"}`

	requests := make(chan string, 10)
	app := tarsytest.New(t, tarsytest.Options{
		Config: alertsTest + "\n  receivers: {aws: {source: generic, token_env: SNS_TOKEN}}\n", RequireKey: true, Env: map[string]string{"SNS_TOKEN": "token-of-sns"},
		Web: map[string]http.Handler{"evil.example": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.URL.String() })},
	})
	app.Token = app.Key("viewer", tarsy.ScopeWrite)
	modelAnswers(app, nil)

	anonymous := *app
	anonymous.Token = ""

	plain := []string{"Content-Type", "text/plain; charset=UTF-8", "X-Amz-Sns-Message-Type", "Notification"}
	basic := slices.Concat(plain, []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("sns:token-of-sns"))})

	refused := anonymous.Do(http.MethodPost, "/api/v1/webhooks/generic/aws", []byte(body), plain...)
	require.Equal(t, http.StatusUnauthorized, refused.Status)
	require.Equal(t, []string{`Bearer realm="tarsy"`, `Basic realm="tarsy"`}, refused.Header.Values("WWW-Authenticate"), "SNS sends its password when it is asked")

	delivered := anonymous.Deliver("generic/aws", []byte(body), basic...)
	session := app.WaitFor(*delivered.Alerts[0].SessionID, tarsy.SessionCompleted)
	require.Equal(t, "CPU of web", session.Title)

	again := anonymous.Deliver("generic/aws", []byte(strings.Replace(body, `"Subject": "ALARM"`, `"Subject": "again"`, 1)), basic...)
	require.True(t, again.Repeated, "it has the same MessageId")

	confirm := strings.NewReplacer(`"Notification"`, `"SubscriptionConfirmation"`, `"Subject": "ALARM"`, `"SubscribeURL": "https://evil.example/?Action=ConfirmSubscription"`)
	bad := anonymous.Do(http.MethodPost, "/api/v1/webhooks/generic/aws", []byte(confirm.Replace(body)), basic...)
	require.Equal(t, http.StatusBadRequest, bad.Status, "%s", bad.Body)
	require.Equal(t, string(tarsy.CodeInvalidField), bad.Problem(t).Code)
	require.Empty(t, requests)

	// Plain text from anybody else is refused as before.
	other := app.Do(http.MethodPost, "/api/v1/webhooks/generic/aws", []byte(body), "Content-Type", "text/plain")
	require.Equal(t, http.StatusUnsupportedMediaType, other.Status)
	require.Len(t, app.Sessions(""), 1)
}

// A body without content would become an alert about nothing, and all such bodies would be the same alert.
func TestWebhookBodiesWithoutContentLeaveNothing(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: genericReceiver})

	refused := func(path, body string) {
		resp := app.Do(http.MethodPost, path, []byte(body))
		require.Equal(t, http.StatusBadRequest, resp.Status, "%s: %s", body, resp.Body)
		require.Equal(t, string(tarsy.CodeEmptyAlert), resp.Problem(t).Code, body)
	}

	for _, body := range []string{``, `{}`, `[]`, `null`, `""`, `[{}]`, `{"title": "", "labels": {}}`} {
		refused("/api/v1/webhooks/generic/any", body)
	}

	for _, data := range []string{`{}`, `[]`, `{"text": ""}`} {
		refused("/api/v1/alerts", `{"data": `+data+`}`)
	}

	require.Empty(t, app.Sessions(""))
	require.Empty(t, app.Suppressed(""))
}
