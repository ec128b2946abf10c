package notify

import (
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/notify/message"
)

// Announce returns a function that creates the announcements the engine stores for a channel with the start and the end of a
// session.
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

// announces reports whether the start or the end of a session is announced. A cancelled session was ended deliberately.
func (r Routes) announces(session tarsy.Session, subject tarsy.AnnouncementSubject) bool {
	if subject == tarsy.SubjectEnd && session.Status == tarsy.SessionCancelled {
		return r.Cancelled && r.Announces(message.Started)
	}

	return r.Announces(message.EventOf(subject, session.Status))
}
