package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// metric is a program with one metric, which Prometheus scrapes.
type metric struct {
	host  string
	value atomic.Int64
}

func newMetric(t *testing.T, name string) *metric {
	t.Helper()

	m := &metric{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "%s{namespace=\"shop\"} %d\n", name, m.value.Load())
	}))
	t.Cleanup(server.Close)

	m.host = strings.TrimPrefix(server.URL, "http://")

	return m
}

// startPrometheus starts a Prometheus that scrapes a metric, evaluates rules and sends alerts to Alertmanager.
func startPrometheus(t *testing.T, program, manager string, scraped *metric, rules string) {
	t.Helper()

	file := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.WriteFile(file, []byte(rules), 0o600))

	startMonitoring(t, program, "/-/ready", fmt.Sprintf(`
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [%s]
scrape_configs:
  - job_name: checkout
    honor_labels: true
    static_configs: [{targets: [%s]}]
alerting:
  alertmanagers: [{static_configs: [{targets: [%s]}]}]
`, file, scraped.host, strings.TrimPrefix(manager, "http://")), "--storage.tsdb.path={dir}/data")
}
