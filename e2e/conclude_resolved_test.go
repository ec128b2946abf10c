package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// alertmanagerBody returns what Alertmanager sends for a group with one alert per disk, all of them firing or resolved.
func alertmanagerBody(status string, disks []string) string {
	alerts, ended := make([]string, len(disks)), "0001-01-01T00:00:00Z"
	if status == "resolved" {
		ended = "2026-11-16T12:30:00Z"
	}

	for i, disk := range disks {
		alerts[i] = fmt.Sprintf(`{"status": %q, "labels": {"alertname": "DiskFull", "disk": %q}, "annotations": {"summary": "Disk full"},
"startsAt": "2026-11-16T12:00:00Z", "endsAt": %q, "generatorURL": "http://prometheus.example.com/graph", "fingerprint": "fingerprint-of-%s"}`,
			status, disk, ended, disk)
	}

	return `{"version": "4", "groupKey": "{}:{alertname=\"DiskFull\"}", "status": "` + status + `", "receiver": "tarsy",
"groupLabels": {"alertname": "DiskFull"}, "commonLabels": {"alertname": "DiskFull"}, "commonAnnotations": {},
"externalURL": "http://alertmanager.example.com", "alerts": [` + strings.Join(alerts, ",") + "]}"
}

// awaitRenewal waits until the holder of a session has acted on a renewal of its lease that began after now. Of the
// renewals seen, the first one may have begun earlier, the second one did not, and the third one begins when the second one
// was acted on.
func awaitRenewal(t *testing.T, app *tarsytest.App, sessionID string) {
	t.Helper()

	type lease struct{ LeaseUntil time.Time }

	const renewals = 3

	ends := map[time.Time]bool{}

	until(t, "renewals of the lease", func() bool {
		ends[tarsytest.Rows[lease](app, `SELECT lease_until FROM sessions WHERE id = $1`, sessionID)[0].LeaseUntil] = true

		return len(ends) > renewals
	})
}

// An alert is resolved while its agent waits for a tool. The server that receives this report does not run the session.
func TestAgentsAreAskedToConcludeWhenAlertIsResolved(t *testing.T) {
	t.Parallel()

	const conclude, storm = "  resolved: {conclude: true}\n", "  storm: {threshold: 1}\n"

	for name, test := range map[string]struct {
		settings string
		// disks are those whose alerts fire, over those whose alerts are resolved later.
		disks, over []string
		reason      tarsy.ForcedConclusion
	}{
		"if configured":                      {conclude, []string{"sda"}, []string{"sda"}, tarsy.ForcedResolved},
		"not by default":                     {"", []string{"sda"}, []string{"sda"}, tarsy.NotForced},
		"in a storm if no member fires":      {conclude + storm, []string{"sda", "sdb"}, []string{"sda", "sdb"}, tarsy.ForcedResolved},
		"not in a storm if one member fires": {conclude + storm, []string{"sda", "sdb"}, []string{"sda"}, tarsy.NotForced},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			held := newHold(t)
			tools := tarsytest.NewMCPServer("test-mcp", tarsytest.Tool{
				Name: "get_metrics", ReadOnly: true, Handle: func(ctx context.Context, _ map[string]any) (string, error) {
					held.pass(ctx)

					return "90 %", nil
				},
			})
			options := func(workers int) tarsytest.Options {
				return tarsytest.Options{
					Config: "alerts:\n  receivers: {main: {source: alertmanager, alert_type: test}}\n" + test.settings +
						fmt.Sprintf("queue: {worker_count: %d, heartbeat_interval: 20ms, orphan_threshold: 20s}\n", workers) + `
agents: {Investigator: {mcp_servers: [test-mcp]}}
agent_chains: {test: {alert_types: [test], stages: [{name: look, agents: [{name: Investigator}]}]}}
`,
					MCP: []*tarsytest.MCPServer{tools},
				}
			}

			analysis, calls, concluded := "The disk was full.", 1, test.reason != tarsy.NotForced
			replies := []script.Reply{tool("get_metrics", `{}`), says(analysis)}

			if !concluded {
				replies, calls = append([]script.Reply{tool("get_metrics", `{}`)}, replies...), 2
			}

			runs := tarsytest.New(t, options(1))
			runs.Script.Route("Investigator", replies...)
			runs.Script.Route("ExecSummaryAgent", says("Disk full."))

			other := options(0)
			other.Database = runs.Database
			receives := tarsytest.New(t, other)

			_, fired := deliver(t, runs, alertmanagerBody("firing", test.disks))
			sessionID := *fired.SessionID

			runs.Await(held.reached, "the tool call")

			_, resolved := deliver(t, receives, alertmanagerBody("resolved", test.over))
			require.Equal(t, sessionID, *resolved.SessionID)
			awaitRenewal(t, runs, sessionID)
			held.Open()

			session := runs.WaitFor(sessionID, tarsy.SessionCompleted)
			require.Equal(t, string(test.reason), session.ConcludedEarly)
			require.Equal(t, test.reason, session.Stages[0].Executions[0].ForcedConclusion)
			require.Equal(t, analysis, session.FinalAnalysis)
			require.Len(t, tools.Calls(), calls)

			last := runs.Script.Calls()[calls].Request
			require.Equal(t, concluded, len(last.Tools) == 0, "a conclusion has no tools")
			require.Equal(t, concluded, strings.Contains(last.Messages[len(last.Messages)-1].Content, "The alert is resolved"))
		})
	}
}

// A release that does not know the reason shows the session as it is stored, and answers questions about it.
func TestReleaseWithoutReasonReadsSessionOfResolvedAlert(t *testing.T) {
	t.Parallel()

	previous := withoutVerdicts(t)
	u := newUpgrade(t)
	newer := u.Join(buildProgram(t))
	id := newer.app.Run("test", "what is wrong with marker-1?").ID
	newer.app.Exec(`UPDATE sessions SET concluded_early = 'resolved'`)
	newer.app.Exec(`UPDATE executions SET forced_conclusion = 'resolved'`)

	older := u.Join(previous)
	u.Leave(newer)

	session := older.app.Session(id)
	require.Equal(t, string(tarsy.ForcedResolved), session.ConcludedEarly)
	require.Equal(t, tarsy.ForcedResolved, session.Stages[0].Executions[0].ForcedConclusion)
	require.Equal(t, tarsy.StatusCompleted, older.app.Answer(id, "what else about marker-1?").Status)
}
