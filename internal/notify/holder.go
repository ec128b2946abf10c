// Package notify is the common part of channels to people, such as Discord and Slack: one server at a time works for a channel,
// under a lease; routes define what is announced, where and when; a sender sends what is due, with retries. Formatting and
// delivery of messages are up to the package of each channel.
package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/background"
)

// leaveLimit is the time limit for releasing the lease.
const leaveLimit = 5 * time.Second

// Leases are stored in the database.
type Leases interface {
	TakeChannel(ctx context.Context, channel tarsy.AnnouncementChannel, serverID string, lease time.Duration) (bool, error)
	LeaveChannel(ctx context.Context, channel tarsy.AnnouncementChannel, serverID string) error
}

// HolderConfig configures a Holder. Everything is required.
type HolderConfig struct {
	Leases  Leases
	Channel tarsy.AnnouncementChannel
	// ServerID identifies this server as the holder.
	ServerID string
	// Lease is how long an unresponsive server keeps the channel; the lease is renewed every RenewEvery.
	Lease      time.Duration
	RenewEvery time.Duration
	// Work runs while this server is the holder, until ctx is done.
	Work func(ctx context.Context)
	// Clock must be the one that Leases uses.
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Holder works for a channel while no other server does. Start it once; Stop can be called at any time.
type Holder struct {
	cfg    HolderConfig
	task   background.Task
	leases background.Outage
}

// NewHolder returns a holder. It does nothing until Start.
func NewHolder(cfg HolderConfig) *Holder {
	cfg.Logger = cfg.Logger.With("channel", cfg.Channel)

	return &Holder{cfg: cfg, leases: background.Outage{
		Failing: "could not take or renew the lease of a channel; trying again",
		Over:    "the lease of a channel is available again", Level: slog.LevelWarn, Logger: cfg.Logger,
	}}
}

// Start begins to compete for the lease of the channel.
func (h *Holder) Start() { h.task.Start(h.run) }

// Stop releases the channel to another server and waits for the work to end.
func (h *Holder) Stop() { h.task.Stop() }

func (h *Holder) run(ctx context.Context) {
	var (
		duty    *background.Task
		renewed time.Time
	)

	ticker := h.cfg.Clock.NewTicker(h.cfg.RenewEvery)
	defer ticker.Stop()

	for ctx.Err() == nil {
		// The lease starts when it is requested, not when the response arrives.
		asked := h.cfg.Clock.Now()
		taken, err := h.take(ctx)

		switch {
		case taken:
			renewed = asked

			if duty == nil {
				duty = &background.Task{}
				duty.Start(h.cfg.Work)
			}
		case duty != nil && (err == nil || h.cfg.Clock.Since(renewed)+h.cfg.RenewEvery >= h.cfg.Lease):
			duty.Stop()
			duty = nil
		}

		select {
		case <-ctx.Done():
		case <-ticker.Chan():
		}
	}

	if duty != nil {
		duty.Stop()
		h.leave()
	}
}

func (h *Holder) take(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Lease/2)
	defer cancel()

	taken, err := h.cfg.Leases.TakeChannel(ctx, h.cfg.Channel, h.cfg.ServerID, h.cfg.Lease)
	if ctx.Err() == nil || err == nil {
		h.leases.Note(ctx, err)
	}

	return taken, err
}

// leave lets another server take over immediately; otherwise it would wait for the lease to expire.
func (h *Holder) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()

	if err := h.cfg.Leases.LeaveChannel(ctx, h.cfg.Channel, h.cfg.ServerID); err != nil {
		h.cfg.Logger.Warn("could not release the lease of a channel; it expires by itself", "error", err)
	}
}
