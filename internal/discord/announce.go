package discord

import (
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/channel"
	"tarsy.dev/tarsy/internal/writeback/message"
)

// Announce returns what the engine stores with the beginning and the end of a session: an announcement in the channel of its team. Cancelled sessions
// have none for their end: somebody ended them on purpose.
func Announce(routes channel.Routes, clock clockwork.Clock) func(tarsy.Session, tarsy.AnnouncementSubject) []tarsy.Announcement {
	return func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement {
		cancelled := subject == tarsy.SubjectEnd && session.Status == tarsy.SessionCancelled
		if cancelled || !routes.Announces(message.EventOf(subject, session.Status)) {
			return nil
		}

		now := tarsy.Time(clock.Now())

		return []tarsy.Announcement{{
			ID: tarsy.NewID(), SessionID: session.ID, Channel: tarsy.ChannelDiscord, Subject: subject, Target: routes.Of(session.Team),
			State: tarsy.AnnouncementPending, DueAt: routes.DueAt(session.Severity, now), CreatedAt: now,
		}}
	}
}
