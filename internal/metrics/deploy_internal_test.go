package metrics

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

const (
	rulesPath      = "../../deploy/prometheus/rules.yaml"
	dashboardPath  = "../../deploy/grafana/tarsy.json"
	operationsPath = "../../docs/operations.md"
	metricsPath    = "../../docs/metrics.md"
)

// everyName returns the names of all metrics of a server.
func everyName(t *testing.T) map[string]bool {
	t.Helper()

	none := func() int64 { return 0 }
	m := New(Config{})
	m.AddMasker(func() (int64, int64) { return 0, 0 })
	m.AddTraces(func() (int64, int64, int64) { return 0, 0, 0 })
	m.AddBodies(none)
	m.AddStreams(Streams{WebSockets: none, EventStreams: none, DroppedDeltas: none, DroppedChanges: none})
	m.AddDatabase(Database{
		Workload: func(context.Context) (Workload, error) { return Workload{}, nil }, Pools: func() map[string]*pgxpool.Stat { return nil },
	})

	descs := make(chan *prometheus.Desc)

	go func() {
		defer close(descs)

		m.registry.Describe(descs)
	}()

	name, names := regexp.MustCompile(`fqName: "([^"]+)"`), map[string]bool{}
	for desc := range descs {
		names[name.FindStringSubmatch(desc.String())[1]] = true
	}

	return names
}

// metricNames returns the metric names in a PromQL text, without the suffixes of histograms.
func metricNames(text string) []string {
	var found []string

	for _, name := range regexp.MustCompile(`\b(?:tarsy|go|process)_[a-z0-9_]+`).FindAllString(text, -1) {
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, suffix)
		}

		found = append(found, name)
	}

	return found
}

type alertRule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func readRules(t *testing.T) []alertRule {
	t.Helper()

	var file struct {
		Groups []struct {
			Rules []alertRule `yaml:"rules"`
		} `yaml:"groups"`
	}

	require.NoError(t, yaml.Unmarshal(read(t, rulesPath), &file))
	require.Len(t, file.Groups, 1)
	require.NotEmpty(t, file.Groups[0].Rules)

	return file.Groups[0].Rules
}

func read(t *testing.T, path string) []byte {
	t.Helper()

	text, err := os.ReadFile(path)
	require.NoError(t, err)

	return text
}

func TestAlertRulesNameExistingMetrics(t *testing.T) {
	t.Parallel()

	names := everyName(t)

	for _, rule := range readRules(t) {
		used := metricNames(rule.Expr)
		require.True(t, len(used) > 0 || strings.HasPrefix(rule.Expr, "up{"), rule.Alert)

		for _, name := range used {
			require.True(t, names[name], "%s: there is no metric %s", rule.Alert, name)
		}
	}
}

func TestDashboardNamesExistingMetrics(t *testing.T) {
	t.Parallel()

	var dashboard struct {
		Panels []struct {
			ID      int    `json:"id"`
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}

	require.NoError(t, json.Unmarshal(read(t, dashboardPath), &dashboard))
	require.NotEmpty(t, dashboard.Panels)

	names, ids, shown := everyName(t), map[int]bool{}, map[string]bool{}

	for _, panel := range dashboard.Panels {
		require.NotEmpty(t, panel.Targets, panel.Title)
		require.False(t, ids[panel.ID], "the id of %s is used twice", panel.Title)
		ids[panel.ID] = true

		for _, target := range panel.Targets {
			for _, name := range metricNames(target.Expr) {
				require.True(t, names[name], "%s: there is no metric %s", panel.Title, name)
				shown[name] = true
			}
		}
	}

	require.True(t, shown["tarsy_sessions"] && shown["tarsy_llm_cost_usd_total"], "the most important ones are shown")
}

func TestEveryAlertRuleHasRunbook(t *testing.T) {
	t.Parallel()

	rules, operations := readRules(t), string(read(t, operationsPath))
	_, entries, _ := strings.Cut(operations, "## Alert rules\n")

	for _, rule := range rules {
		require.Contains(t, []string{"critical", "warning"}, rule.Labels["severity"], rule.Alert)
		require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		require.Equal(t, "docs/operations.md#"+strings.ToLower(rule.Alert), rule.Annotations["runbook"], rule.Alert)

		_, entry, found := strings.Cut(entries, "### "+rule.Alert+"\n")
		require.True(t, found, "docs/operations.md has no entry for %s", rule.Alert)

		entry, _, _ = strings.Cut(entry, "\n### ")
		for _, part := range []string{"**Meaning.**", "**Look at.**", "**Do.**"} {
			require.Contains(t, entry, part, rule.Alert)
		}
	}

	require.Equal(t, len(rules), strings.Count(entries, "\n### "), "an entry without a rule")
}

func TestDocumentListsEveryMetric(t *testing.T) {
	t.Parallel()

	names, documented := everyName(t), map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(tarsy_[a-z0-9_]+)` \\|").FindAllSubmatch(read(t, metricsPath), -1) {
		documented[string(row[1])] = true
		require.True(t, names[string(row[1])], "docs/metrics.md: there is no metric %s", row[1])
	}

	for name := range names {
		require.True(t, documented[name] || !strings.HasPrefix(name, "tarsy_"), "docs/metrics.md does not list %s", name)
	}
}

// promtool is part of Debian's Prometheus package, which scripts/install-alertmanager.sh downloads.
func TestAlertRulesPassPromtool(t *testing.T) {
	t.Parallel()

	promtool, err := filepath.Abs("../../.cache/debian/prometheus/root/usr/bin/promtool")
	require.NoError(t, err)

	if _, err := os.Stat(promtool); err != nil {
		promtool, err = exec.LookPath("promtool")
		if err != nil {
			t.Skip("promtool is not installed: run make alertmanager")
		}
	}

	out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", rulesPath).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "SUCCESS")
}
