package discord

import (
	"context"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/notify"
)

// typingEvery is less than the ten seconds for which Discord shows the typing indicator.
const typingEvery = 8 * time.Second

// sender delivers announcements. It belongs to the holder of the connection.
type sender struct {
	cfg  Config
	loop *notify.Sender[memory]
}

// draft is what is known about an announcement apart from its row.
type draft = notify.Draft[memory]

// memory is the in-memory state of an announcement.
type memory struct {
	// typed is when the typing indicator was last sent.
	typed time.Time
}

func newSender(cfg Config) *sender {
	s := &sender{cfg: cfg}
	s.loop = notify.NewSender(notify.SenderConfig[memory]{
		Outbox: cfg.Outbox, Channel: tarsy.ChannelDiscord, Routes: cfg.Routes, Target: s, ApprovalsInThreads: true, Clock: cfg.Clock, Logger: cfg.Logger,
	})

	return s
}

// Send implements notify.Target.
func (s *sender) Send(ctx context.Context, a *tarsy.Announcement, d *draft) (done bool, err error) {
	switch a.Subject {
	case tarsy.SubjectStart:
		return s.sendStart(ctx, a, d)
	case tarsy.SubjectEnd:
		return s.sendEnd(ctx, a, d)
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

// RetryAfter implements notify.Target. The client handles rate limits itself.
func (s *sender) RetryAfter(error) (time.Duration, bool) { return 0, false }

// post synchronizes the messages of an announcement with the parts of its text.
func (s *sender) post(ctx context.Context, a *tarsy.Announcement, d *draft, parts ...string) error {
	return s.loop.Post(ctx, a, d, parts, writer{s: s, a: a, parts: parts})
}

// writer implements notify.Writer for one announcement.
type writer struct {
	s     *sender
	a     *tarsy.Announcement
	parts []string
}

// Create sends a message with a nonce: if an earlier attempt succeeded, Discord returns its message, whose text may be older.
func (w writer) Create(ctx context.Context, number int) (id string, doubtful bool, err error) {
	message := discord.Post{Text: w.parts[number], Nonce: nonce(w.a.ID, number)}
	if number == 0 {
		message.ReplyTo = w.a.ReplyTo
	}

	id, err = w.s.cfg.Client.Send(ctx, w.a.Target, message)

	return id, w.a.Attempts > 0 || w.a.CreatedAt.Before(w.s.loop.Began()), err
}

// Edit implements notify.Writer.
func (w writer) Edit(ctx context.Context, number int, id string) error {
	text := "-# (replaced)"
	if number < len(w.parts) {
		text = w.parts[number]
	}

	return w.s.cfg.Client.Edit(ctx, w.a.Target, id, text)
}
