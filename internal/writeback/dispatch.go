package writeback

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jonboulle/clockwork"
	"github.com/riverqueue/river"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

const (
	// dispatchEvery is the interval at which announcements without a job are searched for.
	dispatchEvery = time.Second
	dispatchLimit = 5 * time.Second
	maxDispatched = 200
	// dispatchAgain is when an announcement that is still pending is queued again. Usually its job is waiting for its next
	// attempt and is not added twice; but a job can be lost: a crash interrupted its last attempt, or a server of an earlier
	// release, which does not know its kind, discarded it.
	dispatchAgain = 10 * time.Minute
)

// job sends an announcement.
type job struct {
	AnnouncementID string `json:"announcement_id" river:"unique"`
	Target         string `json:"target"`
}

// Kind implements river.JobArgs.
func (job) Kind() string { return "write_back" }

// DispatcherConfig configures a Dispatcher. Everything is required.
type DispatcherConfig struct {
	Outbox  *outbox.Store
	Jobs    *river.Client[pgx.Tx]
	Targets []Target
	Clock   clockwork.Clock
	Logger  *slog.Logger
}

// Dispatcher stores the announcements of approvals, and adds the jobs of all announcements. Any number of servers can run one
// on the same database.
type Dispatcher struct {
	cfg      DispatcherConfig
	channels []tarsy.AnnouncementChannel
	waiting  waitingCalls
	task     background.Task
	outage   background.Outage
}

// NewDispatcher creates a dispatcher. Nothing runs before Start.
func NewDispatcher(cfg DispatcherConfig) *Dispatcher {
	d := &Dispatcher{cfg: cfg, outage: background.Outage{
		Failing: "could not queue messages of write-back; trying again", Over: "queuing messages of write-back again",
		Level: slog.LevelWarn, Logger: cfg.Logger,
	}}

	for _, t := range cfg.Targets {
		d.channels = append(d.channels, t.channel())
	}

	d.waiting = newWaitingCalls(cfg)

	return d
}

// Start starts to look for announcements, unless there are no targets. It can be called only once.
func (d *Dispatcher) Start() {
	if len(d.channels) > 0 {
		d.task.Start(func(ctx context.Context) { background.Every(ctx, dispatchEvery, dispatchLimit, d.dispatch) })
	}
}

// Stop stops the dispatcher and waits for it. It can be called before Start.
func (d *Dispatcher) Stop() { d.task.Stop() }

// dispatch announces approvals that are not announced yet, and adds the jobs of all announcements that have none.
func (d *Dispatcher) dispatch(ctx context.Context) {
	if err := d.waiting.announce(ctx); err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			d.outage.Note(ctx, err)
		}

		return
	}

	for {
		queued, err := d.cfg.Outbox.QueueAnnouncements(ctx, d.channels, dispatchAgain, maxDispatched, func(tx pgx.Tx, due []tarsy.Announcement) error {
			return d.add(ctx, tx, due)
		})
		if errors.Is(ctx.Err(), context.Canceled) {
			return // the server is stopping
		}

		d.outage.Note(ctx, err)

		if err != nil || queued < maxDispatched {
			return
		}
	}
}

func (d *Dispatcher) add(ctx context.Context, tx pgx.Tx, due []tarsy.Announcement) error {
	added := make([]river.InsertManyParams, 0, len(due))

	for _, a := range due {
		added = append(added, river.InsertManyParams{
			Args: job{AnnouncementID: a.ID, Target: a.Target},
			InsertOpts: &river.InsertOpts{
				Queue: QueueOf(a.Target), MaxAttempts: maxAttempts, UniqueOpts: river.UniqueOpts{ByArgs: true},
			},
		})
	}

	_, err := d.cfg.Jobs.InsertManyTx(ctx, tx, added)

	return err
}
