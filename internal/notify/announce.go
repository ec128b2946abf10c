package notify

import (
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/notify/message"
)

// Announce returns what the engine stores with the beginning and with the end of a session for a channel.
func Announce(channel tarsy.AnnouncementChannel, routes Routes, clock clockwork.Clock) func(tarsy.Session, tarsy.AnnouncementSubject) []tarsy.Announcement {
	return func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement {
		if !routes.announces(session, subject) {
			return nil
		}

		now := calendar.Time(clock.Now())

		return []tarsy.Announcement{{
			ID: ident.New(), SessionID: session.ID, Channel: channel, Subject: subject, Target: routes.Of(session.Team),
			State: tarsy.AnnouncementPending, DueAt: routes.DueAt(session.Severity, now), CreatedAt: now,
		}}
	}
}

// announces reports whether the beginning or the end of a session is announced. Somebody ended a cancelled session on purpose.
func (r Routes) announces(session tarsy.Session, subject tarsy.AnnouncementSubject) bool {
	if subject == tarsy.SubjectEnd && session.Status == tarsy.SessionCancelled {
		return r.Cancelled && r.Announces(message.Started)
	}

	return r.Announces(message.EventOf(subject, session.Status))
}
