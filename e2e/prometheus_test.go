package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// askPrometheus decodes the data of a Prometheus response.
func askPrometheus[T any](t *testing.T, address string) T {
	t.Helper()

	resp, err := http.Get(address)
	require.NoError(t, err)

	defer resp.Body.Close()

	var answer struct {
		Status string `json:"status"`
		Data   T      `json:"data"`
	}

	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	require.Equal(t, "success", answer.Status)

	return answer.Data
}

// ruleAlert is an alert as Prometheus shows it.
type ruleAlert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	State       string            `json:"state"`
}

// A real Prometheus scrapes the server with an API key and loads the shipped rules, one of which fires.
func TestAlertRuleFiresInRealPrometheus(t *testing.T) {
	t.Parallel()

	const failures = 5

	program := monitoringProgram(t, "prometheus")
	app := tarsytest.New(t, tarsytest.Options{RequireKey: true})
	app.Script.RouteFunc(func(*llm.Request) bool { return true }, func(*llm.Request, int) script.Reply {
		return script.Reply{Err: errors.New("quota exceeded")}
	})

	rules, err := filepath.Abs("../deploy/prometheus/rules.yaml")
	require.NoError(t, err)

	prometheus := startMonitoring(t, program, "/-/ready", fmt.Sprintf(`
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [%s]
scrape_configs:
  - job_name: tarsy
    authorization: {credentials: %s}
    static_configs: [{targets: [%s]}]
`, rules, app.Key("prometheus", tarsy.ScopeRead), strings.TrimPrefix(app.URL, "http://")), "--storage.tsdb.path={dir}/data")

	// scraped reports whether a query finds a sample in Prometheus.
	scraped := func(query string) bool {
		return len(askPrometheus[struct {
			Result []any `json:"result"`
		}](t, prometheus+"/api/v1/query?query="+url.QueryEscape(query)).Result) > 0
	}

	until(t, "a scrape of the server", func() bool { return scraped(`tarsy_sessions_finished_total{status="failed"} == 0`) })
	require.True(t, scraped(`tarsy_database_up == 1`))

	user := app.User("Ana")
	for range failures {
		user.WaitFor(user.Submit("test", "fail"), tarsy.SessionFailed)
	}

	var alerts []ruleAlert

	until(t, "the alert", func() bool {
		alerts = askPrometheus[struct {
			Alerts []ruleAlert `json:"alerts"`
		}](t, prometheus+"/api/v1/alerts").Alerts

		return slices.ContainsFunc(alerts, func(a ruleAlert) bool {
			return a.Labels["alertname"] == "TarsySessionsFailing" && a.State == "firing" && a.Annotations["runbook"] == "docs/operations.md#tarsysessionsfailing"
		})
	})

	for _, a := range alerts {
		require.NotContains(t, []string{"TarsyDown", "TarsyDatabaseDown"}, a.Labels["alertname"])
	}
}
