package alert_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

func TestSeverityWordsOfSendersAreKnown(t *testing.T) {
	t.Parallel()

	for severity, words := range map[tarsy.Severity][]string{
		tarsy.SeverityCritical: {"critical", "CRITICAL", " crit ", "page", "fatal", "emergency", "p1", "P0", "sev1", "SEV-1", "Sev 1", "P1 - Critical", "Disaster", "Severity: critical"},
		tarsy.SeverityHigh:     {"error", "high", "major", "p2", "sev2", "Priority 2"},
		tarsy.SeverityWarning:  {"warning", "warn", "minor", "medium", "p3", "Average"},
		tarsy.SeverityInfo:     {"info", "none", "low", "p4", "P5", "notice", "Informational"},
		tarsy.SeverityUnknown:  {"", "1", "5", "whatever", "criticality", "\x00", strings.Repeat("x", 1e6)},
	} {
		for _, word := range words {
			require.Equal(t, severity, alert.ParseSeverity(word), "%.40q", word)
		}
	}
}

func TestTitleUsesBestAvailableField(t *testing.T) {
	t.Parallel()

	labels := map[string]string{"alertname": "DiskFull", "instance": "web-1:9100", "mountpoint": "/data", "job": "node"}

	for _, test := range []struct {
		name, data, want string
		labels           map[string]string
		fields           config.AlertFields
	}{
		{name: "first line", data: "\n\n  Disk is full\non web-1", want: "Disk is full"},
		{name: "spaces", data: "Disk   is full", want: "Disk is full"},
		{name: "heading", data: "```\n## Disk is full ##\n", want: "Disk is full ##"},
		{name: "alert type in the text", data: "kubernetes\n\nPod is down", want: "Pod is down"},
		{name: "only the alert type", data: "kubernetes", want: "Alert of type kubernetes"},
		{name: "nothing to read", data: "---\n***", want: "Alert of type kubernetes"},
		{name: "summary", data: `{"title": "T", "annotations": {"summary": "S", "title": "A"}}`, want: "S"},
		{name: "title", data: `{"alertname": "N", "title": "T"}`, want: "T"},
		{name: "name and labels", data: "text", labels: labels, want: "DiskFull (instance=web-1:9100, mountpoint=/data)"},
		{name: "name and description", data: `{"alertname": "DiskFull", "description": "On web-1\nsince noon"}`, want: "DiskFull: On web-1"},
		{name: "name alone", data: `{"alertname": "DiskFull"}`, want: "DiskFull"},
		{name: "name in labels of JSON", data: `{"labels": {"alertname": "DiskFull", "pod": "a"}}`, want: "DiskFull (pod=a)"},
		{name: "name is the alert type", data: `{"alertname": "Kubernetes", "message": "Pod a"}`, want: "Kubernetes: Pod a"},
		{name: "message", data: `{"host": "a", "message": "Disk is full"}`, want: "Disk is full"},
		{name: "wrapped", data: `{"alert": {"title": "Inner"}, "id": 1}`, want: "Inner"},
		{name: "pasted delivery", data: `{"version": "4", "alerts": [{"labels": {"alertname": "A"}, "annotations": {"summary": "Pasted"}}]}`, want: "Pasted"},
		{name: "list", data: `[{"summary": "First"}, {"summary": "Second"}]`, want: "First"},
		{name: "other fields", data: `{"value": 93, "host": "web-1"}`, want: "host: web-1, value: 93"},
		{name: "empty object", data: `{}`, want: "Alert of type kubernetes"},
		{name: "broken JSON", data: "{\n\"summary: x", want: `"summary: x`},
		{name: "configured", data: `{"summary": "S", "headline": "H"}`, fields: config.AlertFields{Title: []string{"missing", "headline"}}, want: "H"},
		{name: "configured label", data: "text", labels: labels, fields: config.AlertFields{Title: []string{"alertname"}}, want: "DiskFull (instance=web-1:9100, mountpoint=/data)"},
		{name: "configured but missing", data: `{"alertname": "N"}`, fields: config.AlertFields{Title: []string{"missing"}}, want: "N"},
		{name: "configured but missing, with the usual", data: `{"alertname": "N", "summary": "S"}`, fields: config.AlertFields{Title: []string{"missing"}}, want: "N"},
		{name: "title is the alert type", data: `{"title": "Kubernetes", "message": "Pod a is down"}`, want: "Pod a is down"},
		{name: "invisible characters", data: "Disk\u202e is\x00\tfull\u200b\x07", want: "Disk is full"},
		{name: "too long", data: strings.Repeat("é", 300), want: strings.Repeat("é", 98) + "…"},
	} {
		a := tarsy.Alert{AlertType: "kubernetes", Data: test.data, Facts: tarsy.AlertFacts{Labels: test.labels}}
		alert.Complete(&a, test.fields, nil)
		require.Equal(t, test.want, a.Facts.Title, test.name)
		requireBounded(t, a)
	}
}

func TestFactsComeFromWellKnownOrConfiguredNames(t *testing.T) {
	t.Parallel()

	complete := func(data string, fields config.AlertFields) tarsy.AlertFacts {
		a := tarsy.Alert{Data: data}
		alert.Complete(&a, fields, nil)
		requireBounded(t, a)

		return a.Facts
	}

	f := complete(`{
		"labels": {"severity": "odd", "level": "warn", "app": "api", "job": "node", "exported_namespace": "ns", "environment": "prod", "squad": "core", "n": 7},
		"annotations": {"service": "not a label", "runbook_url": "https://wiki.example.com/a", "dashboard_url": "http://grafana.example.com/d/1"},
		"startsAt": "2026-11-16T10:00:00+01:00", "links": {"incident": "https://incidents.example.com/1"}
	}`, config.AlertFields{})

	require.Equal(t, tarsy.SeverityWarning, f.Severity, "the first known word")
	require.Equal(t, "not a label", f.Service, "the first name wins, wherever it is")
	require.Equal(t, []string{"ns", "prod", "core"}, []string{f.Namespace, f.Cluster, f.Team})
	require.Equal(t, "7", f.Labels["n"])
	require.Equal(t, "2026-11-16T09:00:00Z", f.StartsAt.Format("2006-01-02T15:04:05Z07:00"))
	require.Equal(t, []tarsy.AlertLink{
		{Kind: tarsy.LinkDashboard, URL: "http://grafana.example.com/d/1"},
		{Kind: tarsy.LinkRunbook, URL: "https://wiki.example.com/a"},
		{Kind: tarsy.LinkIncident, URL: "https://incidents.example.com/1"},
	}, f.Links)

	f = complete(`{"labels": {"severity": "info", "prio": "p1", "app": "api", "unit": "u", "ns": "n", "dc": "d", "group": "g"}}`, config.AlertFields{
		Severity: []string{"prio"}, Service: []string{"unit"}, Namespace: []string{"ns"}, Cluster: []string{"dc"}, Team: []string{"crew", "group"},
	})
	require.Equal(t, tarsy.SeverityCritical, f.Severity)
	require.Equal(t, []string{"u", "n", "d", "g"}, []string{f.Service, f.Namespace, f.Cluster, f.Team})

	f = complete("just text", config.AlertFields{})
	require.Equal(t, tarsy.SourceAPI, f.Source)
	require.Nil(t, f.StartsAt)
	require.Empty(t, f.Links)
}

func TestFactsThatAreSetAreKept(t *testing.T) {
	t.Parallel()

	a := tarsy.Alert{Data: `{"title": "T", "severity": "info", "service": "s", "labels": {"a": "text"}}`, Facts: tarsy.AlertFacts{
		Title: " Set \n by route ", Severity: tarsy.SeverityHigh, Service: "mine", Labels: map[string]string{"a": "set"}, Source: tarsy.SourceDiscord,
	}}
	alert.Complete(&a, config.AlertFields{}, nil)

	require.Equal(t, "Set by route", a.Facts.Title)
	require.Equal(t, tarsy.SeverityHigh, a.Facts.Severity)
	require.Equal(t, "mine", a.Facts.Service)
	require.Equal(t, "set", a.Facts.Labels["a"])
	require.Equal(t, tarsy.SourceDiscord, a.Facts.Source)
}

func TestLinksAreOnlyWebPagesWithoutCredentials(t *testing.T) {
	t.Parallel()

	for address, ok := range map[string]bool{
		"https://example.com/a?b=c#d":                      true,
		"HTTP://EXAMPLE.com":                               true,
		"http://[::1]:9090/graph":                          true,
		"javascript:alert(1)":                              false,
		"data:text/html,x":                                 false,
		"//example.com":                                    false,
		"/relative":                                        false,
		"https://":                                         false,
		"https://user:secret@example.com/":                 false,
		"https://user@example.com/":                        false,
		"https://example.com/a b":                          false,
		"https://example.com/\u202egnp.exe":                false,
		"https://example.com\\@evil.example.com":           false,
		"ftp://example.com":                                false,
		"https://example.com/" + strings.Repeat("a", 5000): false,
		"": false,
	} {
		a := tarsy.Alert{Data: "x", Facts: tarsy.AlertFacts{Links: []tarsy.AlertLink{{Kind: tarsy.LinkRunbook, URL: address}}}}
		alert.Complete(&a, config.AlertFields{}, nil)
		require.Equal(t, ok, len(a.Facts.Links) == 1, "%.60s", address)
		requireBounded(t, a)
	}

	var many []tarsy.AlertLink
	for i := range 100 {
		many = append(many, tarsy.AlertLink{Kind: tarsy.LinkPanel, URL: "https://example.com/" + strings.Repeat("a", i%50)}, tarsy.AlertLink{Kind: "image", URL: "https://example.com"})
	}

	a := tarsy.Alert{Data: "x", Facts: tarsy.AlertFacts{Links: many}}
	alert.Complete(&a, config.AlertFields{}, nil)
	require.Len(t, a.Facts.Links, tarsy.MaxAlertLinks)
}
