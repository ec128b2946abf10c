package discord

import (
	"slices"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/quiet"
	"tarsy.dev/tarsy/internal/writeback/message"
)

// Routes are what is announced, where and when.
type Routes struct {
	// Channel is where sessions are announced, unless their team has a channel in Teams.
	Channel string
	Teams   map[string]string
	// On are the events that are announced.
	On []message.Event
	// Quiet delays announcements; nil delays none.
	Quiet *quiet.Hours
}

// channel is where sessions of a team are announced.
func (r Routes) channel(team string) string {
	if own, ok := r.Teams[team]; ok {
		return own
	}

	return r.Channel
}

// has reports whether sessions are announced in a channel. Threads are none.
func (r Routes) has(channel string) bool {
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

// Announce returns what the engine stores with the beginning and the end of a session: an announcement in the channel of its team. Cancelled sessions
// have none for their end: somebody ended them on purpose.
func Announce(routes Routes, clock clockwork.Clock) func(tarsy.Session, tarsy.AnnouncementSubject) []tarsy.Announcement {
	return func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement {
		cancelled := subject == tarsy.SubjectEnd && session.Status == tarsy.SessionCancelled
		if cancelled || !slices.Contains(routes.On, message.EventOf(subject, session.Status)) {
			return nil
		}

		now := tarsy.Time(clock.Now())

		return []tarsy.Announcement{{
			ID: tarsy.NewID(), SessionID: session.ID, Channel: tarsy.ChannelDiscord, Subject: subject, Target: routes.channel(session.Team),
			State: tarsy.AnnouncementPending, DueAt: tarsy.Time(routes.Quiet.DueAt(session.Severity, now)), CreatedAt: now,
		}}
	}
}
