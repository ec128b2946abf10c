package notify

import (
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/quiet"
)

// Routes define what is announced, where and when.
type Routes struct {
	// Channel is where sessions are announced, unless their team has a channel in Teams.
	Channel string
	Teams   map[string]string
	// On lists the events that are announced.
	On []message.Event
	// Cancelled also announces the end of cancelled sessions, if starts are announced.
	Cancelled bool
	// Quiet delays announcements; nil means no delay.
	Quiet *quiet.Hours
}

// Of returns where sessions of a team are announced.
func (r Routes) Of(team string) string {
	if own, ok := r.Teams[team]; ok {
		return own
	}

	return r.Channel
}

// Has reports whether sessions are announced in a channel. It is false for threads.
func (r Routes) Has(channel string) bool {
	if channel == r.Channel {
		return true
	}

	for _, own := range r.Teams {
		if own == channel {
			return true
		}
	}

	return false
}

// Announces reports whether an event is announced.
func (r Routes) Announces(event message.Event) bool { return slices.Contains(r.On, event) }

// DueAt returns when an announcement that is created now can be sent.
func (r Routes) DueAt(severity tarsy.Severity, now time.Time) time.Time {
	return calendar.Time(r.Quiet.DueAt(severity, now))
}
