package alert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

func completed(a tarsy.Alert, groupBy ...string) tarsy.AlertFacts {
	alert.Complete(&a, config.AlertFields{}, groupBy)

	return a.Facts
}

func TestFingerprintOfTextIgnoresFormOnly(t *testing.T) {
	t.Parallel()

	of := func(alertType, data string) string {
		return completed(tarsy.Alert{AlertType: alertType, Data: data}).Fingerprint
	}

	first := of("a", "Disk is  full\n on web-1")
	require.True(t, strings.HasPrefix(first, "api:text:"), first)
	require.Equal(t, first, of("a", " Disk is full on\tweb-1\n"))
	require.NotEqual(t, first, of("b", "Disk is full on web-1"))
	require.NotEqual(t, first, of("a", "Disk is full on web-2"))

	require.Equal(t, of("a", `{"x": 1, "y": {"b": 2, "a": 1}}`), of("a", "{\n  \"y\": {\"a\":1,\"b\":2}, \"x\": 1}"))
	require.NotEqual(t, of("a", `{"x": 1, "labels": {"team": "a"}}`), of("a", `{"x": 2, "labels": {"team": "a"}}`),
		"labels in text that people submit do not identify it")
}

func TestFingerprintChosenBySenderIsNamespaced(t *testing.T) {
	t.Parallel()

	of := func(own string) string {
		return completed(tarsy.Alert{Data: "x", Facts: tarsy.AlertFacts{Fingerprint: own}}).Fingerprint
	}

	require.Equal(t, "api:disk-web-1", of("disk-web-1"))
	require.Equal(t, "api:disk-web-1", of("api:disk-web-1"), "completed before")
	require.Equal(t, "api:alertmanager/default:1234", of("alertmanager/default:1234"), "a request cannot claim the alert of a webhook")
	require.True(t, strings.HasPrefix(of(strings.Repeat("a", 300)), "api:sha256:"))
	require.NotEqual(t, of("a\nb"), of("a b"), "what cleaning makes equal stays different")
	require.NotEqual(t, of(strings.Repeat("a", 300)), of(strings.Repeat("a", 301)))

	prefixed := "api:" + strings.Repeat("a", 2*tarsy.MaxLabelValue)
	require.NotEqual(t, of(prefixed), of(prefixed+"b"), "a prefix does not keep what is too long from being hashed")
}

func TestFingerprintFallsBackToLabels(t *testing.T) {
	t.Parallel()

	of := func(receiver, status, labels string) string {
		body := fmt.Sprintf(`{"version": "4", "alerts": [{"status": %q, "labels": %s, "startsAt": "2026-11-16T10:00:00Z"}]}`, status, labels)

		delivery, err := alert.Read(config.Receiver{Name: receiver, Source: "alertmanager"}, []byte(body), config.AlertFields{}, nil)
		require.NoError(t, err)

		return delivery.Alerts[0].Facts.Fingerprint
	}

	first := of("a", "firing", `{"alertname": "A", "pod": "x"}`)
	require.True(t, strings.HasPrefix(first, "alertmanager/a:labels:"), first)
	require.Equal(t, first, of("a", "resolved", `{"pod": "x", "alertname": "A"}`))
	require.NotEqual(t, first, of("b", "firing", `{"alertname": "A", "pod": "x"}`), "two Alertmanagers may have the same labels")
	require.NotEqual(t, first, of("a", "firing", `{"alertname": "A", "pod": "y"}`))
	require.NotEqual(t, of("a", "firing", `{"a": "b", "c": "d"}`), of("a", "firing", `{"a": "bc", "": "d"}`))
}

func TestGroupKeyIsReadableBoundedAndUnambiguous(t *testing.T) {
	t.Parallel()

	of := func(labels map[string]string, groupBy ...string) string {
		return completed(tarsy.Alert{Data: "Some text", Facts: tarsy.AlertFacts{
			Labels: labels, Source: tarsy.SourceAlertmanager, Receiver: "default", Fingerprint: "f",
		}}, groupBy...).GroupKey
	}

	require.Equal(t, "alertmanager/default:alertname=DiskFull,cluster=prod,namespace=", of(map[string]string{"alertname": "DiskFull", "cluster": "prod", "pod": "a"}))
	require.Equal(t, "alertmanager/default:team=core,pod=a", of(map[string]string{"alertname": "DiskFull", "owner": "core", "pod": "a"}, "team", "pod"), "facts count too")
	require.Equal(t, `alertmanager/default:alertname="a,cluster=b",cluster=,namespace=`, of(map[string]string{"alertname": "a,cluster=b"}))
	require.Equal(t, "alertmanager/default:title=Some text,cluster=prod,namespace=", of(map[string]string{"cluster": "prod"}), "alerts without a name are not one group")
	require.Equal(t, "alertmanager/default:service=api,cluster=prod,namespace=", of(map[string]string{"cluster": "prod", "app": "api"}))
	require.Equal(t, "alertmanager/default:title=Some text", of(nil, "pod", "zone"), "as above, with other labels")

	long := of(map[string]string{"alertname": strings.Repeat("a", 900)})
	require.Regexp(t, `^alertmanager/default:sha256:[0-9a-f]{32}$`, long)
	require.NotEqual(t, long, of(map[string]string{"alertname": strings.Repeat("a", 901)}))

	require.Equal(t, "api:title=Some text", completed(tarsy.Alert{Data: "Some text"}).GroupKey)
}

func TestTeamThatDiffersFromItsLabelIsPartOfGroupKey(t *testing.T) {
	t.Parallel()

	of := func(team string) string {
		return completed(tarsy.Alert{Data: "x", Facts: tarsy.AlertFacts{
			Labels: map[string]string{"team": "shared"}, Team: team, Source: tarsy.SourceAlertmanager, Receiver: "default", Fingerprint: "f",
		}}, "team").GroupKey
	}

	require.Equal(t, "alertmanager/default:team=shared", of("shared"))
	require.Equal(t, "alertmanager/default:team=shared,team=core", of("core"), "a storm belongs to one team")
}

func TestDeliveryKeyDependsOnReceiverAndContent(t *testing.T) {
	t.Parallel()

	key := func(source, name string, body []byte) string {
		delivery, err := alert.Read(config.Receiver{Name: name, Source: source}, body, config.AlertFields{}, nil)
		require.NoError(t, err)

		return string(delivery.Key)
	}

	body := testdata(t, "alertmanager")
	first := key("alertmanager", "a", body)
	require.Equal(t, first, key("alertmanager", "a", body))
	require.NotEqual(t, first, key("alertmanager", "b", body))
	require.NotEqual(t, first, key("grafana", "a", body))
	require.NotEqual(t, first, key("alertmanager", "a", append(body, '\n')))

	// PagerDuty redelivers an event with the same ID, but not always with the same bytes.
	event := testdata(t, "pagerduty")
	require.Equal(t, key("pagerduty", "a", event), key("pagerduty", "a", append(event, '\n')))
	require.NotEqual(t, key("pagerduty", "a", event), key("pagerduty", "b", event))
}
