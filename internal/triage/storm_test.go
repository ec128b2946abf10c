package triage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/triage"
)

func TestManyAlertsOfAGroupAreOneSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	alerts := many("disk", 5)
	alerts[3].Facts.Severity = tarsy.SeverityCritical

	results := f.receive(alerts...)
	for _, r := range results {
		require.Equal(t, tarsy.ActionStorm, r.Action)
		require.Equal(t, results[0].SessionID, r.SessionID)
		require.NotNil(t, r.SuppressedID)
	}

	require.Equal(t, 1, f.sessions())

	storm := f.detail(*results[0].SessionID)
	require.Equal(t, "Storm: disk", storm.Title)
	require.Equal(t, tarsy.SeverityCritical, storm.Severity, "the worst of its members")
	require.Equal(t, map[string]string{"alertname": "disk"}, storm.Labels, "what its members share")
	require.Contains(t, storm.AlertData, "Title of disk-4")
	require.Contains(t, storm.AlertData, "data of disk-0")
	require.Equal(t, tarsy.AlertState{
		Firing: true, Occurrences: 5, LastAt: epoch(), Storm: true, Members: 5, FiringMembers: 5,
		Times: []time.Time{epoch(), epoch(), epoch(), epoch(), epoch()},
	}, f.alert(storm.ID))
	require.Len(t, f.suppressed(), 5)
}

func TestAlertsJoinAStormUntilItIsOver(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	alerts := many("disk", 8)

	for _, a := range alerts[:3] {
		f.session(a)
		f.clock.Advance(time.Minute)
	}

	other := f.session(firing("net", "a"))
	require.False(t, f.alert(other).Storm, "another group has its own count")

	fourth := f.receive(alerts[3])[0]
	require.Equal(t, tarsy.ActionStorm, fourth.Action, "one more than the threshold")
	require.Contains(t, f.detail(*fourth.SessionID).AlertData, "investigated by themselves: 3")

	again := f.receive(alerts[0], alerts[3], alerts[4])
	require.Equal(t, []tarsy.DeliveryAction{tarsy.ActionCount, tarsy.ActionStorm, tarsy.ActionStorm}, actions(again), "an alert with a session is no member")

	state := f.alert(*fourth.SessionID)
	require.Equal(t, int64(2), state.Members)
	require.Equal(t, int64(3), state.Occurrences)

	// The window passes, but alerts keep coming.
	f.clock.Advance(9 * time.Minute)
	require.Equal(t, fourth.SessionID, f.receive(alerts[5])[0].SessionID)
	f.clock.Advance(9 * time.Minute)
	require.Equal(t, fourth.SessionID, f.receive(alerts[6])[0].SessionID)

	// No alerts during a window: the storm is over, but its members are still counted on it.
	f.clock.Advance(10 * time.Minute)
	f.session(alerts[7])
	require.Equal(t, fourth.SessionID, f.receive(alerts[5])[0].SessionID)
}

func TestStormIsOverWhenItEndedAndAllMembersAreResolved(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	storm := *f.receive(many("disk", 4)...)[0].SessionID
	f.end()
	require.Equal(t, tarsy.ActionStorm, f.receive(firing("disk", "new"))[0].Action, "its members fire")

	for _, a := range append(many("disk", 4), firing("disk", "new")) {
		a.Resolved = true
		result := f.receive(a)[0]
		require.Equal(t, tarsy.ActionResolve, result.Action)
		require.Equal(t, storm, *result.SessionID)
		require.NotNil(t, result.SuppressedID)
	}

	state := f.alert(storm)
	require.False(t, state.Firing)
	require.Equal(t, int64(5), state.Members)
	require.Zero(t, state.FiringMembers)
	require.NotNil(t, state.ResolvedAt)

	f.session(firing("disk", "newer"))
	require.Equal(t, tarsy.ActionStorm, f.receive(firing("disk", "new"))[0].Action, "a member is a repetition for the usual time")
	require.True(t, f.alert(storm).Firing)
	require.Equal(t, int64(1), f.alert(storm).FiringMembers)

	f.clock.Advance(time.Hour)

	again := f.session(firing("disk", "new"))
	require.Equal(t, &storm, f.alert(again).EarlierSessionID)
}

func TestStormDoesNotOutliveTheWindowOfItsSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.receive(many("disk", 4)...)
	f.end()

	for range 7 {
		f.clock.Advance(9 * time.Minute)
		f.receive(firing("disk", "disk-0"))
	}

	f.session(firing("disk", "new"))
}

func TestThresholdOneInvestigatesEachGroupOnceAndZeroEachAlert(t *testing.T) {
	t.Parallel()

	once := newFixture(t, func(s *triage.Settings) { s.Threshold = 1 })
	first := once.receive(firing("disk", "a"))[0]
	require.Equal(t, tarsy.ActionStorm, first.Action)
	require.Equal(t, first.SessionID, once.receive(firing("disk", "b"))[0].SessionID)
	require.Equal(t, 1, once.sessions())

	off := newFixture(t, func(s *triage.Settings) { s.Threshold = 0 })
	off.receive(many("disk", 20)...)
	require.Equal(t, 20, off.sessions())
}

func TestNextStormNamesPreviousStorm(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	first := *f.receive(many("disk", 4)...)[0].SessionID
	f.end()
	f.clock.Advance(2 * time.Hour)

	second := *f.receive(many("disk", 4)...)[0].SessionID
	require.NotEqual(t, first, second)
	require.Equal(t, &first, f.alert(second).EarlierSessionID)
}

func TestAlertsAfterStormAreCountedFromZero(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	alerts := many("disk", 7)
	f.session(alerts[0])
	f.session(alerts[1])
	require.Equal(t, tarsy.ActionStorm, f.receive(alerts[2], alerts[3])[0].Action)
	f.end()

	for _, a := range alerts[2:4] {
		a.Resolved = true
		f.receive(a)
	}

	for _, a := range alerts[4:] {
		f.session(a)
	}
}

func TestRepetitionKeepsStormAlive(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	storm := *f.receive(many("disk", 4)...)[0].SessionID

	for range 3 {
		f.clock.Advance(9 * time.Minute)
		require.Equal(t, storm, *f.receive(firing("disk", "disk-0"))[0].SessionID)
	}

	f.clock.Advance(9 * time.Minute)
	require.Equal(t, storm, *f.receive(firing("disk", "new"))[0].SessionID, "there was no window without an alert of the group")
}

func TestStormHasTheEarliestTimeOfItsMembers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	alerts := many("disk", 5)

	for i, minutes := range map[int]int{1: 20, 2: 5, 4: 10} { // the first has none
		alerts[i].Facts.StartsAt = new(epoch().Add(time.Duration(minutes) * time.Minute))
	}

	storm := f.detail(*f.receive(alerts...)[0].SessionID)
	require.Equal(t, epoch().Add(5*time.Minute), storm.StartsAt.UTC())
}

func TestStormHasThePlaceThatItsMembersShare(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	alerts := many("disk", 5)

	for i := range alerts {
		alerts[i].Facts.Service, alerts[i].Facts.Namespace = "orders", "prod"
	}

	alerts[4].Facts.Service = "web"

	storm := f.detail(*f.receive(alerts...)[0].SessionID)
	require.Empty(t, storm.Service)
	require.Equal(t, "prod", storm.Namespace)
}

// Agents get the text in their prompt, and a storm can have thousands of members.
func TestTextOfStormIsBounded(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	alerts := many("disk", 60)

	for i := range alerts {
		alerts[i].Data += strings.Repeat(" long", 2000)
	}

	text := f.detail(*f.receive(alerts...)[0].SessionID).AlertData
	require.Equal(t, 50, strings.Count(text, "- Title of disk-"))
	require.Contains(t, text, "- and 10 more\n")
	require.Contains(t, text, "Alert 3 in full:")
	require.NotContains(t, text, "Alert 4 in full:")
	require.Less(t, len(text), 20_000)
}

func TestAlertNamesTheLastOfTheSessionsThatInvestigatedIt(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.receive(many("disk", 4)...)
	f.end()
	f.clock.Advance(2 * time.Hour)

	own := f.session(firing("disk", "disk-0"))
	f.end()
	f.clock.Advance(2 * time.Hour)

	again := f.session(firing("disk", "disk-0"))
	require.Equal(t, &own, f.alert(again).EarlierSessionID, "and not the storm before it")
}

// A group is kept longer than a storm can last without an alert: forgetting it earlier would start its storm again.
func TestGroupsWithoutAlertsAreForgotten(t *testing.T) {
	t.Parallel()

	for window, keep := range map[time.Duration]time.Duration{10 * time.Minute: 24 * time.Hour, 20 * time.Hour: 40 * time.Hour} {
		f := newFixture(t, func(s *triage.Settings) { s.StormWindow = window })
		f.receive(firing("disk", "a"), firing("net", "a"))

		f.clock.Advance(keep - time.Second)
		f.receive(firing("net", "b"))
		require.Equal(t, 2, f.count(`SELECT count(*) FROM alert_groups`), window)

		f.clock.Advance(time.Second)
		f.receive(firing("net", "c"))
		require.Equal(t, 1, f.count(`SELECT count(*) FROM alert_groups`), window)
	}
}
