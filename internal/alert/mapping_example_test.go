package alert_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// The mappings in docs/alerts.md, with bodies as the senders post them.
func TestMappingsOfUptimeKumaAndZabbixFindTheirFacts(t *testing.T) {
	t.Parallel()

	kuma := config.Mapping{Title: "monitor.name", Fingerprint: "monitor.id", Status: "heartbeat.status", Resolved: []string{"1"}, StartsAt: "heartbeat.time"}
	kumaBody := func(status, word string) string {
		return `{"heartbeat": {"monitorID": 7, "status": ` + status + `, "time": "2026-11-16 10:00:00.123", "msg": "connect ECONNREFUSED 10.0.0.7:443", "important": true, "duration": 61,
			"timezone": "UTC", "localDateTime": "2026-11-16 10:00:00"}, "monitor": {"id": 7, "name": "checkout", "url": "https://checkout.example.com", "type": "http", "interval": 60,
			"tags": [{"name": "env", "value": "prod"}]}, "msg": "[checkout] [` + word + `] connect ECONNREFUSED 10.0.0.7:443"}`
	}

	down := readMapped(t, kuma, kumaBody("0", "🔴 Down"))[0]
	require.Equal(t, "checkout", down.Facts.Title)
	require.False(t, down.Resolved)
	require.Contains(t, down.Data, "ECONNREFUSED")

	up := readMapped(t, kuma, kumaBody("1", "✅ Up"))[0]
	require.True(t, up.Resolved)
	require.Equal(t, down.Facts.Fingerprint, up.Facts.Fingerprint)

	zabbix := config.Mapping{Title: "event_name", Fingerprint: "trigger_id", Status: "event_value", Resolved: []string{"0"}, Severity: "event_severity", Service: "host"}
	zabbixBody := func(value string) string {
		return `{"event_id": "4711", "event_name": "High CPU utilization (over 90% for 5m)", "event_severity": "High", "event_value": "` + value + `", "event_update_status": "0",
			"trigger_id": "16083", "trigger_description": "CPU utilization is too high", "host": "web-1", "alert_subject": "Problem: High CPU", "event_tags": "scope:performance"}`
	}

	problem := readMapped(t, zabbix, zabbixBody("1"))[0]
	require.Equal(t, "High CPU utilization (over 90% for 5m)", problem.Facts.Title)
	require.Equal(t, tarsy.SeverityHigh, problem.Facts.Severity)
	require.Equal(t, "web-1", problem.Facts.Service)
	require.False(t, problem.Resolved)

	recovered := readMapped(t, zabbix, zabbixBody("0"))[0]
	require.True(t, recovered.Resolved)
	require.Equal(t, problem.Facts.Fingerprint, recovered.Facts.Fingerprint)
}
