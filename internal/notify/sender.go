package notify

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres"
)

const (
	// SendEvery is how often due announcements are read, and so how often an answer that is being written is updated.
	SendEvery = time.Second
	maxDue    = 100
	// SendLimit is how long one attempt may take, recordLimit how long recording its result may.
	SendLimit   = time.Minute
	recordLimit = 5 * time.Second
	// An announcement is given up after a day, because nobody wants to be alarmed then: if no server has sent it maxAge after it was due, or
	// after maxAttempts, of which nearly all are lastPause apart.
	maxAge      = 24 * time.Hour
	maxAttempts = 290
	firstPause  = 2 * time.Second
	lastPause   = 5 * time.Minute
	// decisionEvery is how often a call is looked at whose message shows what becomes of it.
	decisionEvery = 2 * time.Second
)

// Why announcements are given up.
var (
	ErrDeleted = errors.New("the session was deleted")
	errTooOld  = errors.New("it could not be sent within a day")
)

// Target renders and delivers the announcements of one channel. D is what it remembers of an announcement between attempts.
type Target[D any] interface {
	// Send makes one attempt, and reports whether there is nothing more to send. Without an error it is called again until there is not.
	Send(ctx context.Context, a *tarsy.Announcement, d *Draft[D]) (done bool, err error)
	// Permanent reports whether trying again after an error is pointless.
	Permanent(a *tarsy.Announcement, err error) bool
	// RetryAfter is how long the channel asks to be left alone by an error; false if it does not.
	RetryAfter(err error) (time.Duration, bool)
}

// SenderConfig is what a sender needs. All but AfterDue is required.
type SenderConfig[D any] struct {
	DB      *postgres.DB
	Channel tarsy.AnnouncementChannel
	Routes  Routes
	Target  Target[D]
	// ApprovalsInThreads sends requests for approvals to the thread of their session, if it has one.
	ApprovalsInThreads bool
	// AfterDue is called each time that announcements were read; its own work goes on until ctx ends.
	AfterDue func(ctx, limited context.Context) error
	Clock    clockwork.Clock
	Logger   *slog.Logger
}

// Sender sends the announcements that are due, each in a goroutine of its own: one that is slow delays no other. It belongs to the holder of the
// channel.
type Sender[D any] struct {
	cfg    SenderConfig[D]
	outage background.Outage
	// began is when this server became the holder, by the injected clock.
	began time.Time

	sending sync.WaitGroup

	mu     sync.Mutex
	drafts map[string]*Draft[D]
}

// Draft is what is known of an announcement besides its row. Only the goroutine that sends it uses it.
type Draft[D any] struct {
	// Own is what the target remembers.
	Own D

	busy  bool
	shown []string
}

// NewSender returns a sender of a server that became the holder just now.
func NewSender[D any](cfg SenderConfig[D]) *Sender[D] {
	return &Sender[D]{
		cfg: cfg, began: cfg.Clock.Now(), drafts: map[string]*Draft[D]{},
		outage: background.Outage{
			Failing: "could not read announcements; trying again", Over: "reads announcements again", Level: slog.LevelWarn, Logger: cfg.Logger,
		},
	}
}

// Began is when this server became the holder. What was created before may have been sent by another one.
func (s *Sender[D]) Began() time.Time { return s.began }

// Run sends until ctx ends, and waits for what is being sent.
func (s *Sender[D]) Run(ctx context.Context) {
	defer s.Wait()

	background.Every(ctx, SendEvery, recordLimit, func(limited context.Context) {
		err := s.begins(ctx, limited)
		if ctx.Err() == nil {
			s.outage.Note(ctx, err)
		}
	})
}

// Wait waits for what is being sent.
func (s *Sender[D]) Wait() { s.sending.Wait() }

// begins starts to send what is due.
func (s *Sender[D]) begins(ctx, limited context.Context) error {
	if err := s.announceApprovals(limited); err != nil {
		return err
	}

	due, err := s.cfg.DB.DueAnnouncements(limited, s.cfg.Channel, maxDue)
	if err != nil {
		return err
	}

	for _, a := range due {
		s.Go(a.ID, nil, func(d *Draft[D]) (over bool) { return s.send(ctx, a, d) })
	}

	if s.cfg.AfterDue == nil {
		return nil
	}

	return s.cfg.AfterDue(ctx, limited)
}

// announceApprovals stores an announcement for each call that waits and has none. Whether it has one is for an index to say, so that it is
// sent once, whichever server holds the channel.
func (s *Sender[D]) announceApprovals(ctx context.Context) error {
	if !s.cfg.Routes.Announces(message.ApprovalNeeded) {
		return nil
	}

	waiting, err := s.cfg.DB.UnannouncedApprovals(ctx, s.cfg.Channel)
	if err != nil {
		return err
	}

	for _, call := range waiting {
		now, to := calendar.Time(s.cfg.Clock.Now()), s.cfg.Routes.Of(call.Team)
		if s.cfg.ApprovalsInThreads && call.ThreadID != "" {
			to = call.ThreadID
		}

		if _, err := s.cfg.DB.AddAnnouncement(ctx, tarsy.Announcement{
			ID: ident.New(), SessionID: call.SessionID, Channel: s.cfg.Channel, Subject: tarsy.SubjectApproval, ApprovalID: &call.ID,
			Target: to, State: tarsy.AnnouncementPending, DueAt: s.cfg.Routes.DueAt(call.Severity, now), CreatedAt: now,
		}); err != nil {
			return err
		}
	}

	return nil
}

// Go runs work with the draft of an announcement in a goroutine, unless other work on it runs, or ready says that it is too early. The
// draft is forgotten if work reports that nothing more will be sent.
func (s *Sender[D]) Go(id string, ready func(*D) bool, work func(*Draft[D]) (over bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()

	d := s.drafts[id]
	if d == nil {
		d = &Draft[D]{}
		s.drafts[id] = d
	}

	if d.busy || ready != nil && !ready(&d.Own) {
		return
	}

	d.busy = true

	s.sending.Go(func() {
		over := work(d)

		s.mu.Lock()
		defer s.mu.Unlock()

		d.busy = false

		if over {
			delete(s.drafts, id)
		}
	})
}

// Forget drops the drafts that nobody uses and that are of no more use.
func (s *Sender[D]) Forget(useless func(*D) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for id, d := range s.drafts {
		if !d.busy && useless(&d.Own) {
			delete(s.drafts, id)
		}
	}
}

// send makes one attempt and records its result. It reports whether that was the last one.
func (s *Sender[D]) send(ctx context.Context, a tarsy.Announcement, d *Draft[D]) (over bool) {
	limited, cancel := context.WithTimeout(ctx, SendLimit)
	defer cancel()

	before, done, err := a, false, s.tooOld(a)
	if err == nil {
		a.Error = "" // of the last attempt
		done, err = s.cfg.Target.Send(limited, &a, d)
	}

	if ctx.Err() != nil && err != nil {
		// The next holder goes on. What was posted is recorded, and a failure that the shutdown caused is none.
		done, err = false, nil
	}

	s.settle(&a, done, err)

	if err != nil || a.State != before.State || !a.DueAt.Equal(before.DueAt) {
		s.record(a)
	}

	return a.State != tarsy.AnnouncementPending
}

// tooOld is why an announcement is given up without another attempt; nil if it is not.
func (s *Sender[D]) tooOld(a tarsy.Announcement) error {
	if s.cfg.Clock.Since(a.DueAt) > maxAge || a.Attempts >= maxAttempts {
		return errTooOld
	}

	return nil
}

// settle notes the result of an attempt in the row.
func (s *Sender[D]) settle(a *tarsy.Announcement, done bool, err error) {
	now, logger := calendar.Time(s.cfg.Clock.Now()), s.cfg.Logger.With("session_id", a.SessionID, "subject", a.Subject)

	if err != nil {
		a.Error = plaintext.Clean(err.Error())
	}

	switch pause, limited := s.cfg.Target.RetryAfter(err); {
	case err == nil && done:
		a.State, a.SentAt = tarsy.AnnouncementSent, &now
	case err == nil && a.Subject == tarsy.SubjectApproval:
		a.DueAt = now.Add(decisionEvery)
	case err == nil:
	case limited:
		a.DueAt = now.Add(pause)
		logger.Warn("the channel limits the rate of requests; an announcement waits", "due_at", a.DueAt)
	case IsSkipped(err):
		a.State = tarsy.AnnouncementSkipped
	case errors.Is(err, errTooOld), errors.Is(err, ErrDeleted), s.cfg.Target.Permanent(a, err):
		a.State = tarsy.AnnouncementFailed
		logger.Error("an announcement was given up", "error", err)
	default:
		a.Attempts++
		a.DueAt = now.Add(Pause(a.Attempts))
		logger.Warn("an announcement could not be sent; trying again", "attempts", a.Attempts, "due_at", a.DueAt, "error", err)
	}
}

// Pause is how long to wait after so many failures in a row.
func Pause(failures int) time.Duration { return min(firstPause<<min(failures, 10), lastPause) }

// record stores how far an announcement has come, also while the server stops.
func (s *Sender[D]) record(a tarsy.Announcement) {
	ctx, cancel := context.WithTimeout(context.Background(), recordLimit)
	defer cancel()

	if err := s.cfg.DB.UpdateAnnouncement(ctx, a); err != nil {
		s.cfg.Logger.Warn("could not record an announcement; the next attempt finds what was sent", "session_id", a.SessionID, "error", err)
	}
}

// Writer creates and edits the messages of an announcement.
type Writer interface {
	// Create makes the message with a number, and returns its ID. doubtful means that an earlier attempt may have made it, with an older content.
	Create(ctx context.Context, number int) (id string, doubtful bool, err error)
	// Edit replaces the content of a message. Numbers beyond the last part are messages that are of no more use.
	Edit(ctx context.Context, number int, id string) error
}

// Post brings the messages of an announcement in line with the parts that it should have: new ones are made and recorded at once, changed ones are
// edited. A part is a text that identifies what its message shows.
func (s *Sender[D]) Post(ctx context.Context, a *tarsy.Announcement, d *Draft[D], parts []string, to Writer) error {
	for i, part := range parts {
		if i >= len(a.MessageIDs) {
			id, doubtful, err := to.Create(ctx, i)
			if err != nil {
				return err
			}

			a.MessageIDs = append(a.MessageIDs, id)
			s.record(*a)

			if !doubtful {
				d.show(i, part)
			}
		}

		if err := d.edit(ctx, a, i, part, to); err != nil {
			return err
		}
	}

	// An answer that another server began again may have become shorter.
	for i := len(parts); i < len(a.MessageIDs); i++ {
		if err := d.edit(ctx, a, i, "(replaced)", to); err != nil {
			return err
		}
	}

	return nil
}

// edit edits a message unless it shows the part.
func (d *Draft[D]) edit(ctx context.Context, a *tarsy.Announcement, i int, part string, to Writer) error {
	if i < len(d.shown) && d.shown[i] == part {
		return nil
	}

	if err := to.Edit(ctx, i, a.MessageIDs[i]); err != nil {
		return err
	}

	d.show(i, part)

	return nil
}

// show notes what a message shows.
func (d *Draft[D]) show(i int, part string) {
	for len(d.shown) <= i {
		d.shown = append(d.shown, "")
	}

	d.shown[i] = part
}
