package slack

import (
	"context"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify"
)

const (
	// threadAge is how long announcements of an alert go to the same thread.
	threadAge = 24 * time.Hour
	// skew is the maximum difference between the clocks of servers and Slack.
	skew = time.Minute
)

// sender delivers announcements. It belongs to the holder of the connection.
type sender struct {
	cfg  Config
	loop *notify.Sender[memory]
}

// draft is what is known about an announcement apart from its row.
type draft = notify.Draft[memory]

// memory is the in-memory state of an announcement.
type memory struct {
	// unknown means that it is unknown whether a failed attempt posted a message.
	unknown bool
	// answered is when an answer was last posted or updated.
	answered time.Time
	// updated is when the last update of the first message of a thread started, and again when to retry it after failures.
	updated, again time.Time
	failures       int
}

func newSender(cfg Config) *sender {
	s := &sender{cfg: cfg}
	s.loop = notify.NewSender(notify.SenderConfig[memory]{
		Outbox: cfg.Outbox, Channel: tarsy.ChannelSlack, Routes: cfg.Routes, Target: s, AfterDue: s.updateThreads, Clock: cfg.Clock, Logger: cfg.Logger,
	})

	return s
}

// Send implements notify.Target.
func (s *sender) Send(ctx context.Context, a *tarsy.Announcement, d *draft) (done bool, err error) {
	switch a.Subject {
	case tarsy.SubjectStart, tarsy.SubjectEnd:
		return s.sendSession(ctx, a, d)
	case tarsy.SubjectApproval:
		return s.sendApproval(ctx, a, d)
	case tarsy.SubjectAnswer:
		return s.sendAnswer(ctx, a, d)
	case tarsy.SubjectReceipt:
		return s.sendReceipt(ctx, a, d)
	}

	return false, nil
}

// Permanent implements notify.Target.
func (s *sender) Permanent(a *tarsy.Announcement, err error) bool { return permanent(a, err) }

// RetryAfter implements notify.Target.
func (s *sender) RetryAfter(err error) (time.Duration, bool) { return retryAfter(err) }
