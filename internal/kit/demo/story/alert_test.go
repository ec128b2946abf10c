package story_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm/script"
)

// example is an alert of the demo as the agents see it.
type example struct {
	// Name is the name of the story.
	Name      string
	AlertType string
	Data      string
	Runbook   string
}

const eu = story.ClusterPrefix + "1"

// demoConfig is the demo's configuration.
func demoConfig(t *testing.T) *config.Config {
	t.Helper()

	loaded, err := config.Load(config.Source{Files: []config.File{{Name: "demo.yaml", Text: story.Config("tarsy", "demo-cluster")}}})
	require.NoError(t, err)

	return loaded
}

// read parses the deliveries for a cluster as the server does, and applies the routes.
func read(t *testing.T, cluster string) (deliveries []tarsy.Delivery, stories []string) {
	t.Helper()

	cfg := demoConfig(t)
	catalog, receiver := chain.NewCatalog(cfg), cfg.Alerts.Receivers[story.Receiver]
	receiver.Name = story.Receiver

	for _, d := range story.Deliveries(cluster) {
		delivery, err := alert.Read(receiver, d.Body, cfg.Alerts.Fields, cfg.Alerts.GroupBy)
		require.NoError(t, err)

		for i := range delivery.Alerts {
			_, err := catalog.ApplyRoutes(&delivery.Alerts[i])
			require.NoError(t, err)
		}

		deliveries, stories = append(deliveries, delivery), append(stories, d.Story)
	}

	return deliveries, stories
}

// examples returns one alert of each story.
func examples(t *testing.T) []example {
	t.Helper()

	deliveries, stories := read(t, eu)

	var all []example

	for i, name := range stories {
		if slices.ContainsFunc(all, func(e example) bool { return e.Name == name }) {
			continue
		}

		first := deliveries[i].Alerts[0]
		about := example{Name: name, AlertType: first.AlertType, Data: first.Data, Runbook: first.Runbook}

		if name == "node-down" {
			about.Data = "A storm of alerts of one group: 6 alerts so far, and more may follow.\n\nAlerts:\n"
			for _, member := range deliveries[i].Alerts[2:] {
				about.Data += "- " + member.Facts.Title + "\n" + member.Data + "\n"
			}
		}

		all = append(all, about)
	}

	for _, text := range story.Texts() {
		all = append(all, example{Name: text.Story, AlertType: text.AlertType, Data: text.Data, Runbook: text.Runbook})
	}

	return all
}

func TestEveryAlertIsCompleteAndRouted(t *testing.T) {
	t.Parallel()

	deliveries, _ := read(t, eu)
	severities, teams := map[tarsy.Severity]bool{}, map[string]bool{}

	for _, d := range deliveries {
		for _, a := range d.Alerts {
			f := a.Facts
			require.NotEmpty(t, f.Title)
			require.NotEmpty(t, f.Severity, f.Title)
			require.NotEmpty(t, f.Service, f.Title)
			require.NotEmpty(t, f.Namespace, f.Title)
			require.NotEmpty(t, f.Team, f.Title)
			require.NotEmpty(t, a.Runbook, "%s: the route has a runbook", f.Title)
			require.Equal(t, eu, f.Cluster)
			require.NotNil(t, f.StartsAt)
			require.True(t, f.StartsAt.Before(time.Date(2026, time.March, 17, 9, 42, 1, 0, time.UTC)), "the cluster stands still then")
			require.Equal(t, tarsy.SourceAlertmanager, f.Source)

			kinds := []tarsy.AlertLinkKind{}
			for _, link := range f.Links {
				kinds = append(kinds, link.Kind)
			}

			require.Contains(t, kinds, tarsy.LinkGenerator)
			require.Contains(t, kinds, tarsy.LinkRunbook)

			severities[f.Severity], teams[f.Team] = true, true
		}
	}

	require.Len(t, severities, 3)
	require.Len(t, teams, 5)
	require.Len(t, examples(t), len(stories())+1)
}

func TestDeliveriesShowRepetitionsResolvedAlertAndGrowingGroup(t *testing.T) {
	t.Parallel()

	deliveries, stories := read(t, eu)
	sent := map[string][]string{} // the deliveries of each story: number of alerts and kind
	keys := map[string]bool{}

	for i, d := range deliveries {
		kind := "firing"
		if d.Alerts[0].Resolved {
			kind = "resolved"
		}

		sent[stories[i]] = append(sent[stories[i]], fmt.Sprintf("%d %s", len(d.Alerts), kind))
		keys[string(d.Key)] = true
	}

	require.Equal(t, map[string][]string{
		"slow-search": {"1 firing"}, "oom-kill": {"1 firing", "1 firing", "1 firing"}, "crash-loop": {"1 firing", "1 firing"},
		"expiring-certificate": {"1 firing"}, "false-alarm": {"1 firing", "1 resolved"}, "pod-not-ready": {"2 firing"}, "node-down": {"8 firing"},
	}, sent)
	require.Len(t, keys, len(deliveries), "none is the repetition of another")
}

func TestClustersHaveSeparateAlerts(t *testing.T) {
	t.Parallel()

	identities := func(cluster string) (all []string) {
		deliveries, _ := read(t, cluster)
		for _, d := range deliveries {
			for _, a := range d.Alerts {
				all = append(all, a.Facts.Fingerprint, a.Facts.GroupKey)
			}
		}

		return all
	}

	first := identities(eu)
	require.Equal(t, first, identities(eu), "the same each time")

	for _, identity := range identities(story.ClusterPrefix + "2") {
		require.NotContains(t, first, identity)
	}
}

func TestBodiesHaveWhatAllAlertsOfGroupShare(t *testing.T) {
	t.Parallel()

	all := story.Deliveries(eu)

	var body struct {
		GroupKey     string            `json:"groupKey"`
		GroupLabels  map[string]string `json:"groupLabels"`
		CommonLabels map[string]string `json:"commonLabels"`
		Alerts       []json.RawMessage `json:"alerts"`
	}

	require.NoError(t, json.Unmarshal(all[len(all)-1].Body, &body))
	require.Equal(t, `{}:{alertname="KubePodNotReady", namespace="media"}`, body.GroupKey)
	require.Equal(t, map[string]string{"alertname": "KubePodNotReady", "namespace": "media"}, body.GroupLabels)
	require.Equal(t, map[string]string{
		"alertname": "KubePodNotReady", "namespace": "media", "cluster": eu, "severity": "warning", "team": "media",
	}, body.CommonLabels)
	require.Len(t, body.Alerts, 8)
}

func TestSilencedAlertLeadsToStory(t *testing.T) {
	t.Parallel()

	deliveries, _ := read(t, eu)

	for _, d := range deliveries {
		if a := d.Alerts[0]; strings.Contains(a.Data, "KubeDeploymentRolloutStuck") {
			require.Equal(t, "crash-loop", a.AlertType)
			require.Contains(t, play(t, story.Client(script.Pace{}), connect(t), "Investigator", a.Data).result, "misspelled DATABASE_HOST")

			return
		}
	}

	require.Fail(t, "there is no such alert")
}
