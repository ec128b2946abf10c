// Package writeback tells other systems and people what becomes of alerts, as the packages of deliveries below internal/notify do it.
//
// What is sent is an announcement first: a row that the engine stores with the step that begins or ends a session, so no session
// waits for a target and none is forgotten. Rows of tool calls that wait for an approval are stored by the dispatcher, which also adds a River job for
// each row that is due; workers send. Each target has its own
// queue: one that does not answer delays nothing but its own messages.
//
// The package knows nothing of configuration files. What a body looks like is for the package message.
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

// Target is somebody who is told.
type Target struct {
	// Name is unique; it is part of the names of the channel and of the queue.
	Name string
	// Events are those that it is told of.
	Events []message.Event
	// Teams are those whose sessions it is told of; none means all sessions.
	Teams []string
	// Match are matchers on the alert.
	Match match.Set
	// Quiet delays messages; nil delays none.
	Quiet *quiet.Hours
	// Timeout bounds one attempt.
	Timeout time.Duration
	// Delivery is how it is told.
	Delivery outgoing.Delivery
}

// QueueOf is the queue of a target's jobs.
func QueueOf(target string) string { return "write-back-" + target }

func (t Target) channel() tarsy.AnnouncementChannel { return tarsy.WebhookChannel(t.Name) }

// wants reports whether the target is told of an event of a session.
func (t Target) wants(session tarsy.Session, event message.Event) bool {
	if !t.Delivery.Concerns(session) {
		return false
	}

	// Whether a completed session has a verdict shows when the message is made.
	verdict := event == message.Finished && session.Status == tarsy.SessionCompleted && slices.Contains(t.Events, message.VerdictReached)

	return (slices.Contains(t.Events, event) || verdict) && (len(t.Teams) == 0 || slices.Contains(t.Teams, session.Team)) &&
		t.Match.Match(match.Values(tarsy.Alert{AlertType: session.AlertType, Facts: session.AlertFacts}))
}

// announcement is what is stored for the target.
func (t Target) announcement(session tarsy.Session, subject tarsy.AnnouncementSubject, now time.Time) tarsy.Announcement {
	now = calendar.Time(now)

	return tarsy.Announcement{
		ID: ident.New(), SessionID: session.ID, Channel: t.channel(), Subject: subject, Target: t.Name,
		State: tarsy.AnnouncementPending, DueAt: calendar.Time(t.Quiet.DueAt(session.Severity, now)), CreatedAt: now,
	}
}

// Announce returns what the engine stores with the beginning and the end of a session: a row for each target that wants to know.
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
