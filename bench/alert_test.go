//go:build bench

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// alertConfig runs no sessions, so that intake alone is measured.
const alertConfig = `
llm_providers: {test: {type: scripted, model: test-model}}
defaults: {llm_provider: test, verdict: false}
queue: {worker_count: 0, max_waiting_sessions: 0}
agents: {Investigator: {custom_instructions: Find out what happened.}}
agent_chains:
  test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}
`

const (
	alertGroups    = 200
	alertsPerGroup = 50
	alertSenders   = 8
)

// TestAlertBurst measures a burst of 10,000 alerts in 200 groups, delivered by group as Alertmanager does, and the same
// number of alerts without an identity, posted one by one. Each burst gets its own server process and an empty database.
func TestAlertBurst(t *testing.T) {
	server := durableServer(t)
	binary := filepath.Join(t.TempDir(), "tarsy")
	out, err := exec.Command("go", "build", "-o", binary, "../cmd/tarsy").CombinedOutput()
	require.NoError(t, err, "%s", out)

	const alerts = alertGroups * alertsPerGroup

	single := make([][]byte, alerts)
	for i := range single {
		single[i] = marshal(t, map[string]any{"alert_type": "test", "data": groupAlert(i/alertsPerGroup, i%alertsPerGroup)})
	}

	plain := burst(t, binary, fresh(t, server, "plain"), "/api/v1/alerts", single)

	deliveries := make([][]byte, alertGroups)
	for group := range deliveries {
		deliveries[group] = delivery(t, group)
	}

	url := fresh(t, server, "deliveries")
	grouped := burst(t, binary, url, "/api/v1/webhooks/alertmanager/default", deliveries)

	stored := func(sql string) string { return strconv.Itoa(query[int](t, url, sql)) }
	row := func(what, got, note string) { fmt.Printf("%-62s %10s   %s\n", what, got, note) }
	rate := func(b burstResult) float64 { return alerts / b.took.Seconds() }

	fmt.Printf("\n%-62s %10s   %s\n", "10,000 alerts in 200 groups, 8 senders", "measured", "for comparison")
	row("time to answer one alert, p50", millis(plain.p50), "without an identity, one by one")
	row("time to answer one alert, p95", millis(plain.p95), "")
	row("the same, alerts per second", fmt.Sprintf("%.0f", rate(plain)), "")
	row("time to answer a delivery of 50 alerts, p50", millis(grouped.p50), "")
	row("time to answer a delivery of 50 alerts, p95", millis(grouped.p95), "")
	row("the same, alerts per second", fmt.Sprintf("%.0f", rate(grouped)), fmt.Sprintf("%.1f of alerts one by one", rate(grouped)/rate(plain)))
	row("sessions created", stored("SELECT count(*) FROM sessions"), "one for the storm of each group; 10,000 one by one")
	row("suppressed alerts, each listed", stored("SELECT count(*) FROM suppressed_alerts"), "")
	row("peak resident memory of the server", fmt.Sprintf("%.0f MB", grouped.peak), fmt.Sprintf("%.0f MB one by one", plain.peak))

	require.Equal(t, alertGroups, query[int](t, url, "SELECT count(*) FROM sessions"))
	require.Equal(t, alerts, query[int](t, url, "SELECT count(DISTINCT fingerprint) FROM suppressed_alerts"), "no alert is lost")
}

// burstResult is what a server needed for a burst of requests.
type burstResult struct {
	took, p50, p95 time.Duration
	// peak is the server's peak resident memory in MB.
	peak float64
}

// burst starts a server and posts the bodies to it.
func burst(t *testing.T, binary, url, path string, bodies [][]byte) burstResult {
	t.Helper()

	file := filepath.Join(t.TempDir(), "tarsy.yaml")
	require.NoError(t, os.WriteFile(file, []byte(alertConfig), 0o600))

	p := &mockProcess{address: "127.0.0.1:" + unusedPort(t)}
	p.command = exec.Command(binary, "serve", "--config-dir", file, "--listen", p.address, "--database-url", url)
	require.NoError(t, p.command.Start())
	t.Cleanup(p.stop)

	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: alertSenders}}
	defer client.CloseIdleConnections()

	awaitReady(t, client, p.address)

	var (
		group errgroup.Group
		next  atomic.Int64
		mu    sync.Mutex
		times []time.Duration
	)

	began := time.Now()

	for range alertSenders {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(bodies)); i = next.Add(1) - 1 {
				sent := time.Now()

				resp, err := client.Post("http://"+p.address+path, "application/json", bytes.NewReader(bodies[i]))
				if err != nil {
					return err
				}

				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()

				if resp.StatusCode/100 != 2 {
					return fmt.Errorf("%s answered %d", path, resp.StatusCode)
				}

				mu.Lock()
				times = append(times, time.Since(sent))
				mu.Unlock()
			}

			return nil
		})
	}

	require.NoError(t, group.Wait())

	result := burstResult{took: time.Since(began), peak: p.resident(t, "VmHWM")}
	slices.Sort(times)
	result.p50, result.p95 = times[len(times)/2], times[len(times)*95/100]

	p.stop() // leave the machine to the next server

	return result
}

func awaitReady(t *testing.T, client *http.Client, address string) {
	t.Helper()

	for began := time.Now(); ; <-time.After(20 * time.Millisecond) {
		require.Less(t, time.Since(began), time.Minute, "the server does not start")

		resp, err := client.Get("http://" + address + "/readyz")
		if err != nil {
			continue
		}

		_ = resp.Body.Close()

		if resp.StatusCode == http.StatusOK {
			return
		}
	}
}

// delivery is a group of alerts as Alertmanager posts it.
func delivery(t *testing.T, group int) []byte {
	t.Helper()

	alerts := make([]map[string]any, alertsPerGroup)
	for i := range alerts {
		alerts[i] = groupAlert(group, i)
	}

	labels := map[string]string{"alertname": "KubePodCrashLooping", "namespace": fmt.Sprintf("team-%d", group)}

	return marshal(t, map[string]any{
		"version": "4", "groupKey": fmt.Sprintf("{}:{namespace=\"team-%d\"}", group), "truncatedAlerts": 0, "status": "firing", "receiver": "tarsy",
		"groupLabels": labels, "commonLabels": labels, "commonAnnotations": map[string]string{},
		"externalURL": "http://alertmanager.example.com", "alerts": alerts,
	})
}

func groupAlert(group, n int) map[string]any {
	return map[string]any{
		"status": "firing",
		"labels": map[string]string{
			"alertname": "KubePodCrashLooping", "cluster": "eu-1", "namespace": fmt.Sprintf("team-%d", group), "deployment": "api",
			"pod": fmt.Sprintf("api-5b8f6d7c9-%05d", n), "container": "api", "severity": "warning", "team": fmt.Sprintf("team-%d", group),
		},
		"annotations": map[string]string{
			"summary":     fmt.Sprintf("Pod api-5b8f6d7c9-%05d is crash looping", n),
			"description": "The container api has been waiting in CrashLoopBackOff for more than 15 minutes.",
			"runbook_url": "https://runbooks.example.com/KubePodCrashLooping",
		},
		"startsAt": "2026-03-17T09:25:10Z", "endsAt": "0001-01-01T00:00:00Z",
		"generatorURL": "http://prometheus.example.com/graph?g0.expr=kube_pod_container_status_waiting_reason",
		"fingerprint":  fmt.Sprintf("%08x%08x", group, n),
	}
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()

	raw, err := json.Marshal(value)
	require.NoError(t, err)

	return raw
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
