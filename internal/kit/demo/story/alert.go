package story

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// Receiver is the name of the Alertmanager receiver in the demo's configuration.
	Receiver = "demo"
	// ClusterPrefix is the prefix of the cluster label; a number follows. Alerts with different numbers are different
	// alerts, so alerts that are sent again do not count as repetitions.
	ClusterPrefix = "demo-eu-"
)

// Delivery is one webhook call of the demo's Alertmanager.
type Delivery struct {
	// Story is the name of the story that the delivery starts or continues.
	Story string
	// Body is in Alertmanager's webhook format, version 4.
	Body []byte
}

// Text is an alert that its sender submits as text.
type Text struct {
	Story     string
	AlertType string
	Data      string
	Runbook   string
}

// Texts returns the alerts that are submitted as text.
func Texts() []Text {
	var texts []Text

	for _, s := range load() {
		if s.Text != "" {
			texts = append(texts, Text{
				Story: s.Name, AlertType: s.AlertType, Data: strings.TrimSpace(s.Text), Runbook: strings.TrimSpace(s.Runbook),
			})
		}
	}

	return texts
}

// firing is an alert of a story.
type firing struct {
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
	StartsAt    time.Time         `yaml:"starts_at"`
	// EndsAt is zero for an alert that still fires.
	EndsAt       time.Time `yaml:"ends_at"`
	GeneratorURL string    `yaml:"generator_url"`
}

// group returns the labels that Alertmanager groups by.
func (f firing) group() map[string]string {
	return map[string]string{"alertname": f.Labels["alertname"], "namespace": f.Labels["namespace"]}
}

// Deliveries returns what the demo's Alertmanager posts for one cluster, in order, at the moment at which the demo's
// cluster is frozen. As with a real Alertmanager, each delivery contains all alerts of its group, including those of
// earlier deliveries.
func Deliveries(cluster string) []Delivery {
	var (
		all  []Delivery
		sent []firing
	)

	for _, s := range load() {
		for i, alert := range s.Alerts {
			alert.Labels["cluster"] = cluster
			sent = append(sent, alert)

			if i+1 < len(s.Alerts) && maps.Equal(alert.group(), s.Alerts[i+1].group()) {
				continue
			}

			group := slices.DeleteFunc(slices.Clone(sent), func(f firing) bool { return !maps.Equal(f.group(), alert.group()) })

			for replica := range max(1, s.Replicas) {
				all = append(all, Delivery{Story: s.Name, Body: body(replica, group, false)})
			}

			if !alert.EndsAt.IsZero() {
				all = append(all, Delivery{Story: s.Name, Body: body(0, group, true)})
			}
		}
	}

	return all
}

// webhook is the body of an Alertmanager webhook.
type webhook struct {
	Version           string            `json:"version"`
	GroupKey          string            `json:"groupKey"`
	TruncatedAlerts   int               `json:"truncatedAlerts"`
	Status            string            `json:"status"`
	Receiver          string            `json:"receiver"`
	GroupLabels       map[string]string `json:"groupLabels"`
	CommonLabels      map[string]string `json:"commonLabels"`
	CommonAnnotations map[string]string `json:"commonAnnotations"`
	ExternalURL       string            `json:"externalURL"`
	Alerts            []webhookAlert    `json:"alerts"`
}

type webhookAlert struct {
	Status       string            `json:"status"`
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL"`
	Fingerprint  string            `json:"fingerprint"`
}

// body returns what one of the demo's Alertmanagers posts for a group. Replicas post the same alerts under their own
// addresses.
func body(replica int, group []firing, resolved bool) []byte {
	status := "firing"
	if resolved {
		status = "resolved"
	}

	labels := group[0].group()
	b := webhook{
		Version: "4", GroupKey: fmt.Sprintf("{}:{alertname=%q, namespace=%q}", labels["alertname"], labels["namespace"]), Status: status,
		Receiver: "tarsy", GroupLabels: labels, CommonLabels: maps.Clone(group[0].Labels), CommonAnnotations: maps.Clone(group[0].Annotations),
		ExternalURL: fmt.Sprintf("http://alertmanager-main-%d:9093", replica),
	}

	for _, f := range group {
		maps.DeleteFunc(b.CommonLabels, func(name, value string) bool { return f.Labels[name] != value })
		maps.DeleteFunc(b.CommonAnnotations, func(name, value string) bool { return f.Annotations[name] != value })

		alert := webhookAlert{
			Status: status, Labels: f.Labels, Annotations: f.Annotations, StartsAt: f.StartsAt, GeneratorURL: f.GeneratorURL,
			Fingerprint: fingerprint(f.Labels),
		}
		if resolved {
			alert.EndsAt = f.EndsAt
		}

		b.Alerts = append(b.Alerts, alert)
	}

	text, err := json.Marshal(b)
	if err != nil {
		panic(fmt.Sprintf("body of %s: %v", b.GroupKey, err)) // strings and times only
	}

	return text
}

// fingerprint identifies an alert by its labels, as Alertmanager does.
func fingerprint(labels map[string]string) string {
	hash := fnv.New64a()

	for _, name := range slices.Sorted(maps.Keys(labels)) {
		_, _ = fmt.Fprintf(hash, "%s\xff%s\xff", name, labels[name]) // writing to a hash never fails
	}

	return fmt.Sprintf("%016x", hash.Sum64())
}
