package inbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

const labelledAlert = `{"version": "4", "status": "firing", "alerts": [{"status": "firing", "fingerprint": "f", "labels": {
  "alertname": "Slow", "severity": "info", "prio": "p1", "app": "api", "unit": "checkout", "namespace": "a", "ns": "shop", "cluster": "b", "dc": "eu",
  "team": "c", "crew": "payments"}, "annotations": {"summary": "S", "headline": "Checkout is slow"}}]}`

func TestDeduplicateTextCountsEqualTexts(t *testing.T) {
	t.Parallel()

	f := newFixture(t, "alerts: {deduplicate: {text: true}}")
	require.True(t, f.Identifies(tarsy.Alert{Data: "x"}))

	first := f.submit(t, tarsy.Alert{Data: "the disk  is full"})
	again := f.submit(t, tarsy.Alert{Data: "the disk is\nfull"})
	require.Equal(t, first.ID, again.ID, "white space does not matter")
	require.EqualValues(t, 2, again.Alert.Occurrences)

	require.NotEqual(t, first.ID, f.submit(t, tarsy.Alert{Data: "the disk is empty"}).ID)
	require.NotEqual(t, first.ID, f.submit(t, tarsy.Alert{AlertType: "pay", Data: "the disk is full"}).ID)
	require.Equal(t, 3, f.sessions(t))
}

func TestFieldsReplaceTheWellKnownNames(t *testing.T) {
	t.Parallel()

	facts := func(s tarsy.SessionDetail) []string {
		return []string{s.Title, string(s.Severity), s.Service, s.Namespace, s.Cluster, s.Team}
	}

	require.Equal(t, []string{"S", "info", "api", "a", "b", "c"}, facts(newFixture(t, "").deliver(t, "alertmanager", "default", labelledAlert)))
	require.Equal(t, []string{"Checkout is slow", "critical", "checkout", "shop", "eu", "payments"}, facts(newFixture(t, `
alerts:
  fields: {title: [missing, headline], severity: [prio], service: [unit], namespace: [ns], cluster: [dc], team: [crew]}
`).deliver(t, "alertmanager", "default", labelledAlert)))
}

func TestReceiverAddsLabelsAndAlertType(t *testing.T) {
	t.Parallel()

	f := newFixture(t, `
alerts:
  receivers:
    cluster-a: {source: alertmanager, alert_type: pay, labels: {cluster: added, region: eu}}
    grafana-a: {source: grafana, labels: {cluster: added}}
`)

	session := f.deliver(t, "alertmanager", "cluster-a", labelledAlert)
	require.Equal(t, []string{"pay", "payments"}, []string{session.AlertType, session.ChainID})
	require.Equal(t, "b", session.Cluster, "labels of the alert win")
	require.Equal(t, "eu", session.Labels["region"])
	require.Equal(t, "cluster-a", session.Receiver)
	require.Equal(t, "ana", session.Author)

	session = f.deliver(t, "grafana", "grafana-a", `{"status": "firing", "alerts": [{"status": "firing", "labels": {"alertname": "Slow"}}]}`)
	require.Equal(t, "added", session.Cluster)
	require.Equal(t, []string{"test", "test"}, []string{session.AlertType, session.ChainID}, "the default type")
}
