// Package writeback notifies other systems and people of the progress of alerts, using the delivery packages below
// internal/notify.
//
// Everything that is sent is first an announcement: a row that the engine stores with the step that starts or ends a session,
// so no session waits for a target and none is forgotten. The dispatcher stores the rows of tool calls that wait for an
// approval, and adds a River job for each row that is due; workers send. Each target has its own queue: an unresponsive target
// delays only its own messages.
//
// The package knows nothing of configuration files. The formats of bodies are in package message.
package writeback

import (
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
	"tarsy.dev/tarsy/internal/quiet"
)

// Target is a recipient of notifications.
type Target struct {
	// Name is unique; it is part of the names of the channel and of the queue.
	Name string
	// Events are the events that it is notified of.
	Events []message.Event
	// Teams are the teams whose sessions it is notified of; none means all sessions.
	Teams []string
	// Match are matchers on the alert.
	Match match.Set
	// Quiet delays messages; nil means no delay.
	Quiet *quiet.Hours
	// Timeout is the time limit of one attempt.
	Timeout time.Duration
	// Delivery is how it is notified.
	Delivery outgoing.Delivery
}

// QueueOf returns the name of the queue of a target's jobs.
func QueueOf(target string) string { return "write-back-" + target }

func (t Target) channel() tarsy.AnnouncementChannel { return tarsy.WebhookChannel(t.Name) }

// wants reports whether the target is to be notified of an event of a session.
func (t Target) wants(session tarsy.Session, event message.Event) bool {
	if !t.Delivery.Concerns(session) {
		return false
	}

	// Whether a completed session has a verdict is only known when the message is created.
	verdict := event == message.Finished && session.Status == tarsy.SessionCompleted && slices.Contains(t.Events, message.VerdictReached)

	return (slices.Contains(t.Events, event) || verdict) && (len(t.Teams) == 0 || slices.Contains(t.Teams, session.Team)) &&
		t.Match.Match(match.Values(tarsy.Alert{AlertType: session.AlertType, Facts: session.AlertFacts}))
}

// announcement returns the row to store for the target.
func (t Target) announcement(session tarsy.Session, subject tarsy.AnnouncementSubject, now time.Time) tarsy.Announcement {
	now = calendar.Time(now)

	return tarsy.Announcement{
		ID: ident.New(), SessionID: session.ID, Channel: t.channel(), Subject: subject, Target: t.Name,
		State: tarsy.AnnouncementPending, DueAt: calendar.Time(t.Quiet.DueAt(session.Severity, now)), CreatedAt: now,
	}
}

// Announce returns a function that creates the rows the engine stores with the start and the end of a session, one per
// interested target.
func Announce(targets []Target, clock clockwork.Clock) func(tarsy.Session, tarsy.AnnouncementSubject) []tarsy.Announcement {
	return func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement {
		var all []tarsy.Announcement

		for _, t := range targets {
			if t.wants(session, message.EventOf(subject, session.Status)) {
				all = append(all, t.announcement(session, subject, clock.Now()))
			}
		}

		return all
	}
}
