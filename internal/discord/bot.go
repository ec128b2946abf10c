// Package discord connects the server to Discord: it announces the results of sessions, answers questions and takes feedback in
// the threads under announcements, and accepts alerts from mentions of the bot.
//
// One server at a time holds the connection, under a lease in the database. Every announcement is stored as a row before it is
// posted, so that the next holder continues where a killed one stopped. Input from Discord is untrusted: it must pass the
// allow-lists, and intake masks it. The package does not read configuration files; the Discord protocol is in flow/discord.
package discord

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

// Config configures a Bot.
type Config struct {
	Outbox *outbox.Store
	Client *discord.Client
	Intake notify.Intake
	// Desk takes feedback, and decisions about tool calls by those in Approve.
	Desk    notify.Decisions
	Approve []string
	// Routes define what is announced, where and when.
	Routes notify.Routes
	// Templates are the templates of announcements by event; events without one use the default text.
	Templates map[message.Event]*message.Template
	// ServerID identifies this server as the holder of the connection.
	ServerID string
	// Lease is how long an unresponsive server keeps the connection; the lease is renewed every RenewEvery.
	Lease      time.Duration
	RenewEvery time.Duration
	// Ask defines who can ask questions and give feedback, Submit who can submit alerts. AlertType is the type of those alerts.
	Ask       Access
	Submit    Access
	AlertType string
	// SessionURL returns the URL of a session, or "".
	SessionURL func(sessionID string) string
	// Mask hides secrets in names; intake masks the rest.
	Mask   func(text string) string
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Bot is this server's Discord bot. Start it once; Stop can be called at any time.
type Bot struct {
	cfg    Config
	people notify.People
	holder *notify.Holder
	online background.Outage
}

// New returns a bot. It does nothing until Start.
func New(cfg Config) *Bot {
	cfg.Logger = cfg.Logger.With("component", "discord")

	b := &Bot{
		cfg: cfg,
		people: notify.People{
			Outbox: cfg.Outbox, Channel: tarsy.ChannelDiscord, Intake: cfg.Intake, Desk: cfg.Desk, Mask: cfg.Mask, Clock: cfg.Clock, Logger: cfg.Logger,
		},
		online: background.Outage{
			Failing: "the Discord connection failed; trying again", Over: "connected to Discord again", Level: slog.LevelError, Logger: cfg.Logger,
		},
	}
	b.holder = notify.NewHolder(notify.HolderConfig{
		Leases: cfg.Outbox, Channel: tarsy.ChannelDiscord, ServerID: cfg.ServerID, Lease: cfg.Lease, RenewEvery: cfg.RenewEvery, Work: b.work, Clock: cfg.Clock, Logger: cfg.Logger,
	})

	return b
}

// Start begins to compete for the lease of the connection.
func (b *Bot) Start() { b.holder.Start() }

// Stop releases the connection to another server and waits for messages that are being sent.
func (b *Bot) Stop() { b.holder.Stop() }

// work runs while this server holds the lease: it listens and sends.
func (b *Bot) work(ctx context.Context) {
	var parts sync.WaitGroup

	parts.Go(func() { b.listen(ctx) })
	parts.Go(func() { newSender(b.cfg).loop.Run(ctx) })
	parts.Wait()
}

// listen keeps the gateway connection open. The client reconnects on its own; listen pauses only when Run returns.
func (b *Bot) listen(ctx context.Context) {
	const pause = 15 * time.Second

	for ctx.Err() == nil {
		err := b.cfg.Client.Run(ctx, func() { b.online.Note(ctx, nil) }, b.handle)
		if ctx.Err() != nil {
			return
		}

		if err != nil {
			b.online.Note(ctx, err)
		}

		select {
		case <-ctx.Done():
		case <-b.cfg.Clock.After(pause):
		}
	}
}
