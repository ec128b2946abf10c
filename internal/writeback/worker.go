package writeback

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/riverqueue/river"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

const (
	// maxAttempts take about a day with River's growing pauses.
	maxAttempts = 14
	// maxAge is when a message is given up if the target keeps asking to send it later, or has been removed for a long time.
	maxAge = 24 * time.Hour
	// perTarget is how many messages a server sends to one target concurrently.
	perTarget = 4
	// storeLimit is the time limit of an attempt apart from sending, recordLimit that of recording its result.
	storeLimit  = 10 * time.Second
	recordLimit = 5 * time.Second
)

var errTooOld = errors.New("it could not be sent within a day")

// WorkersConfig configures Workers. Everything is required.
type WorkersConfig struct {
	DB      *postgres.DB
	Outbox  *outbox.Store
	Targets []Target
	// SessionURL returns the URL of a session, or "".
	SessionURL func(sessionID string) string
	// Mask masks secrets in responses of targets.
	Mask   func(text string) string
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Workers send messages, as a part of the job queue.
type Workers struct {
	river.WorkerDefaults[job]

	cfg     WorkersConfig
	targets map[string]Target
}

// NewWorkers creates the workers.
func NewWorkers(cfg WorkersConfig) *Workers {
	w := &Workers{cfg: cfg, targets: map[string]Target{}}
	for _, t := range cfg.Targets {
		w.targets[t.Name] = t
	}

	return w
}

// AddTo implements jobs.Part. A server without targets must know the kind too, or it would discard lost jobs of other servers.
func (w *Workers) AddTo(workers *river.Workers, queues map[string]river.QueueConfig) error {
	for name := range w.targets {
		queues[QueueOf(name)] = river.QueueConfig{MaxWorkers: perTarget}
	}

	return river.AddWorkerSafely(workers, w)
}

// Timeout implements river.Worker.
func (w *Workers) Timeout(j *river.Job[job]) time.Duration {
	return w.targets[j.Args.Target].Timeout + storeLimit
}

// Work implements river.Worker.
func (w *Workers) Work(ctx context.Context, j *river.Job[job]) error {
	a, err := w.cfg.Outbox.Announcement(ctx, j.Args.AnnouncementID)
	if err != nil {
		return err
	}

	// It was deleted with its session, or completed by an attempt that could not complete its job.
	if a == nil || a.State == tarsy.AnnouncementSent || a.State == tarsy.AnnouncementSkipped {
		return nil
	}

	return w.settle(ctx, j, *a, w.send(ctx, j, *a))
}

// send makes one attempt.
func (w *Workers) send(ctx context.Context, j *river.Job[job], a tarsy.Announcement) error {
	target := w.targets[a.Target]

	session, err := w.cfg.Outbox.Session(ctx, a.SessionID)
	if tarsy.CodeOf(err) == tarsy.CodeSessionNotFound {
		return notify.ErrDeleted
	} else if err != nil {
		return err
	}

	// When the first attempt was due: the row only has the time of the next one.
	due := target.Quiet.DueAt(session.Severity, a.CreatedAt)

	if a.State == tarsy.AnnouncementPending && w.cfg.Clock.Since(due) > maxAge {
		return errTooOld
	}

	m, err := w.message(ctx, target, a, *session)
	if err != nil {
		return err
	}

	limited, cancel := context.WithTimeout(ctx, target.Timeout)
	defer cancel()

	return target.Delivery.Deliver(limited, outgoing.Parcel{
		Message: m, Session: *session, CreatedAt: a.CreatedAt, DueAt: due, Now: w.cfg.Clock.Now(), Again: j.Attempt > 1 || a.Attempts > 0,
	})
}

// message returns the message to a target. An error of type notify.SkippedError means that none is necessary.
func (w *Workers) message(ctx context.Context, target Target, a tarsy.Announcement, session tarsy.Session) (message.Message, error) {
	url := w.cfg.SessionURL(session.ID)

	if a.Subject == tarsy.SubjectApproval {
		call, err := w.cfg.DB.Approval(ctx, *a.ApprovalID)

		if tarsy.CodeOf(err) == tarsy.CodeApprovalNotFound {
			return message.Message{}, notify.ErrDeleted
		}

		if err == nil {
			err = notify.CheckStillOpen(call.Approval, w.cfg.Clock.Now())
		}

		if err != nil {
			return message.Message{}, err
		}

		return message.NewApproval(a, session, call, url), nil
	}

	verdict, err := w.cfg.Outbox.Verdict(ctx, session.ID)
	if err != nil {
		return message.Message{}, err
	}

	m := message.New(a, session, verdict, url)

	if m.Event == message.Finished && verdict != nil && slices.Contains(target.Events, message.VerdictReached) {
		m.Event = message.VerdictReached
	}

	if m.Event == message.Finished && a.State == tarsy.AnnouncementPending && !slices.Contains(target.Events, message.Finished) &&
		slices.Contains(target.Events, message.VerdictReached) {
		return m, &notify.SkippedError{Reason: "the session has no verdict"}
	}

	return m, nil
}

// permanent reports whether a retry is pointless.
func permanent(err error) bool {
	return outgoing.Permanent(err) || errors.Is(err, errTooOld) || errors.Is(err, notify.ErrDeleted)
}

// settle records the result of an attempt and decides how River continues with the job.
func (w *Workers) settle(ctx context.Context, j *river.Job[job], a tarsy.Announcement, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		// The server is stopping. River makes the job available again, for any server, without counting the attempt.
		return fmt.Errorf("%w: %w", context.Canceled, err)
	}

	now := calendar.Time(w.cfg.Clock.Now())
	partly, accepted := errors.AsType[*outgoing.PartlyError](err)

	if accepted {
		a.Error = w.cfg.Mask(plaintext.Clean(partly.Reason))
		w.cfg.Logger.WarnContext(ctx, "an e-mail was not accepted for all recipients", "session_id", a.SessionID, "target", a.Target, "error", a.Error)
	}

	if err == nil || accepted {
		a.State, a.SentAt = tarsy.AnnouncementSent, &now

		// If this fails, the message is sent again with the same idempotency key.
		return w.record(ctx, a)
	}

	if notify.IsSkipped(err) {
		a.State, a.Error = tarsy.AnnouncementSkipped, err.Error()

		return w.record(ctx, a)
	}

	reason := errors.New(w.cfg.Mask(plaintext.Clean(err.Error())))
	final := permanent(err) || j.Attempt >= j.MaxAttempts

	a.Attempts++
	a.Error = reason.Error()

	if final {
		a.State = tarsy.AnnouncementFailed
	}

	w.cfg.Logger.WarnContext(ctx, "a message of write-back was not sent", "session_id", a.SessionID, "target", a.Target, "subject", a.Subject,
		"attempt", a.Attempts, "final", final, "error", reason)

	// If this fails too, the dispatcher finds the announcement still pending.
	if failure := w.record(ctx, a); failure != nil {
		return errors.Join(reason, failure)
	}

	switch wait := outgoing.RetryAfter(err); {
	case permanent(err):
		return river.JobCancel(reason)
	case wait > 0 && !final:
		return river.JobSnooze(wait)
	default:
		return reason
	}
}

// record stores the progress of an announcement, even during shutdown.
func (w *Workers) record(ctx context.Context, a tarsy.Announcement) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()

	return w.cfg.Outbox.UpdateAnnouncement(ctx, a)
}
