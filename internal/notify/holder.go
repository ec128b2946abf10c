// Package notify has what channels to people, such as Discord and Slack, share: one server of all works for a channel, under a lease; routes say
// what is announced, where and when; a sender sends what is due, and tries again. How a message looks and how it is delivered is for the
// package of each channel.
package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/background"
)

// leaveLimit is how long releasing the lease may take.
const leaveLimit = 5 * time.Second

// Leases are the leases in the database.
type Leases interface {
	TakeChannel(ctx context.Context, channel tarsy.AnnouncementChannel, serverID string, lease time.Duration) (bool, error)
	LeaveChannel(ctx context.Context, channel tarsy.AnnouncementChannel, serverID string) error
}

// HolderConfig is what a Holder needs. Everything is required.
type HolderConfig struct {
	Leases  Leases
	Channel tarsy.AnnouncementChannel
	// ServerID names this server as the holder.
	ServerID string
	// Lease is how long the channel stays with a server that has gone silent; it is renewed every RenewEvery.
	Lease      time.Duration
	RenewEvery time.Duration
	// Work is what the holder does until its context ends.
	Work func(ctx context.Context)
	// Clock is the one that Leases use.
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Holder works for a channel whenever no other server does. Start it once; Stop may be called at any time.
type Holder struct {
	cfg    HolderConfig
	task   background.Task
	leases background.Outage
}

// NewHolder returns a holder that does nothing yet.
func NewHolder(cfg HolderConfig) *Holder {
	cfg.Logger = cfg.Logger.With("channel", cfg.Channel)

	return &Holder{cfg: cfg, leases: background.Outage{
		Failing: "could not take or renew the lease of a channel; trying again",
		Over:    "the lease of a channel is available again", Level: slog.LevelWarn, Logger: cfg.Logger,
	}}
}

// Start begins to try to become the server that works for the channel.
func (h *Holder) Start() { h.task.Start(h.run) }

// Stop leaves the channel to another server and waits for the work.
func (h *Holder) Stop() { h.task.Stop() }

func (h *Holder) run(ctx context.Context) {
	var (
		duty    *background.Task
		renewed time.Time
	)

	ticker := h.cfg.Clock.NewTicker(h.cfg.RenewEvery)
	defer ticker.Stop()

	for ctx.Err() == nil {
		// The lease begins when it is asked for, not when the answer arrives.
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

// leave lets another server continue at once; the lease would end by itself.
func (h *Holder) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()

	if err := h.cfg.Leases.LeaveChannel(ctx, h.cfg.Channel, h.cfg.ServerID); err != nil {
		h.cfg.Logger.Warn("could not release the lease of a channel; it expires by itself", "error", err)
	}
}
