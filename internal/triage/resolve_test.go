package triage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestResolvedAlertUpdatesItsSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.session(firing("disk", "a"))
	f.receive(firing("disk", "a"))
	f.clock.Advance(time.Minute)

	result := f.receive(resolved("disk", "a"))[0]
	require.Equal(t, tarsy.ActionResolve, result.Action)
	require.Equal(t, id, *result.SessionID)

	state := f.alert(id)
	require.False(t, state.Firing)
	require.True(t, epoch().Add(time.Minute).Equal(*state.ResolvedAt))
	require.Equal(t, int64(2), state.Occurrences, "that it is over is no occurrence")
	require.False(t, f.suppressed()[0].Firing)

	f.receive(firing("disk", "a"))
	require.True(t, f.alert(id).Firing)
	require.Nil(t, f.alert(id).ResolvedAt)
	require.True(t, f.suppressed()[0].Firing)
}

func TestAlertFlapsAfterManyChangesInItsWindow(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.session(firing("disk", "a"))

	for _, change := range []struct {
		alert tarsy.Alert
		want  bool
	}{
		{resolved("disk", "a"), false},
		{resolved("disk", "a"), false}, // no change
		{firing("disk", "a"), false},
		{firing("disk", "a"), false}, // no change
		{resolved("disk", "a"), false},
		{firing("disk", "a"), true},
	} {
		f.clock.Advance(time.Minute)
		f.receive(change.alert)
		require.Equal(t, change.want, f.alert(id).Flapping)
	}

	f.clock.Advance(57 * time.Minute) // an hour after the second change of five
	f.receive(resolved("disk", "a"))
	require.False(t, f.alert(id).Flapping, "only three changes are less than an hour ago")

	f.clock.Advance(time.Hour)
	f.receive(firing("disk", "a"))
	require.False(t, f.alert(id).Flapping, "the other changes were long ago")
}

func TestUninvestigatedResolvedAlertIsListed(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for range 2 {
		result := f.receive(resolved("disk", "a"))[0]
		require.Equal(t, tarsy.ActionResolve, result.Action)
		require.Nil(t, result.SessionID)
		require.NotNil(t, result.SuppressedID)
	}

	rows := f.suppressed()
	require.Len(t, rows, 1)
	require.Equal(t, tarsy.SuppressedResolved, rows[0].Reason)
	require.Equal(t, int64(2), rows[0].Occurrences)
	require.False(t, rows[0].Firing)
	require.Zero(t, f.sessions())
	f.session(firing("disk", "a"))
}
