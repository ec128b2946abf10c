package triage

import (
	"slices"
	"time"

	"tarsy.dev/tarsy/internal/match"
)

// Settings configure decisions.
type Settings struct {
	// Window is how long after the end of its session an alert is only counted.
	Window time.Duration
	// Threshold is how many alerts of a group are investigated individually within StormWindow; more are a storm. With 1, the
	// alerts of a group are investigated together from the first one; 0 disables storms.
	Threshold   int
	StormWindow time.Duration
	// FlappingAfter is the number of changes within FlappingWindow from which an alert is flapping.
	FlappingAfter  int
	FlappingWindow time.Duration
	// Maintenance are windows during which matching alerts are not investigated.
	Maintenance []Window
}

// Window is a maintenance window: from Start to End if these are set, or else weekly.
type Window struct {
	Name, Reason string
	Match        match.Set
	Start, End   time.Time
	// Days are the days on which a weekly window starts. From and To are since midnight in Zone; To is on the next day if it is
	// not after From.
	Days     []time.Weekday
	From, To time.Duration
	Zone     *time.Location
}

// Active reports whether the window is active at a time.
func (w Window) Active(at time.Time) bool {
	if !w.Start.IsZero() || !w.End.IsZero() {
		return !at.Before(w.Start) && at.Before(w.End)
	}

	local := at.In(w.Zone)
	// In wall-clock time, so also on days that are shorter or longer.
	clock := time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute + time.Duration(local.Second())*time.Second
	today := slices.Contains(w.Days, local.Weekday())

	if w.From < w.To {
		return today && clock >= w.From && clock < w.To
	}

	const week = 7
	yesterday := slices.Contains(w.Days, (local.Weekday()+week-1)%week)

	return today && clock >= w.From || yesterday && clock < w.To
}
