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
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

const (
	// SendEvery is how often due announcements are read, and so how often an answer in progress is updated.
	SendEvery = time.Second
	maxDue    = 100
	// SendLimit is the time limit of one attempt, recordLimit that of recording its result.
	SendLimit   = time.Minute
	recordLimit = 5 * time.Second
	// An announcement is given up after about a day, when no one wants to be notified of it anymore: if no server has sent it
	// maxAge after it was due, or after maxAttempts, nearly all of which are lastPause apart.
	maxAge      = 24 * time.Hour
	maxAttempts = 290
	firstPause  = 2 * time.Second
	lastPause   = 5 * time.Minute
	// decisionEvery is how often a call is polled while its message waits for the decision.
	decisionEvery = 2 * time.Second
)

// Reasons for giving up an announcement.
var (
	ErrDeleted = errors.New("the session was deleted")
	errTooOld  = errors.New("it could not be sent within a day")
)

// Target renders and delivers the announcements of one channel. D is its state of an announcement between attempts.
type Target[D any] interface {
	// Send makes one attempt, and reports whether everything was sent. If it returns false without an error, it is called
	// again.
	Send(ctx context.Context, a *tarsy.Announcement, d *Draft[D]) (done bool, err error)
	// Permanent reports whether a retry after this error is pointless.
	Permanent(a *tarsy.Announcement, err error) bool
	// RetryAfter returns how long the channel asks to wait after this error; false if it does not ask for that.
	RetryAfter(err error) (time.Duration, bool)
}

// SenderConfig configures a Sender. Everything but AfterDue is required.
type SenderConfig[D any] struct {
	Outbox  *outbox.Store
	Channel tarsy.AnnouncementChannel
	Routes  Routes
	Target  Target[D]
	// ApprovalsInThreads sends approval requests to the thread of their session, if it has one.
	ApprovalsInThreads bool
	// AfterDue is called after each read of due announcements; work that it starts can run until ctx is done.
	AfterDue func(ctx, limited context.Context) error
	Clock    clockwork.Clock
	Logger   *slog.Logger
}

// Sender sends due announcements, each in its own goroutine, so that a slow one does not delay others. It belongs to the holder
// of the channel.
type Sender[D any] struct {
	cfg    SenderConfig[D]
	outage background.Outage
	// began is when this server became the holder, by the injected clock.
	began time.Time

	sending sync.WaitGroup

	mu     sync.Mutex
	drafts map[string]*Draft[D]
}

// Draft is what is known about an announcement apart from its row. Only the goroutine that sends the announcement uses it.
type Draft[D any] struct {
	// Own is the state of the target.
	Own D

	busy  bool
	shown []string
}

// NewSender returns a sender for a server that has just become the holder.
func NewSender[D any](cfg SenderConfig[D]) *Sender[D] {
	return &Sender[D]{
		cfg: cfg, began: cfg.Clock.Now(), drafts: map[string]*Draft[D]{},
		outage: background.Outage{
			Failing: "could not read announcements; trying again", Over: "reading announcements again", Level: slog.LevelWarn, Logger: cfg.Logger,
		},
	}
}

// Began returns when this server became the holder. Announcements created earlier may already have been sent by another server.
func (s *Sender[D]) Began() time.Time { return s.began }

// Run sends announcements until ctx is done, then waits for those being sent.
func (s *Sender[D]) Run(ctx context.Context) {
	defer s.Wait()

	background.Every(ctx, SendEvery, recordLimit, func(limited context.Context) {
		err := s.begins(ctx, limited)
		if ctx.Err() == nil {
			s.outage.Note(ctx, err)
		}
	})
}

// Wait waits for announcements that are being sent.
func (s *Sender[D]) Wait() { s.sending.Wait() }

// begins starts to send due announcements.
func (s *Sender[D]) begins(ctx, limited context.Context) error {
	if err := s.announceApprovals(limited); err != nil {
		return err
	}

	due, err := s.cfg.Outbox.DueAnnouncements(limited, s.cfg.Channel, maxDue)
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

// announceApprovals stores an announcement for each waiting call that has none. A unique index prevents duplicates, so each is
// announced once, whichever server holds the channel.
func (s *Sender[D]) announceApprovals(ctx context.Context) error {
	if !s.cfg.Routes.Announces(message.ApprovalNeeded) {
		return nil
	}

	waiting, err := s.cfg.Outbox.UnannouncedApprovals(ctx, s.cfg.Channel)
	if err != nil {
		return err
	}

	for _, call := range waiting {
		now, to := calendar.Time(s.cfg.Clock.Now()), s.cfg.Routes.Of(call.Team)
		if s.cfg.ApprovalsInThreads && call.ThreadID != "" {
			to = call.ThreadID
		}

		if _, err := s.cfg.Outbox.AddAnnouncement(ctx, tarsy.Announcement{
			ID: ident.New(), SessionID: call.SessionID, Channel: s.cfg.Channel, Subject: tarsy.SubjectApproval, ApprovalID: &call.ID,
			Target: to, State: tarsy.AnnouncementPending, DueAt: s.cfg.Routes.DueAt(call.Severity, now), CreatedAt: now,
		}); err != nil {
			return err
		}
	}

	return nil
}

// Go runs work with the draft of an announcement in a goroutine, unless other work on it is running or ready returns false. The
// draft is dropped if work reports that nothing more will be sent.
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

// Forget drops drafts that are not in use and for which useless returns true.
func (s *Sender[D]) Forget(useless func(*D) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for id, d := range s.drafts {
		if !d.busy && useless(&d.Own) {
			delete(s.drafts, id)
		}
	}
}

// send makes one attempt and records its result. It reports whether it was the last one.
func (s *Sender[D]) send(ctx context.Context, a tarsy.Announcement, d *Draft[D]) (over bool) {
	limited, cancel := context.WithTimeout(ctx, SendLimit)
	defer cancel()

	before, done, err := a, false, s.tooOld(a)
	if err == nil {
		a.Error = "" // from the previous attempt
		done, err = s.cfg.Target.Send(limited, &a, d)
	}

	if ctx.Err() != nil && err != nil {
		// The next holder continues. What was posted is recorded, and an error caused by the shutdown is not a failure.
		done, err = false, nil
	}

	s.settle(&a, done, err)

	if err != nil || a.State != before.State || !a.DueAt.Equal(before.DueAt) {
		s.record(a)
	}

	return a.State != tarsy.AnnouncementPending
}

// tooOld returns an error if an announcement is to be given up without another attempt.
func (s *Sender[D]) tooOld(a tarsy.Announcement) error {
	if s.cfg.Clock.Since(a.DueAt) > maxAge || a.Attempts >= maxAttempts {
		return errTooOld
	}

	return nil
}

// settle applies the result of an attempt to the row.
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

// Pause returns how long to wait after this many consecutive failures.
func Pause(failures int) time.Duration { return min(firstPause<<min(failures, 10), lastPause) }

// record stores the progress of an announcement, even during shutdown.
func (s *Sender[D]) record(a tarsy.Announcement) {
	ctx, cancel := context.WithTimeout(context.Background(), recordLimit)
	defer cancel()

	if err := s.cfg.Outbox.UpdateAnnouncement(ctx, a); err != nil {
		s.cfg.Logger.Warn("could not record an announcement; the next attempt finds what was sent", "session_id", a.SessionID, "error", err)
	}
}

// Writer creates and edits the messages of an announcement.
type Writer interface {
	// Create posts the message with this number and returns its ID. doubtful means that an earlier attempt may have posted it,
	// with older content.
	Create(ctx context.Context, number int) (id string, doubtful bool, err error)
	// Edit replaces the content of a message. Messages numbered beyond the last part are obsolete.
	Edit(ctx context.Context, number int, id string) error
}

// Post synchronizes the messages of an announcement with its parts: new messages are posted and recorded immediately, changed
// ones are edited. A part is a text that identifies the content of its message.
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

	// An answer that another server restarted may have become shorter.
	for i := len(parts); i < len(a.MessageIDs); i++ {
		if err := d.edit(ctx, a, i, "(replaced)", to); err != nil {
			return err
		}
	}

	return nil
}

// edit edits a message unless it already shows the part.
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

// show records the content of a message.
func (d *Draft[D]) show(i int, part string) {
	for len(d.shown) <= i {
		d.shown = append(d.shown, "")
	}

	d.shown[i] = part
}
