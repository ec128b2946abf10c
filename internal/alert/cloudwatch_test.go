package alert_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

// cloudWatchMetric returns an alarm as CloudWatch publishes it.
func cloudWatchMetric(state string) string {
	return `{"AlarmName": "orders 5xx", "AlarmDescription": "More than 10 errors a minute", "AWSAccountId": "123456789012", "NewStateValue": "` + state + `",
		"NewStateReason": "Threshold Crossed: 1 datapoint [42.0] was greater than the threshold (10.0).", "StateChangeTime": "2026-11-16T10:00:00.000+0000", "Region": "EU (Frankfurt)",
		"AlarmArn": "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders 5xx", "OldStateValue": "OK",
		"Trigger": {"MetricName": "HTTPCode_Target_5XX_Count", "Namespace": "AWS/ApplicationELB", "Dimensions": [{"value": "app/orders", "name": "LoadBalancer"}], "Threshold": 10.0}}`
}

func TestAlarmOfCloudWatchIsReadFromItsTopicAndAlone(t *testing.T) {
	t.Parallel()

	for name, body := range map[string]string{"in a message": notified(t, "m-1", "ALARM", cloudWatchMetric("ALARM")), "raw delivery": cloudWatchMetric("ALARM")} {
		delivery, err := read("cloudwatch", body)
		require.NoError(t, err, name)
		require.Len(t, delivery.Alerts, 1)

		a := delivery.Alerts[0]
		requireBounded(t, a)
		require.False(t, a.Resolved)
		require.Equal(t, "orders 5xx", a.Facts.Title)
		require.Equal(t, "cloudwatch/default:arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders 5xx", a.Facts.Fingerprint)
		require.Equal(t, "eu-central-1", a.Facts.Labels["region"])
		require.Equal(t, "app/orders", a.Facts.Labels["LoadBalancer"])
		require.Equal(t, "AWS/ApplicationELB", a.Facts.Labels["metric_namespace"])
		require.Empty(t, a.Facts.Namespace, "that of a metric is none of Kubernetes")
		require.Equal(t, "2026-11-16T10:00:00Z", a.Facts.StartsAt.UTC().Format("2006-01-02T15:04:05Z"))
		require.Contains(t, a.Facts.Links, tarsy.AlertLink{
			Kind: tarsy.LinkGenerator, URL: "https://console.aws.amazon.com/cloudwatch/home?region=eu-central-1#alarmsV2:alarm/orders%205xx",
		})
		require.Contains(t, a.Data, "Threshold Crossed")
		require.NotContains(t, a.Data, "SignatureVersion", "the envelope is not the alert")
	}

	ended, err := read("cloudwatch", notified(t, "m-2", "OK", cloudWatchMetric("OK")))
	require.NoError(t, err)
	require.True(t, ended.Alerts[0].Resolved)

	again, err := read("cloudwatch", notified(t, "m-2", "OK", cloudWatchMetric("OK")+" "))
	require.NoError(t, err)
	require.Equal(t, ended.Key, again.Key, "a message is delivered again with its id")
}

func TestTopicsHaveMoreThanAlarms(t *testing.T) {
	t.Parallel()

	waiting := notified(t, "m-1", "INSUFFICIENT_DATA", cloudWatchMetric("INSUFFICIENT_DATA"))
	delivery, err := read("cloudwatch", waiting)
	require.NoError(t, err)
	require.Empty(t, delivery.Alerts)
	require.Contains(t, alert.Describe(config.Receiver{Source: "cloudwatch"}, []byte(waiting)), "INSUFFICIENT_DATA")

	text, err := read("cloudwatch", notified(t, "m-2", "Backup of orders", "failed"))
	require.NoError(t, err)
	require.Equal(t, "Backup of orders", text.Alerts[0].Facts.Title)
	require.Equal(t, tarsy.SourceCloudWatch, text.Alerts[0].Facts.Source)
}
