// Package quiet decides when a message can be sent: immediately, or at the end of the quiet hours in which it was created. It
// knows nothing of messages, channels or configuration files.
package quiet

import (
	"slices"
	"time"

	"tarsy.dev/tarsy"
)

const (
	day = 24 * time.Hour
	// reach exceeds any clock change: the largest one so far skipped a whole day.
	reach = 2 * day
)

// Hours are daily periods in which only important messages are sent. A nil *Hours is never quiet. Hours are immutable, so they
// are safe for concurrent use.
type Hours struct {
	// From and To are the start and the end in wall-clock time of Location, since midnight. If To is not after From, the period
	// ends on the next day. They must differ.
	From, To time.Duration
	// Location is the time zone, never nil.
	Location *time.Location
	// Days are the days on which periods start; none means all.
	Days []time.Weekday
	// Except are the severities of alerts whose messages are sent immediately.
	Except []tarsy.Severity
}

// DueAt returns when to send a message about an alert that was created now: now, or at the end of the quiet hours.
//
// After a clock change, From or To can occur twice or never. A period starts when the clock first shows From and ends when it
// last shows To; if either is skipped, the time of the change is used instead.
func (h *Hours) DueAt(severity tarsy.Severity, now time.Time) time.Time {
	if h == nil || slices.Contains(h.Except, severity) {
		return now
	}

	due, local := now, now.In(h.Location)

	// In this order, a period that starts before the previous one has ended, as on the day of a clock change, extends it.
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

// period returns the period that starts on the day of midnight. Wall-clock times are represented as if their zone were UTC.
func (h *Hours) period(midnight time.Time) (begin, end time.Time) {
	from, to := midnight.Add(h.From), midnight.Add(h.To)
	if h.To <= h.From {
		to = to.Add(day)
	}

	return firstShown(h.Location, from), lastShown(h.Location, to)
}

// segment is a time span without a clock change: from start until before end, the clock shows UTC plus offset.
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

// firstShown returns when a clock first shows this time or a later one.
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

	return shown // no clock is off by two days
}

// lastShown returns the moment after which a clock never shows a time before this one.
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
