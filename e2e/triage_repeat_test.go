package e2e

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// A repetition is counted while the session runs and for a while after. Later the alert is investigated again, and the new
// session links to the earlier one.
func TestRepetitionIsCountedUntilWindowEnds(t *testing.T) {
	t.Parallel()

	clock, gate := clockwork.NewFakeClockAt(beginning()), script.NewGate()
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, Config: alertsTest + "  deduplicate: {window: 30m}\n"})
	modelAnswers(app, map[string]*script.Gate{"90 %": gate})

	alert := fires("DiskFull", "shop", "a")
	first := investigates(t, app, alert.describes("90 %"))
	app.WaitGate(gate)

	clock.Advance(10 * time.Second)

	running := notify(app, alert.describes("91 %"))[0]
	require.Equal(t, tarsy.ActionCount, running.Action)
	require.Equal(t, first, *running.SessionID)
	require.Equal(t, "The alert is being investigated by this session.", running.Reason)

	gate.Open()
	app.WaitFor(first, tarsy.SessionCompleted)
	clock.Advance(30*time.Minute - time.Second)

	recent := notify(app, alert.describes("92 %"))[0]
	require.Equal(t, tarsy.ActionCount, recent.Action)
	require.Equal(t, "The alert was investigated by this session less than 30m0s ago.", recent.Reason)

	times := []time.Time{beginning(), beginning().Add(10 * time.Second), beginning().Add(30*time.Minute + 9*time.Second)}
	state := app.Session(first).Alert
	require.True(t, state.Firing)
	require.EqualValues(t, 3, state.Occurrences)
	requireTimes(t, times, state.Times)
	require.Equal(t, state, app.Sessions("")[0].Alert, "the list shows it too")

	repeats := app.Suppressed("reason=duplicate&session_id=" + first)
	require.Len(t, repeats, 1)
	require.Equal(t, *recent.SuppressedID, repeats[0].ID)
	require.EqualValues(t, 2, repeats[0].Occurrences)
	requireTimes(t, times[1:], repeats[0].Times)

	clock.Advance(time.Second)

	second := app.WaitFor(investigates(t, app, alert.describes("93 %")), tarsy.SessionCompleted)
	require.NotEqual(t, first, second.ID)
	require.Equal(t, &first, second.Alert.EarlierSessionID)
	require.EqualValues(t, 1, second.Alert.Occurrences)
	require.EqualValues(t, 3, app.Session(first).Alert.Occurrences)
	require.Nil(t, app.Session(first).Alert.EarlierSessionID)
	require.Len(t, app.Sessions("fingerprint="+second.Fingerprint), 2)
}

func requireTimes(t *testing.T, want, got []time.Time) {
	t.Helper()

	utc := make([]time.Time, len(got))
	for i, at := range got {
		utc[i] = at.UTC()
	}

	require.Equal(t, want, utc)
}

// The session of a flapping alert shows that, and no further session is created.
func TestFlappingAlertIsShownOnItsSession(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, Config: alertsTest + "  resolved: {flapping_after: 3, flapping_window: 10m}\n"})
	modelAnswers(app, nil)

	alert := fires("Probe", "shop", "a")
	session := app.WaitFor(investigates(t, app, alert), tarsy.SessionCompleted).ID

	for i, change := range []sentAlert{alert.resolved(), alert.describes("again"), alert.resolved().describes("again")} {
		clock.Advance(time.Minute)
		require.Equal(t, session, *notify(app, change)[0].SessionID)

		state := app.Session(session).Alert
		require.Equal(t, change.Status == "firing", state.Firing)
		require.Equal(t, !state.Firing, state.ResolvedAt != nil)
		require.Equal(t, i == 2, state.Flapping, "change %d", i)
	}

	require.Equal(t, beginning().Add(3*time.Minute), app.Session(session).Alert.ResolvedAt.UTC())

	// Later the alert no longer flaps.
	clock.Advance(20 * time.Minute)
	notify(app, alert.describes("much later"))

	state := app.Sessions("")[0].Alert
	require.False(t, state.Flapping)
	require.True(t, state.Firing)
	require.Nil(t, state.ResolvedAt)
	require.Len(t, app.Sessions(""), 1)
}
