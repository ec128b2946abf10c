package alert_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

// notified returns an Amazon SNS message.
func notified(t *testing.T, id, subject, message string) string {
	t.Helper()

	raw, err := json.Marshal(map[string]string{
		"Type": "Notification", "MessageId": id, "TopicArn": "arn:aws:sns:eu-central-1:123456789012:alarms", "Subject": subject, "Message": message,
		"Timestamp": "2026-11-16T10:00:00.000Z", "SignatureVersion": "1", "UnsubscribeURL": "https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe",
	})
	require.NoError(t, err)

	return string(raw)
}

func cloudWatch(state string) string {
	return `{"AlarmName": "CPU of web", "AlarmDescription": "Above 90 %", "AWSAccountId": "123456789012", "NewStateValue": "` + state + `", "NewStateReason": "Threshold crossed",
		"StateChangeTime": "2026-11-16T10:00:00.000+0000", "Region": "EU (Frankfurt)", "AlarmArn": "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:CPU of web"}`
}

func TestNotificationOfAmazonSNSHasTheAlertInItsMessage(t *testing.T) {
	t.Parallel()

	fired, err := read("generic", notified(t, "m-1", "ALARM: CPU", cloudWatch("ALARM")))
	require.NoError(t, err)
	require.Equal(t, "CPU of web", fired.Alerts[0].Facts.Title)
	require.Equal(t, "generic/default:arn:aws:cloudwatch:eu-central-1:123456789012:alarm:CPU of web", fired.Alerts[0].Facts.Fingerprint)
	require.False(t, fired.Alerts[0].Resolved)
	require.NotContains(t, fired.Alerts[0].Data, "Signature", "the envelope is not the alert")

	ended, err := read("generic", notified(t, "m-2", "OK: CPU", cloudWatch("OK")))
	require.NoError(t, err)
	require.True(t, ended.Alerts[0].Resolved)
	require.Equal(t, fired.Alerts[0].Facts.Fingerprint, ended.Alerts[0].Facts.Fingerprint)
	require.NotEqual(t, fired.Key, ended.Key)

	repeated, err := read("generic", notified(t, "m-1", "ALARM: CPU", cloudWatch("ALARM")+" "))
	require.NoError(t, err)
	require.Equal(t, fired.Key, repeated.Key, "a message is delivered again with its id")

	text, err := read("generic", notified(t, "m-3", "", "Backup failed\nDisk full"))
	require.NoError(t, err)
	require.Equal(t, "Backup failed", text.Alerts[0].Facts.Title)
	require.Contains(t, text.Alerts[0].Data, "Disk full")

	subject, err := read("generic", notified(t, "m-4", "Backup of orders", "failed"))
	require.NoError(t, err)
	require.Equal(t, "Backup of orders", subject.Alerts[0].Facts.Title)

	for _, message := range []string{"", "{}", " "} {
		_, err = read("generic", notified(t, "m-5", "", message))
		require.Equal(t, tarsy.CodeEmptyAlert, tarsy.CodeOf(err), "%q", message)
	}
}

func TestSNSUnsubscribeIsIgnored(t *testing.T) {
	t.Parallel()

	body := `{"Type": "UnsubscribeConfirmation", "MessageId": "m-1", "TopicArn": "arn:aws:sns:eu-central-1:1:alarms", "Message": "You have unsubscribed",
		"SubscribeURL": "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription"}`

	delivery, err := read("generic", body)
	require.NoError(t, err)
	require.Empty(t, delivery.Alerts)
	require.Contains(t, alert.Describe(config.Receiver{Source: "generic"}, []byte(body)), "ended the subscription")

	_, confirms, err := alert.ReadSubscription([]byte(body))
	require.NoError(t, err)
	require.False(t, confirms, "its address would subscribe again")
}

// Anyone who can post a body chooses the address.
func TestSubscriptionIsConfirmedOnHostsOfAmazonSNSOnly(t *testing.T) {
	t.Parallel()

	ask := func(address string) (alert.Subscription, bool, error) {
		raw, err := json.Marshal(map[string]string{
			"Type": "SubscriptionConfirmation", "MessageId": "m-1", "TopicArn": "arn:aws:sns:eu-central-1:1:alarms", "SubscribeURL": address,
		})
		require.NoError(t, err)

		return alert.ReadSubscription(raw)
	}

	for _, address := range []string{
		"https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=t",
		"https://sns.eu-central-1.amazonaws.com:443/?Action=ConfirmSubscription&Token=t",
		"https://sns.cn-north-1.amazonaws.com.cn/?Action=ConfirmSubscription&Token=t",
	} {
		got, confirms, err := ask(address)
		require.NoError(t, err, address)
		require.True(t, confirms)
		require.Equal(t, alert.Subscription{Topic: "arn:aws:sns:eu-central-1:1:alarms", URL: address}, got)
	}

	for _, address := range []string{
		"", "sns.eu-central-1.amazonaws.com", "/?Action=ConfirmSubscription",
		"http://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription",
		"file://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription",
		"https://user@sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription",
		"https://sns.eu-central-1.amazonaws.com:8443/?Action=ConfirmSubscription",
		"https://sns.eu-central-1.amazonaws.com/?Action=DeleteTopic",
		"https://sns.eu-central-1.amazonaws.com/",
		"https://sqs.eu-central-1.amazonaws.com/?Action=ConfirmSubscription",
		"https://amazonaws.com/?Action=ConfirmSubscription",
		"https://sns.eu-central-1.amazonaws.com.evil.example/?Action=ConfirmSubscription",
		"https://evil.example/sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription",
		"https://bucket.s3.sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription",
		"https://sns.eu-central-1.amazonaws.com\\@evil.example/?Action=ConfirmSubscription",
		"https://169.254.169.254/?Action=ConfirmSubscription",
	} {
		got, confirms, err := ask(address)
		require.Equal(t, tarsy.CodeInvalidField, tarsy.CodeOf(err), address)
		require.True(t, confirms, "it is no alert, either")
		require.Empty(t, got)
	}
}

// A third party's body with the same field names is an alert.
func TestBodyThatOnlyLooksLikeAmazonSNSIsReadAsItIs(t *testing.T) {
	t.Parallel()

	for name, body := range map[string]string{
		"no id":         `{"Type": "SubscriptionConfirmation", "TopicArn": "arn:aws:sns:eu-central-1:1:a", "Message": "m", "title": "own"}`,
		"no topic":      `{"Type": "SubscriptionConfirmation", "MessageId": "m-1", "Message": "m", "title": "own"}`,
		"another type":  `{"Type": "Report", "MessageId": "m-1", "TopicArn": "arn:aws:sns:eu-central-1:1:a", "Message": "m", "title": "own"}`,
		"another topic": `{"Type": "Notification", "MessageId": "m-1", "TopicArn": "topic", "Message": "m", "title": "own"}`,
	} {
		_, confirms, err := alert.ReadSubscription([]byte(body))
		require.NoError(t, err, name)
		require.False(t, confirms, name)

		got, err := read("generic", body)
		require.NoError(t, err, name)
		require.Equal(t, "own", got.Alerts[0].Facts.Title, name)
	}

	broken, err := read("generic", notified(t, "m-1", "", "{not JSON\nsecond line"))
	require.NoError(t, err)
	require.Equal(t, "{not JSON", broken.Alerts[0].Facts.Title, "a text that begins like JSON is a text")
}

func TestTokenMayBeThePasswordOfBasicAuthentication(t *testing.T) {
	t.Parallel()

	r := config.Receiver{Source: "generic", Name: "aws", TokenEnv: "TOKEN"}
	env := func(string) (string, bool) { return "right", true }

	for password, want := range map[string]bool{"right": true, "wrong": false, "": false} {
		request := http.Request{Header: http.Header{}}
		request.SetBasicAuth("sns", password)

		ok, err := alert.Verify(r, env, request.Header, nil)
		require.NoError(t, err)
		require.Equal(t, want, ok, password)
	}
}
