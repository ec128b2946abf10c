// Package writeback tells other systems what becomes of alerts: outgoing webhooks and notes on PagerDuty incidents.
//
// What is sent is an announcement first: a row that the engine stores with the step that begins or ends a session, so no session
// waits for a target and none is forgotten. A dispatcher adds a River job for each row, and workers send. Each target has its own
// queue: one that does not answer delays nothing but its own messages.
//
// The package knows nothing of configuration files. What a body looks like is for the package message.
package writeback

import (
	"net/http"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/writeback/message"
)

// Target is somebody who is told.
type Target struct {
	// Name is unique; it is part of the names of the channel and of the queue.
	Name string
	// PagerDuty makes what is sent a note on the incident that the alert came from, at the API with this base URL; nil means a webhook.
	PagerDuty *PagerDuty
	// URL is where to post; unused for PagerDuty. It may hold a secret.
	URL string
	// Events are those that it is told of.
	Events []message.Event
	// Match are matchers on the alert.
	Match match.Set
	Body  *message.Template
	// Header is sent with each request. It may hold secrets.
	Header http.Header
	// Timeout bounds one attempt.
	Timeout time.Duration
}

// QueueOf is the queue of a target's jobs.
func QueueOf(target string) string { return "write-back-" + target }

func (t Target) channel() tarsy.AnnouncementChannel { return tarsy.WebhookChannel(t.Name) }

// wants reports whether the target is told of an event of a session.
func (t Target) wants(session tarsy.Session, event message.Event) bool {
	if t.PagerDuty != nil && incidentOf(session) == "" {
		return false
	}

	return slices.Contains(t.Events, event) && t.Match.Match(match.Values(tarsy.Alert{AlertType: session.AlertType, Facts: session.AlertFacts}))
}

// Announce returns what the engine stores with the beginning and the end of a session: a row for each target that wants to know.
func Announce(targets []Target, clock clockwork.Clock) func(tarsy.Session, tarsy.AnnouncementSubject) []tarsy.Announcement {
	return func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement {
		var all []tarsy.Announcement

		now := tarsy.Time(clock.Now())

		for _, t := range targets {
			if t.wants(session, message.EventOf(subject, session.Status)) {
				all = append(all, tarsy.Announcement{
					ID: tarsy.NewID(), SessionID: session.ID, Channel: t.channel(), Subject: subject, Target: t.Name,
					State: tarsy.AnnouncementPending, DueAt: now, CreatedAt: now,
				})
			}
		}

		return all
	}
}
