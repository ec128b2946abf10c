package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// silence adds a silence and returns it.
func silence(t *testing.T, app *tarsytest.App, body map[string]any) tarsy.Silence {
	t.Helper()

	resp := app.Do(http.MethodPost, "/api/v1/silences", body)
	require.Equal(t, http.StatusCreated, resp.Status, "%s", resp.Body)

	var added tarsy.Silence

	resp.Decode(t, &added)

	return added
}

// requireKept posts an alert that must be silenced, and returns its row in the list of suppressed alerts.
func requireKept(t *testing.T, app *tarsytest.App, alert sentAlert, reason tarsy.SuppressionReason, text string) tarsy.SuppressedAlert {
	t.Helper()

	result := notify(app, alert)[0]
	require.Equal(t, tarsy.ActionSilence, result.Action)
	require.Equal(t, text, result.Reason)
	require.Nil(t, result.SessionID)

	listed := app.Suppressed("reason=" + string(reason))
	require.Equal(t, *result.SuppressedID, listed[0].ID, "the latest is the first")
	require.Equal(t, alert.Labels, listed[0].Labels)
	require.True(t, listed[0].Firing)

	return listed[0]
}

// A silence has an author, a reason and an end. The alerts that it suppresses are listed, and people can investigate them anyway.
func TestSilenceKeepsAlertsBackUntilItEnds(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, RequireKey: true, Config: alertsTest + "  group_by: [pod]\n"})
	modelAnswers(app, nil)

	app.Token = app.Key("alertmanager", tarsy.ScopeWrite)
	ana, ben := app.User("ana"), app.User("ben")
	added := silence(t, ana, map[string]any{"matchers": []string{"namespace=staging", "alertname=~Disk.*"}, "reason": "load test", "duration": "2h"})
	require.Equal(t, "ana", added.Author)
	require.Equal(t, []string{`namespace="staging"`, `alertname=~"Disk.*"`}, added.Matchers)

	const text = "Silenced by ana until 2030-03-01T14:00:00Z: load test"

	row := requireKept(t, app, fires("DiskFull", "staging", "a"), tarsy.SuppressedSilence, text)
	require.Equal(t, added.ID, row.Silence)
	app.WaitFor(investigates(t, app, fires("DiskFull", "shop", "a")), tarsy.SessionCompleted)
	app.WaitFor(investigates(t, app, fires("Slow", "staging", "a")), tarsy.SessionCompleted)

	anyway := app.WaitFor(ben.Investigate(row.ID), tarsy.SessionCompleted)
	require.Equal(t, "DiskFull of a", anyway.Title)
	require.Equal(t, "ben", anyway.Author)
	require.Contains(t, prompts(app, anyway.ID), anyway.AlertData)
	require.Equal(t, &anyway.ID, app.Suppressed("reason=silence")[0].InvestigationID)

	counted := notify(app, fires("DiskFull", "staging", "a").describes("again"))[0]
	require.Equal(t, tarsy.ActionCount, counted.Action, "it has a session now")
	require.Equal(t, anyway.ID, *counted.SessionID)

	requireKept(t, app, fires("DiskFull", "staging", "b"), tarsy.SuppressedSilence, text)
	clock.Advance(time.Minute)

	ended := ben.Do(http.MethodDelete, "/api/v1/silences/"+added.ID, nil)
	require.Equal(t, http.StatusOK, ended.Status, "%s", ended.Body)

	var after struct {
		Silences []tarsy.Silence `json:"silences"`
	}

	app.Do(http.MethodGet, "/api/v1/silences?all=true", nil).Decode(t, &after)
	require.Len(t, after.Silences, 1)
	require.Equal(t, "ben", after.Silences[0].EndedBy)
	require.Equal(t, beginning().Add(time.Minute), after.Silences[0].EndsAt.UTC())
	app.WaitFor(investigates(t, app, fires("DiskFull", "staging", "b").describes("still")), tarsy.SessionCompleted)

	// A silence that nobody ends lasts until its end time.
	silence(t, ana, map[string]any{"matchers": []string{"namespace=staging"}, "reason": "another", "ends_at": "2030-03-01T12:31:00Z"})
	clock.Advance(30*time.Minute - time.Second)
	requireKept(t, app, fires("DiskFull", "staging", "c"), tarsy.SuppressedSilence, "Silenced by ana until 2030-03-01T12:31:00Z: another")
	clock.Advance(time.Second)
	app.WaitFor(investigates(t, app, fires("DiskFull", "staging", "c").describes("still")), tarsy.SessionCompleted)
}

func TestMaintenanceWindowOfConfigurationKeepsAlertsBack(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, Config: alertsTest + `
  maintenance:
    - {name: upgrade, match: [namespace="db"], reason: new version, start: "2030-03-01T13:00:00Z", end: "2030-03-01T14:00:00Z"}
`})
	modelAnswers(app, nil)
	app.WaitFor(investigates(t, app, fires("Replication", "db", "a")), tarsy.SessionCompleted)

	clock.Advance(time.Hour)

	row := requireKept(t, app, fires("Replication", "db", "b"), tarsy.SuppressedMaintenance, `Maintenance window "upgrade": new version`)
	require.Equal(t, "upgrade", row.Silence)

	anyway := app.WaitFor(app.Investigate(row.ID), tarsy.SessionCompleted)
	require.Equal(t, "Replication of b", anyway.Title)
	require.Equal(t, &anyway.ID, app.Suppressed("reason=maintenance")[0].InvestigationID)

	clock.Advance(time.Hour)
	app.WaitFor(investigates(t, app, fires("Replication", "db", "c")), tarsy.SessionCompleted)
	require.Len(t, app.Sessions(""), 3)
}
