// Package quiet decides when a message may be sent: at once, or at the end of the quiet hours in which it was made. It knows nothing of
// messages, channels or configuration files.
package quiet

import (
	"slices"
	"time"

	"tarsy.dev/tarsy"
)

const (
	day = 24 * time.Hour
	// reach is more than any change of a clock: the largest one left out a whole day.
	reach = 2 * day
)

// Hours are periods, one on each day, in which only important messages are sent. A nil *Hours is never quiet. Nothing changes it, so
// any number of goroutines may use it.
type Hours struct {
	// From and To are the begin and the end as the clock of Location shows them, since midnight. If To is not after From, the period
	// ends on the next day. They must differ.
	From, To time.Duration
	// Location is the time zone, never nil.
	Location *time.Location
	// Days are the days on which periods begin; none means all.
	Days []time.Weekday
	// Except are the severities of alerts whose messages are sent at once.
	Except []tarsy.Severity
}

// DueAt is when a message about an alert is to be sent that was made now: now, or the end of the quiet hours.
//
// A clock that is changed can show From or To twice or never. A period begins when the clock shows From for the first time and ends when it shows
// To for the last time; if it skips one of them, the moment of the change takes its place.
func (h *Hours) DueAt(severity tarsy.Severity, now time.Time) time.Time {
	if h == nil || slices.Contains(h.Except, severity) {
		return now
	}

	due, local := now, now.In(h.Location)

	// In this order, a period that begins before the previous one has ended, as on the day of a change, prolongs it.
	for offset := -2; offset <= 2; offset++ {
		midnight := time.Date(local.Year(), local.Month(), local.Day()+offset, 0, 0, 0, 0, time.UTC)
		if len(h.Days) > 0 && !slices.Contains(h.Days, midnight.Weekday()) {
			continue
		}

		if begin, end := h.period(midnight); !due.Before(begin) && due.Before(end) {
			due = end
		}
	}

	return due
}

// period is the one that begins on the day of a midnight. Times that a clock shows are written as if its zone were UTC.
func (h *Hours) period(midnight time.Time) (begin, end time.Time) {
	from, to := midnight.Add(h.From), midnight.Add(h.To)
	if h.To <= h.From {
		to = to.Add(day)
	}

	return firstShown(h.Location, from), lastShown(h.Location, to)
}

// segment is a time without a change of the clock: from start until before end, it shows UTC and offset.
type segment struct {
	start, end time.Time
	offset     time.Duration
}

// segments returns the segments around the moment at which a clock shows a time, in order.
func segments(location *time.Location, shown time.Time) []segment {
	var all []segment

	for at, last := shown.Add(-reach), shown.Add(reach); at.Before(last); {
		_, seconds := at.In(location).Zone()

		_, end := at.In(location).ZoneBounds()
		if end.IsZero() || end.After(last) {
			end = last
		}

		all = append(all, segment{start: at, end: end.UTC(), offset: time.Duration(seconds) * time.Second})
		at = end
	}

	return all
}

// firstShown is when a clock shows a time, or a later one, for the first time.
func firstShown(location *time.Location, shown time.Time) time.Time {
	for _, s := range segments(location, shown) {
		at := shown.Add(-s.offset)
		if at.Before(s.start) {
			at = s.start
		}

		if at.Before(s.end) {
			return at
		}
	}

	return shown // no clock is two days off
}

// lastShown is the moment from which on a clock shows no time before this one.
func lastShown(location *time.Location, shown time.Time) time.Time {
	var last time.Time

	for _, s := range segments(location, shown) {
		at := shown.Add(-s.offset)
		if at.After(s.end) {
			at = s.end
		}

		if at.After(s.start) {
			last = at
		}
	}

	return last
}
