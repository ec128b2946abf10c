package triage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/triage"
)

// silence adds a silence for an hour.
func (f *fixture) silence(matchers ...string) tarsy.Silence {
	f.t.Helper()

	s, err := f.AddSilence(f.t.Context(), tarsy.Silence{Matchers: matchers, Reason: "upgrade", Author: "ann", EndsAt: f.clock.Now().Add(time.Hour)})
	require.NoError(f.t, err)

	return s
}

func TestSilencedAlertIsListedAndNotInvestigated(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	before := f.session(firing("disk", "before"))
	s := f.silence(`alertname="disk"`, `severity=~"warn.*"`)

	results := f.receive(firing("disk", "a"), firing("disk", "a"), firing("net", "b"), firing("disk", "before"))
	require.Equal(t, []tarsy.DeliveryAction{tarsy.ActionSilence, tarsy.ActionSilence, tarsy.ActionInvestigate, tarsy.ActionCount}, actions(results))
	require.Nil(t, results[0].SessionID)
	require.Contains(t, results[0].Reason, "Silenced by ann until 2026-03-01T13:00:00Z: upgrade")
	require.Equal(t, int64(2), f.alert(before).Occurrences, "what is investigated already is counted")

	rows, err := f.Suppressed(t.Context(), tarsy.SuppressedFilter{Reason: tarsy.SuppressedSilence, Limit: 10})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, s.ID, rows[0].Silence)
	require.Equal(t, int64(2), rows[0].Occurrences)
	require.True(t, rows[0].Firing)

	// When the alert is resolved, the row shows it.
	over := f.receive(resolved("disk", "a"))[0]
	require.Equal(t, rows[0].ID, *over.SuppressedID)
	rows, err = f.Suppressed(t.Context(), tarsy.SuppressedFilter{Reason: tarsy.SuppressedSilence, Limit: 10})
	require.NoError(t, err)
	require.False(t, rows[0].Firing)

	f.clock.Advance(time.Hour)
	f.session(firing("disk", "a"))
}

func TestSilenceHoldsFromItsBeginningToItsEnd(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	later, err := f.AddSilence(t.Context(), tarsy.Silence{
		Matchers: []string{"alertname=disk"}, Reason: "x", StartsAt: epoch().Add(time.Hour), EndsAt: epoch().Add(2 * time.Hour),
	})
	require.NoError(t, err)
	f.session(firing("disk", "a"))

	f.clock.Advance(time.Hour)
	require.Equal(t, tarsy.ActionSilence, f.receive(firing("disk", "b"))[0].Action)

	ended, err := f.EndSilence(t.Context(), later.ID, "bob")
	require.NoError(t, err)
	require.Equal(t, "bob", ended.EndedBy)
	require.True(t, ended.EndsAt.Equal(f.clock.Now()))
	f.session(firing("disk", "b"))

	again, err := f.EndSilence(t.Context(), later.ID, "carl")
	require.NoError(t, err)
	require.Equal(t, ended, again, "one that is over stays as it is")

	_, err = f.EndSilence(t.Context(), ident.New(), "bob")
	require.Equal(t, tarsy.CodeNotFound, tarsy.CodeOf(err))

	active, err := f.Silences(t.Context(), false)
	require.NoError(t, err)
	require.Empty(t, active)

	all, err := f.Silences(t.Context(), true)
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestSilenceEndedBeforeStartNeverApplies(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	s, err := f.AddSilence(t.Context(), tarsy.Silence{
		Matchers: []string{"alertname=disk"}, Reason: "x", StartsAt: epoch().Add(time.Hour), EndsAt: epoch().Add(2 * time.Hour),
	})
	require.NoError(t, err)
	_, err = f.EndSilence(t.Context(), s.ID, "bob")
	require.NoError(t, err)
	f.clock.Advance(time.Hour)
	f.session(firing("disk", "a"))
}

func TestSilenceIsChecked(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for _, c := range []struct {
		field  string
		change func(*tarsy.Silence)
	}{
		{"matchers", func(s *tarsy.Silence) { s.Matchers = []string{"alertname=~("} }},
		{"reason", func(s *tarsy.Silence) { s.Reason = "  " }},
		{"ends_at", func(s *tarsy.Silence) { s.EndsAt = epoch() }},
		{"ends_at", func(s *tarsy.Silence) { s.StartsAt = s.EndsAt }},
	} {
		field, s := c.field, tarsy.Silence{Matchers: []string{"alertname=disk"}, Reason: "x", EndsAt: epoch().Add(time.Hour)}
		c.change(&s)

		_, err := f.AddSilence(t.Context(), s)

		var refused *tarsy.Error

		require.ErrorAs(t, err, &refused, field)
		require.Equal(t, field, refused.Field)
	}

	s, err := f.AddSilence(t.Context(), tarsy.Silence{
		Matchers: []string{" alertname = disk"}, Reason: "because of " + secret, EndsAt: epoch().Add(time.Hour),
	})
	require.NoError(t, err)
	require.Equal(t, []string{`alertname="disk"`}, s.Matchers)
	require.Equal(t, "because of [MASKED]", s.Reason)
}

func TestMaintenanceWindowKeepsAlertsBack(t *testing.T) {
	t.Parallel()

	f := newFixture(t, func(s *triage.Settings) {
		s.Maintenance = []triage.Window{{
			Name: "patch day", Reason: "kernel", Match: matchers(t, "alertname=disk"), Start: epoch(), End: epoch().Add(time.Hour),
		}}
	})

	result := f.receive(firing("disk", "a"))[0]
	require.Equal(t, tarsy.ActionSilence, result.Action)
	require.Equal(t, `Maintenance window "patch day": kernel`, result.Reason)

	row := f.suppressed()[0]
	require.Equal(t, tarsy.SuppressedMaintenance, row.Reason)
	require.Equal(t, "patch day", row.Silence)

	f.clock.Advance(time.Hour)
	f.session(firing("disk", "a"))
}

func TestWeeklyWindowFollowsTheClockOfItsZone(t *testing.T) {
	t.Parallel()

	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)

	night := triage.Window{Days: []time.Weekday{time.Saturday}, From: 22 * time.Hour, To: 2 * time.Hour, Zone: berlin}
	noon := triage.Window{Days: []time.Weekday{time.Saturday, time.Sunday}, From: 12 * time.Hour, To: 13 * time.Hour, Zone: time.UTC}

	for _, test := range []struct {
		window triage.Window
		at     string
		want   bool
	}{
		{night, "2026-03-07T20:59:59Z", false}, // 21:59 on Saturday in Berlin
		{night, "2026-03-07T21:00:00Z", true},
		{night, "2026-03-08T00:59:59Z", true}, // 01:59 on Sunday
		{night, "2026-03-08T01:00:00Z", false},
		{night, "2026-03-08T21:30:00Z", false}, // the night of Sunday
		{night, "2026-03-07T00:30:00Z", false}, // the night of Friday
		{night, "2026-07-04T20:00:00Z", true},  // summer time
		{noon, "2026-03-01T11:59:59Z", false},
		{noon, "2026-03-01T12:00:00Z", true},
		{noon, "2026-03-01T13:00:00Z", false},
		{noon, "2026-03-02T12:00:00Z", false}, // Monday
	} {
		at, err := time.Parse(time.RFC3339, test.at)
		require.NoError(t, err)
		require.Equal(t, test.want, test.window.Active(at), test.at)
	}
}
