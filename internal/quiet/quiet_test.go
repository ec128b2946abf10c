package quiet_test

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/quiet"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()

	location, err := time.LoadLocation(name)
	require.NoError(t, err)

	return location
}

func clock(hours, minutes int) time.Duration {
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
}

func TestMessageOfTheNightIsDueInTheMorning(t *testing.T) {
	t.Parallel()

	berlin := zone(t, "Europe/Berlin")
	night := &quiet.Hours{From: clock(22, 0), To: clock(7, 0), Location: berlin, Except: []tarsy.Severity{tarsy.SeverityCritical}}
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, berlin) }

	for _, tt := range []struct {
		name      string
		now, want time.Time
	}{
		{"before", at(17, 21, 59), at(17, 21, 59)},
		{"the first moment", at(17, 22, 0), at(18, 7, 0)},
		{"after midnight", at(18, 0, 30), at(18, 7, 0)},
		{"the last moment", at(18, 6, 59), at(18, 7, 0)},
		{"after", at(18, 7, 0), at(18, 7, 0)},
	} {
		require.True(t, tt.want.Equal(night.DueAt(tarsy.SeverityWarning, tt.now)), tt.name)
		require.Equal(t, tt.now, night.DueAt(tarsy.SeverityCritical, tt.now), tt.name)
	}

	require.Equal(t, at(18, 1, 0), (*quiet.Hours)(nil).DueAt(tarsy.SeverityInfo, at(18, 1, 0)), "without quiet hours")
}

func TestDaysAreThoseOnWhichPeriodsBegin(t *testing.T) {
	t.Parallel()

	friday := &quiet.Hours{From: clock(18, 0), To: clock(9, 0), Location: time.UTC, Days: []time.Weekday{time.Friday}}
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC) } // the 20th is a Friday

	require.Equal(t, at(20, 8), friday.DueAt("", at(20, 8)), "the night from Thursday to Friday")
	require.Equal(t, at(21, 9), friday.DueAt("", at(20, 18)))
	require.Equal(t, at(21, 9), friday.DueAt("", at(21, 8)), "the morning of Saturday")
	require.Equal(t, at(21, 18), friday.DueAt("", at(21, 18)))
}

// Berlin skips 02:00 to 03:00 on 2026-03-29 and repeats it on 2026-10-25.
func TestPeriodsFollowChangesOfTheClock(t *testing.T) {
	t.Parallel()

	berlin := zone(t, "Europe/Berlin")
	utc := func(month time.Month, day, hour, minute int) time.Time {
		return time.Date(2026, month, day, hour, minute, 0, 0, time.UTC)
	}

	for _, tt := range []struct {
		name      string
		from, to  time.Duration
		now, want time.Time
	}{
		{"a night that is an hour shorter", clock(22, 0), clock(7, 0), utc(3, 28, 21, 0), utc(3, 29, 5, 0)},
		{"a night that is an hour longer", clock(22, 0), clock(7, 0), utc(10, 24, 20, 0), utc(10, 25, 6, 0)},
		{"an end that is skipped", clock(22, 0), clock(2, 30), utc(3, 28, 23, 0), utc(3, 29, 1, 0)},
		{"a begin that is skipped", clock(2, 30), clock(7, 0), utc(3, 29, 1, 0), utc(3, 29, 5, 0)},
		{"before a begin that is skipped", clock(2, 30), clock(7, 0), utc(3, 29, 0, 59), utc(3, 29, 0, 59)},
		{"a period that is skipped", clock(2, 10), clock(2, 50), utc(3, 29, 1, 0), utc(3, 29, 1, 0)},
		{"an end that comes twice", clock(22, 0), clock(2, 30), utc(10, 25, 0, 45), utc(10, 25, 1, 30)},
		{"a begin that comes twice", clock(2, 30), clock(7, 0), utc(10, 25, 0, 30), utc(10, 25, 6, 0)},
		{"the time between two begins", clock(2, 30), clock(7, 0), utc(10, 25, 1, 0), utc(10, 25, 6, 0)},
		{"a period that begins before the last one has ended", clock(2, 45), clock(2, 15), utc(10, 25, 0, 20), utc(10, 26, 1, 15)},
		{"the same on the day before", clock(2, 45), clock(2, 15), utc(10, 24, 10, 0), utc(10, 26, 1, 15)},
	} {
		h := &quiet.Hours{From: tt.from, To: tt.to, Location: berlin}
		require.Equal(t, tt.want, h.DueAt("", tt.now).UTC(), tt.name)
	}
}

// reference checks each minute around now separately. A minute is quiet if, for a period of some day, the clock has shown From
// and will still show a time before To.
func reference(h *quiet.Hours, now time.Time) time.Time {
	const around = 4 * 24 * 60

	begin := now.Truncate(time.Minute).Add(-around * time.Minute)
	shown := make([]time.Time, 2*around) // as if it were UTC

	for i := range shown {
		local := begin.Add(time.Duration(i) * time.Minute).In(h.Location)
		shown[i] = time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC)
	}

	silent := make([]bool, len(shown))

	for midnight := shown[0].Truncate(24 * time.Hour); midnight.Before(shown[len(shown)-1]); midnight = midnight.AddDate(0, 0, 1) {
		if len(h.Days) > 0 && !slices.Contains(h.Days, midnight.Weekday()) {
			continue
		}

		from, to := midnight.Add(h.From), midnight.Add(h.To)
		if h.To <= h.From {
			to = to.AddDate(0, 0, 1)
		}

		first := slices.IndexFunc(shown, func(at time.Time) bool { return !at.Before(from) })
		last := len(shown) - 1

		for last >= 0 && !shown[last].Before(to) {
			last--
		}

		for i := max(first, 0); first >= 0 && i <= last; i++ {
			silent[i] = true
		}
	}

	for i := around; i < len(silent); i++ {
		switch {
		case !silent[i] && i == around:
			return now
		case !silent[i]:
			return begin.Add(time.Duration(i) * time.Minute)
		}
	}

	return time.Time{}
}

func TestDueAtMatchesMinuteByMinuteReference(t *testing.T) {
	t.Parallel()

	// Clock changes of an hour, half an hour, a whole day, at midnight, and none.
	zones := []struct {
		name    string
		changes []time.Time
	}{
		{"Europe/Berlin", []time.Time{time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC)}},
		{"Australia/Lord_Howe", []time.Time{time.Date(2026, 4, 4, 15, 0, 0, 0, time.UTC), time.Date(2026, 10, 3, 15, 30, 0, 0, time.UTC)}},
		{"Pacific/Apia", []time.Time{time.Date(2011, 12, 30, 10, 0, 0, 0, time.UTC)}},
		{"Africa/Cairo", []time.Time{time.Date(2026, 4, 23, 22, 0, 0, 0, time.UTC), time.Date(2026, 10, 29, 21, 0, 0, 0, time.UTC)}},
		{"Asia/Kathmandu", []time.Time{time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}},
		{"UTC", []time.Time{time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}},
	}

	rapid.Check(t, func(r *rapid.T) {
		in := rapid.SampledFrom(zones).Draw(r, "zone")
		minute := rapid.IntRange(0, 24*60-1)
		h := &quiet.Hours{
			From: time.Duration(minute.Draw(r, "from")) * time.Minute, To: time.Duration(minute.Draw(r, "to")) * time.Minute, Location: zone(t, in.name),
			Days: rapid.SliceOfDistinct(rapid.Custom(func(r *rapid.T) time.Weekday {
				return time.Weekday(rapid.IntRange(0, 6).Draw(r, "day"))
			}), rapid.ID).Draw(r, "days"),
		}

		if h.From == h.To {
			r.Skip("the configuration refuses it")
		}

		now := rapid.SampledFrom(in.changes).Draw(r, "change").
			Add(time.Duration(rapid.IntRange(-36*3600, 36*3600).Draw(r, "seconds")) * time.Second)

		if want, got := reference(h, now), h.DueAt("", now); !want.Equal(got) {
			r.Fatalf("due at %s, want %s; now it is %s", got, want, now.In(h.Location))
		}
	})
}
