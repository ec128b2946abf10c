package alert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A group of fifty alerts, as Alertmanager sends during an alert storm.
func BenchmarkReadAlertmanager(b *testing.B) {
	var list []string
	for i := range 50 {
		list = append(list, fmt.Sprintf(`{"status": "firing", "labels": {"alertname": "KubePodCrashLooping", "cluster": "prod-eu", "namespace": "payments",
			"pod": "payments-api-%d", "prometheus": "monitoring/k8s", "severity": "page", "team": "payments"}, "annotations": {"summary": "Pod is crash looping.",
			"description": "Pod payments-api-%d is restarting."}, "startsAt": "2026-11-16T09:12:41.307Z", "endsAt": "0001-01-01T00:00:00Z",
			"generatorURL": "http://prometheus.example.com:9090/graph?g0.expr=up", "fingerprint": "%016x"}`, i, i, i))
	}

	body := `{"version": "4", "status": "firing", "groupLabels": {"alertname": "KubePodCrashLooping"}, "alerts": [` + strings.Join(list, ",") + `]}`

	b.ReportAllocs()

	for b.Loop() {
		delivery, err := read("alertmanager", body)
		require.NoError(b, err)
		require.Len(b, delivery.Alerts, len(list))
	}
}
