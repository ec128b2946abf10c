package e2e

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// pods returns alerts of one group, for the pods from first up to but not including end.
func pods(first, end int) []sentAlert {
	var all []sentAlert
	for i := first; i < end; i++ {
		all = append(all, fires("CrashLoop", "payments", "pod-"+strconv.Itoa(i)))
	}

	return all
}

// allResolved returns the alerts as resolved.
func allResolved(alerts []sentAlert) []sentAlert {
	for i := range alerts {
		alerts[i] = alerts[i].resolved()
	}

	return alerts
}

// Beyond the threshold one session investigates the group. Its members are listed and counted while it runs and after.
func TestStormIsOneSessionWithMembersCountedLive(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	app := tarsytest.New(t, tarsytest.Options{Config: alertsTest + "  storm: {threshold: 2}\n"})
	modelAnswers(app, map[string]*script.Gate{"A storm of alerts": gate})

	for _, alone := range notify(app, pods(0, 2)...) {
		require.Equal(t, tarsy.ActionInvestigate, alone.Action)
		app.WaitFor(*alone.SessionID, tarsy.SessionCompleted)
	}

	begun := notify(app, pods(2, 5)...)
	require.Equal(t, []tarsy.DeliveryAction{tarsy.ActionStorm, tarsy.ActionStorm, tarsy.ActionStorm}, actions(begun))

	storm := *begun[0].SessionID
	require.Equal(t, storm, *begun[2].SessionID)
	app.WaitGate(gate)
	app.WaitFor(storm, tarsy.SessionInProgress) // its steps are committed after the call

	prompt := prompts(app, storm)
	for _, member := range pods(2, 5) {
		require.Contains(t, prompt, member.Annotations["summary"])
	}

	feed := app.Socket()
	feed.Subscribe(tarsy.ChannelSessions)

	changes := func(seen int) func(tarsytest.Event) bool {
		return func(e tarsytest.Event) bool {
			if e.Type == tarsy.TypeSessionChanged && e.Fields["session_id"] == storm {
				seen--
			}

			return seen < 0
		}
	}

	// members delivers alerts, waits until the feed reports the storm, and returns how many members it then has, and how many of them fire.
	members := func(alerts ...sentAlert) []int64 {
		seen := 0

		for _, e := range feed.OfType(tarsy.TypeSessionChanged) {
			if e.Fields["session_id"] == storm {
				seen++
			}
		}

		notify(app, alerts...)
		feed.Wait("a change of the storm", changes(seen))

		state := app.Session(storm).Alert

		return []int64{state.Members, state.FiringMembers}
	}

	require.Equal(t, []int64{5, 5}, members(pods(5, 7)...))
	require.Equal(t, []int64{5, 3}, members(allResolved(pods(2, 4))...))
	require.Equal(t, []int64{5, 4}, members(fires("CrashLoop", "payments", "pod-2").describes("again")), "the same member fires again")

	listed := app.Sessions("status=in_progress")
	require.Len(t, listed, 1)
	require.True(t, listed[0].Alert.Storm)
	require.EqualValues(t, 5, listed[0].Alert.Members)
	require.Equal(t, "Storm: CrashLoop (namespace=payments)", listed[0].Title)

	gate.Open()
	app.WaitFor(storm, tarsy.SessionCompleted)
	requireMembers(t, app, storm)

	notify(app, allResolved(pods(2, 7))...)

	state := app.Session(storm).Alert
	require.False(t, state.Firing)
	require.NotNil(t, state.ResolvedAt)
	require.EqualValues(t, 0, state.FiringMembers)
	require.EqualValues(t, 6, state.Occurrences)
	require.Len(t, app.Sessions(""), 4, "two alone, the storm, and one that a person asked for")
}

// requireMembers checks that every member of the storm is listed, and investigates one of them.
func requireMembers(t *testing.T, app *tarsytest.App, storm string) {
	t.Helper()

	listed := app.Suppressed("reason=storm&session_id=" + storm)
	byTitle := map[string]tarsy.SuppressedAlert{}

	for _, member := range listed {
		byTitle[member.Title] = member
	}

	require.Len(t, listed, 5)

	for _, member := range pods(2, 7) {
		row := byTitle[member.Annotations["summary"]]
		require.Equal(t, member.Labels, row.Labels)
		require.Equal(t, member.Labels["pod"] != "pod-3", row.Firing, row.Title)
	}

	require.EqualValues(t, 2, byTitle["CrashLoop of pod-2"].Occurrences)

	ana := app.User("ana")
	chosen := byTitle["CrashLoop of pod-4"]
	session := app.WaitFor(ana.Investigate(chosen.ID), tarsy.SessionCompleted)
	require.Equal(t, "CrashLoop of pod-4", session.Title)
	require.Equal(t, "ana", session.Author)
	require.Equal(t, &storm, session.Alert.EarlierSessionID)
	require.Contains(t, prompts(app, session.ID), `"pod": "pod-4"`)

	row := app.Suppressed("search=pod-4")[0]
	require.Equal(t, &session.ID, row.InvestigationID)
	require.Equal(t, "ana", row.InvestigatedBy)

	twice := app.Do(http.MethodPost, "/api/v1/suppressed/"+chosen.ID+"/investigate", nil)
	require.Equal(t, http.StatusConflict, twice.Status)
	require.Contains(t, twice.Problem(t).Detail, session.ID)
}
