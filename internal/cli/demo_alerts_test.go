package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
)

// demoSessionCount is how many sessions the demo's alerts create: six for single alerts, two for a group, and one for the storm.
const demoSessionCount = 9

// requireSent checks what the demo prints about its alerts.
func requireSent(t *testing.T, text string) {
	t.Helper()

	require.Contains(t, text, "/api/v1/webhooks/alertmanager/demo")
	require.Equal(t, demoSessionCount, strings.Count(text, "▸"), text)

	for _, line := range []string{
		"checkout keeps being OOM-killed · received 3 times\n", "batch-reports used up to 3.9 of 4 cores · resolved\n",
		", namespace=media) · storm, investigated together\n", "catalog-search writes credentials into its log · sent as text\n",
		"○ silenced      Rollout of payments-api is not progressing · Maintenance window \"payments-rollouts\"\n",
	} {
		require.Contains(t, text, line)
	}
}

func demoSessions(t *testing.T, server string) []tarsy.SessionItem {
	t.Helper()

	var items []tarsy.SessionItem

	got := tarsyWith(t, nil, "", "sessions", "--server", server, "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &items))

	return items
}

// demoSession returns the first session of an alert type.
func demoSession(t *testing.T, items []tarsy.SessionItem, alertType string) tarsy.SessionItem {
	t.Helper()

	i := slices.IndexFunc(items, func(s tarsy.SessionItem) bool { return s.AlertType == alertType })
	require.GreaterOrEqual(t, i, 0, "there is no session of type %s", alertType)

	return items[i]
}

// requireDemoStates checks the state of the demo's alerts: one was received three times, one is resolved, six form a
// storm, and one is suppressed.
func requireDemoStates(t *testing.T, server string, items []tarsy.SessionItem) {
	t.Helper()

	repeated := demoSession(t, items, "pod-oom-killed")
	require.Equal(t, tarsy.SourceAlertmanager, repeated.Source)
	require.Equal(t, "demo-eu-1", repeated.Cluster)
	require.Equal(t, tarsy.SeverityCritical, repeated.Severity)
	require.EqualValues(t, 3, repeated.Alert.Occurrences)

	require.False(t, demoSession(t, items, "high-cpu").Alert.Firing)
	require.Nil(t, demoSession(t, items, "secret-in-log").Alert, "text has no identity")

	storms := slices.DeleteFunc(slices.Clone(items), func(s tarsy.SessionItem) bool { return s.Alert == nil || !s.Alert.Storm })
	require.Len(t, storms, 1)
	require.EqualValues(t, 6, storms[0].Alert.Members)

	watched := tarsyWith(t, nil, "", "watch", "--server", server, storms[0].ID)
	require.Equal(t, cli.ExitOK, watched.code, watched.stderr)
	require.Contains(t, watched.stdout, "node-f is down because its disk is full", "the common cause")

	reasons := map[tarsy.SuppressionReason]int{}
	for _, s := range demoSuppressed(t, server) {
		reasons[s.Reason]++
	}

	require.Equal(t, map[tarsy.SuppressionReason]int{
		tarsy.SuppressedStorm: 6, tarsy.SuppressedDuplicate: 3, tarsy.SuppressedMaintenance: 1,
	}, reasons)
}

func demoSuppressed(t *testing.T, server string) []tarsy.SuppressedAlert {
	t.Helper()

	var all []tarsy.SuppressedAlert

	got := tarsyWith(t, nil, "", "suppressed", "list", "--server", server, "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &all), got.stdout)

	return all
}

// requireSilencedStory investigates the alert that the maintenance window suppressed.
func requireSilencedStory(t *testing.T, server string) {
	t.Helper()

	all := demoSuppressed(t, server)
	i := slices.IndexFunc(all, func(s tarsy.SuppressedAlert) bool { return s.Reason == tarsy.SuppressedMaintenance })
	require.GreaterOrEqual(t, i, 0)

	got := tarsyWith(t, nil, "", "suppressed", "investigate", "--server", server, all[i].ID)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	sessions := slices.DeleteFunc(demoSessions(t, server), func(s tarsy.SessionItem) bool { return s.Title != all[i].Title })
	require.Len(t, sessions, 1)

	watched := tarsyWith(t, nil, "", "watch", "--server", server, sessions[0].ID)
	require.Equal(t, cli.ExitOK, watched.code, watched.stderr)
	require.Contains(t, watched.stdout, "crash loop caused by a misspelled DATABASE_HOST")
}
