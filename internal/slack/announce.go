package slack

import (
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/writeback/message"
)

// AnnounceConfig is what Announce needs.
type AnnounceConfig struct {
	Rooms  Rooms
	Events []message.Event
	// DueAt is when an announcement may be sent at the earliest; nil means at once.
	DueAt func(session tarsy.Session, now time.Time) time.Time
	Clock clockwork.Clock
}

// Announce returns what the engine stores with the beginning and with the end of a session. Cancelled sessions, which somebody ended on
// purpose, are announced only where their beginning was.
func Announce(cfg AnnounceConfig) func(tarsy.Session, tarsy.AnnouncementSubject) []tarsy.Announcement {
	return func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement {
		wanted := slices.Contains(cfg.Events, message.EventOf(subject, session.Status))
		if subject == tarsy.SubjectEnd && session.Status == tarsy.SessionCancelled {
			wanted = slices.Contains(cfg.Events, message.Started)
		}

		if !wanted {
			return nil
		}

		now := tarsy.Time(cfg.Clock.Now())
		due := now

		if cfg.DueAt != nil {
			due = tarsy.Time(cfg.DueAt(session, now))
		}

		return []tarsy.Announcement{{
			ID: tarsy.NewID(), SessionID: session.ID, Channel: tarsy.ChannelSlack, Subject: subject, Target: cfg.Rooms.of(session.Team),
			State: tarsy.AnnouncementPending, DueAt: due, CreatedAt: now,
		}}
	}
}
