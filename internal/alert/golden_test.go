package alert_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/golden"
	"tarsy.dev/tarsy/internal/plaintext"
)

// genericMapping is the mapping for testdata/generic.json.
var genericMapping = config.Mapping{
	Alerts:      "checks",
	Title:       `{{.check.name}} on {{.host}}`,
	Severity:    "state",
	Service:     "check.tags.app.kubernetes.io/name",
	Cluster:     "site", // from the whole body
	Team:        `{{default "nobody" .group}}`,
	Fingerprint: "id",
	Status:      "state",
	Resolved:    []string{"recovered"},
	StartsAt:    "since",
	Labels:      "check.tags",
	Links:       map[string]string{"dashboard": "urls.0"},
	Runbook:     "urls.1",
}

// Facts and texts of the bodies in testdata, which have the fields listed in the senders' documentation.
func TestDeliveriesBecomeAlertsAsReviewed(t *testing.T) {
	t.Parallel()

	for _, source := range webhookSources() {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()

			r := config.Receiver{Name: "default", Source: string(source), AlertType: "kubernetes", Labels: map[string]string{"cluster": "added", "region": "eu"}}
			if source == tarsy.SourceGeneric {
				r.Mapping = genericMapping
			}

			delivery, err := alert.Read(r, testdata(t, string(source)), config.AlertFields{}, nil)
			require.NoError(t, err)
			require.Len(t, delivery.Key, 32)
			require.Equal(t, source, delivery.Source)
			require.Equal(t, "default", delivery.Receiver)

			golden.Compare(t, string(source)+".txt", show(t, delivery))

			for _, a := range delivery.Alerts {
				again := a
				alert.Complete(&again, config.AlertFields{}, nil)
				require.Equal(t, a, again, "completing twice changes nothing")
				requireBounded(t, a)
				requireReadable(t, a)
			}
		})
	}
}

func testdata(t *testing.T, name string) []byte {
	t.Helper()

	body, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)

	return body
}

func show(t *testing.T, delivery tarsy.Delivery) []byte {
	t.Helper()

	var out bytes.Buffer

	for i, a := range delivery.Alerts {
		facts := bytes.Buffer{}
		encoder := json.NewEncoder(&facts)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		require.NoError(t, encoder.Encode(a.Facts))
		fmt.Fprintf(&out, "=== alert %d: type %q, resolved %v\n%s--- text\n%s\n", i+1, a.AlertType, a.Resolved, facts.String(), a.Data)
	}

	return out.Bytes()
}

// requireReadable checks the invariants of the text made from a sender's body.
func requireReadable(t require.TestingT, a tarsy.Alert) {
	require.NotEmpty(t, a.Data)
	require.LessOrEqual(t, len(a.Data), tarsy.MaxAlertBytes)
	require.NotContains(t, a.Data, "\x00")
	require.Equal(t, plaintext.Clean(a.Data), a.Data)
}

// requireBounded checks the invariants of facts for any input.
func requireBounded(t require.TestingT, a tarsy.Alert) {
	f := a.Facts
	require.NotEmpty(t, f.Title)
	require.NotEmpty(t, f.Fingerprint)
	require.NotEmpty(t, f.GroupKey)
	require.LessOrEqual(t, len(f.Title), tarsy.MaxTitle)
	require.LessOrEqual(t, len(f.Fingerprint), 400)
	require.LessOrEqual(t, len(f.GroupKey), 500)
	require.NotNil(t, f.Labels)
	require.NotNil(t, f.Links)
	require.LessOrEqual(t, len(f.Labels), tarsy.MaxLabels)
	require.LessOrEqual(t, len(f.Links), tarsy.MaxAlertLinks)

	lines := []string{f.Title, f.Service, f.Namespace, f.Cluster, f.Team, f.Fingerprint, f.GroupKey, f.Receiver}

	for name, value := range f.Labels {
		require.LessOrEqual(t, len(name), tarsy.MaxLabelName)
		require.LessOrEqual(t, len(value), tarsy.MaxLabelValue)
		lines = append(lines, name, value)
	}

	for _, link := range f.Links {
		require.Regexp(t, `^https?://[^/@]+(/|$|\?|#)`, link.URL)
		lines = append(lines, link.URL)
	}

	for _, line := range lines {
		require.False(t, strings.ContainsFunc(line, plaintext.Invisible), "%q", line)
		require.Equal(t, plaintext.Clean(line), line)
	}
}
