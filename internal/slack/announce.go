package slack

import (
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/channel"
	"tarsy.dev/tarsy/internal/writeback/message"
)

// Announce returns what the engine stores with the beginning and with the end of a session. Cancelled sessions, which somebody ended on
// purpose, are announced only where their beginning was.
func Announce(routes channel.Routes, clock clockwork.Clock) func(tarsy.Session, tarsy.AnnouncementSubject) []tarsy.Announcement {
	return func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement {
		event := message.EventOf(subject, session.Status)
		if subject == tarsy.SubjectEnd && session.Status == tarsy.SessionCancelled {
			event = message.Started
		}

		if !routes.Announces(event) {
			return nil
		}

		now := tarsy.Time(clock.Now())

		return []tarsy.Announcement{{
			ID: tarsy.NewID(), SessionID: session.ID, Channel: tarsy.ChannelSlack, Subject: subject, Target: routes.Of(session.Team),
			State: tarsy.AnnouncementPending, DueAt: routes.DueAt(session.Severity, now), CreatedAt: now,
		}}
	}
}
