package slack

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/background"
)

const (
	// sendEvery is how often due announcements are read, and so how often an answer that is being written is updated.
	sendEvery = time.Second
	maxDue    = 100
	// sendLimit is how long one attempt may take, recordLimit how long recording its result may.
	sendLimit   = time.Minute
	recordLimit = 5 * time.Second
	// An announcement is given up after a day, because nobody wants to be alarmed then: if no server has sent it maxAge after it was due, or
	// after maxAttempts, of which nearly all are lastPause apart.
	maxAge      = 24 * time.Hour
	maxAttempts = 290
	firstPause  = 2 * time.Second
	lastPause   = 5 * time.Minute
	// threadAge is how long announcements of an alert go to the same thread.
	threadAge = 24 * time.Hour
	// decisionEvery is how often a call that waits is looked at.
	decisionEvery = 2 * time.Second
	// skew is how far the clocks of servers, and Slack's, may differ.
	skew = time.Minute
)

// sender sends the announcements that are due, each in a goroutine of its own: a channel that is slow delays no other. It belongs to
// the holder of the connection.
type sender struct {
	cfg    Config
	outage background.Outage
	// began is when this server became the holder, by the injected clock.
	began time.Time

	sending sync.WaitGroup

	mu     sync.Mutex
	drafts map[string]*draft
}

// draft is what is known of an announcement besides its row. Only the goroutine that sends it uses all but busy.
type draft struct {
	busy  bool
	shown []string
	// unknown means that an attempt to post a message failed in a way that does not tell whether it is there.
	unknown bool
	// answered is when an answer was posted or updated last.
	answered time.Time
	// updated is when the last update of the first message of a thread began, and again when that may be tried after failures.
	updated, again time.Time
	failures       int
}

func newSender(cfg Config) *sender {
	return &sender{
		cfg: cfg, began: cfg.Clock.Now(), drafts: map[string]*draft{},
		outage: background.Outage{
			Failing: "could not read announcements; trying again", Over: "reads announcements again", Level: slog.LevelWarn, Logger: cfg.Logger,
		},
	}
}

// run sends until ctx ends, and waits for what is being sent.
func (s *sender) run(ctx context.Context) {
	defer s.sending.Wait()

	background.Every(ctx, sendEvery, recordLimit, func(limited context.Context) {
		err := s.begins(ctx, limited)
		if ctx.Err() == nil {
			s.outage.Note(ctx, err)
		}
	})
}

// begins starts to send what is due.
func (s *sender) begins(ctx, limited context.Context) error {
	if err := s.announceApprovals(limited); err != nil {
		return err
	}

	due, err := s.cfg.DB.DueAnnouncements(limited, tarsy.ChannelSlack, maxDue)
	if err != nil {
		return err
	}

	for _, a := range due {
		if d := s.begin(a.ID); d != nil {
			s.sending.Go(func() { s.send(ctx, a, d) })
		}
	}

	s.forget()

	return s.updateThreads(ctx, limited)
}

// begin returns the draft of an announcement, or nil if it is being sent.
func (s *sender) begin(id string) *draft {
	s.mu.Lock()
	defer s.mu.Unlock()

	d := s.drafts[id]
	if d == nil {
		d = &draft{}
		s.drafts[id] = d
	}

	if d.busy {
		return nil
	}

	d.busy = true

	return d
}

// forget drops what was kept to pace updates of threads.
func (s *sender) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.cfg.Clock.Now()

	for id, d := range s.drafts {
		if !d.busy && !d.updated.IsZero() && now.Sub(d.updated) > skew && now.After(d.again) {
			delete(s.drafts, id)
		}
	}
}

func (s *sender) end(id string, d *draft, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	d.busy = false

	if over {
		delete(s.drafts, id)
	}
}

// send makes one attempt and records its result.
func (s *sender) send(ctx context.Context, a tarsy.Announcement, d *draft) {
	limited, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()

	var (
		done bool
		err  error
	)

	before := a

	switch err = s.tooOld(a); {
	case err != nil:
	case a.Subject == tarsy.SubjectStart, a.Subject == tarsy.SubjectEnd:
		done, err = s.sendSession(limited, &a, d)
	case a.Subject == tarsy.SubjectApproval:
		done, err = s.sendApproval(limited, &a, d)
	case a.Subject == tarsy.SubjectAnswer:
		done, err = s.sendAnswer(limited, &a, d)
	}

	if ctx.Err() != nil {
		// The next holder goes on. What was posted is recorded, and a failure that the shutdown caused is none.
		err = nil
	}

	s.settle(&a, done, err)

	if err != nil || a.State != before.State || !a.DueAt.Equal(before.DueAt) {
		s.record(a)
	}

	s.end(a.ID, d, a.State != tarsy.AnnouncementPending)
}

// tooOld is why an announcement is given up without another attempt; nil if it is not.
func (s *sender) tooOld(a tarsy.Announcement) error {
	if s.cfg.Clock.Since(a.DueAt) > maxAge || a.Attempts >= maxAttempts {
		return errTooOld
	}

	return nil
}

// settle notes the result of an attempt in the row.
func (s *sender) settle(a *tarsy.Announcement, done bool, err error) {
	now := tarsy.Time(s.cfg.Clock.Now())
	pause, limited := retryAfter(err)

	switch {
	case done:
		a.State, a.SentAt, a.Error = tarsy.AnnouncementSent, &now, ""
	case err == nil:
		if a.Subject == tarsy.SubjectApproval {
			a.DueAt = now.Add(decisionEvery)
		}
	case limited:
		a.Error, a.DueAt = tarsy.CleanText(err.Error()), now.Add(pause)
		s.cfg.Logger.Warn("Slack limits the rate of requests; an announcement waits", "session_id", a.SessionID, "subject", a.Subject, "due_at", a.DueAt)
	case permanent(a, err):
		a.State, a.Error = tarsy.AnnouncementFailed, tarsy.CleanText(err.Error())
		s.cfg.Logger.Error("an announcement was given up", "session_id", a.SessionID, "subject", a.Subject, "error", err)
	default:
		a.Attempts++
		a.Error, a.DueAt = tarsy.CleanText(err.Error()), now.Add(min(firstPause<<min(a.Attempts, 10), lastPause))
		s.cfg.Logger.Warn("an announcement could not be sent; trying again", "session_id", a.SessionID, "subject", a.Subject,
			"attempts", a.Attempts, "due_at", a.DueAt, "error", err)
	}
}

// record stores how far an announcement has come, also while the server stops.
func (s *sender) record(a tarsy.Announcement) {
	ctx, cancel := context.WithTimeout(context.Background(), recordLimit)
	defer cancel()

	if err := s.cfg.DB.UpdateAnnouncement(ctx, a); err != nil {
		s.cfg.Logger.Warn("could not record an announcement; its messages are found again by their metadata", "session_id", a.SessionID, "error", err)
	}
}
