package discord

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/background"
)

const (
	// sendEvery is how often due announcements are read, and so how often an answer that is being written is updated.
	sendEvery = time.Second
	maxDue    = 100
	// sendLimit is how long one attempt may take, recordLimit how long recording its result may.
	sendLimit   = time.Minute
	recordLimit = 5 * time.Second
	// maxAge is when an announcement is given up: after a day nobody wants to be alarmed.
	maxAge = 24 * time.Hour
	// typingEvery is less than the ten seconds for which Discord shows that somebody types.
	typingEvery = 8 * time.Second
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
	typed time.Time
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
		err := s.announceApprovals(limited)
		if ctx.Err() != nil {
			return
		}

		if err != nil {
			s.outage.Note(ctx, err)

			return
		}

		due, err := s.cfg.DB.DueAnnouncements(limited, tarsy.ChannelDiscord, maxDue)
		if ctx.Err() != nil {
			return
		}

		s.outage.Note(ctx, err)

		for _, a := range due {
			if d := s.begin(a.ID); d != nil {
				s.sending.Go(func() { s.send(ctx, a, d) })
			}
		}
	})
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

	switch {
	case s.cfg.Clock.Since(s.cfg.Routes.DueAt(tarsy.SeverityUnknown, a.CreatedAt)) > maxAge:
		err = errTooOld
	case a.Subject == tarsy.SubjectStart:
		done, err = s.sendStart(limited, &a, d)
	case a.Subject == tarsy.SubjectEnd:
		done, err = s.sendEnd(limited, &a, d)
	case a.Subject == tarsy.SubjectApproval:
		done, err = s.sendApproval(limited, &a, d)
	case a.Subject == tarsy.SubjectAnswer:
		done, err = s.sendAnswer(limited, &a, d)
	case a.Subject == tarsy.SubjectReceipt:
		done, err = s.sendReceipt(limited, &a, d)
	}

	if ctx.Err() != nil {
		// The next holder goes on. What was posted is recorded, and a failure that the shutdown caused is none.
		err = nil
	}

	before := a
	s.settle(&a, done, err)

	if err != nil || a.State != before.State {
		s.record(a)
	}

	s.end(a.ID, d, a.State != tarsy.AnnouncementPending)
}

// settle notes the result of an attempt in the row.
func (s *sender) settle(a *tarsy.Announcement, done bool, err error) {
	now := tarsy.Time(s.cfg.Clock.Now())

	switch {
	case done:
		a.State, a.SentAt = tarsy.AnnouncementSent, &now
	case err == nil:
	case errors.Is(err, errDecided):
		a.State, a.Error = tarsy.AnnouncementSkipped, err.Error()
	case permanent(a, err):
		a.State, a.Error = tarsy.AnnouncementFailed, tarsy.CleanText(err.Error())
		s.cfg.Logger.Error("an announcement was given up", "session_id", a.SessionID, "subject", a.Subject, "error", err)
	default:
		const first, most = 2 * time.Second, 5 * time.Minute

		a.Attempts++
		a.Error, a.DueAt = tarsy.CleanText(err.Error()), now.Add(min(first<<min(a.Attempts, 10), most))
		s.cfg.Logger.Warn("an announcement could not be sent; trying again", "session_id", a.SessionID, "subject", a.Subject,
			"attempts", a.Attempts, "due_at", a.DueAt, "error", err)
	}
}

// record stores how far an announcement has come, also while the server stops.
func (s *sender) record(a tarsy.Announcement) {
	ctx, cancel := context.WithTimeout(context.Background(), recordLimit)
	defer cancel()

	if err := s.cfg.DB.UpdateAnnouncement(ctx, a); err != nil {
		s.cfg.Logger.Warn("could not record an announcement; it is sent again with the same nonce", "session_id", a.SessionID, "error", err)
	}
}

// post brings the messages of an announcement in line with the parts of its text: new ones are sent and recorded at once, changed ones are
// edited.
func (s *sender) post(ctx context.Context, a *tarsy.Announcement, d *draft, parts []string) error {
	for i, part := range parts {
		if i < len(a.MessageIDs) {
			if err := s.edit(ctx, a, d, i, part); err != nil {
				return err
			}

			continue
		}

		message := discord.Post{Text: part, Nonce: nonce(a.ID, i)}
		if i == 0 {
			message.ReplyTo = a.ReplyTo
		}

		id, err := s.cfg.Client.Send(ctx, a.Target, message)
		if err != nil {
			return err
		}

		a.MessageIDs = append(a.MessageIDs, id)
		s.record(*a)

		// If an earlier attempt got through, this one returned its message, whose text may be older.
		if doubtful := a.Attempts > 0 || a.CreatedAt.Before(s.began); !doubtful {
			d.show(i, part)
		} else if err := s.edit(ctx, a, d, i, part); err != nil {
			return err
		}
	}

	// An answer that another server began again may have become shorter.
	for i := len(parts); i < len(a.MessageIDs); i++ {
		if err := s.edit(ctx, a, d, i, "-# (replaced)"); err != nil {
			return err
		}
	}

	return nil
}

func (s *sender) edit(ctx context.Context, a *tarsy.Announcement, d *draft, i int, part string) error {
	if i < len(d.shown) && d.shown[i] == part {
		return nil
	}

	if err := s.cfg.Client.Edit(ctx, a.Target, a.MessageIDs[i], part); err != nil {
		return err
	}

	d.show(i, part)

	return nil
}

// show notes what a message shows.
func (d *draft) show(i int, part string) {
	for len(d.shown) <= i {
		d.shown = append(d.shown, "")
	}

	d.shown[i] = part
}
