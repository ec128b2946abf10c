// Package discord connects the server to Discord: it announces how sessions end, answers questions that people ask in the threads
// under announcements, takes feedback there, and takes alerts from mentions of the bot.
//
// One server of all holds the connection, under a lease in the database. Everything that it posts is a row first, so that
// the next holder goes on where a killed one was. What comes from Discord is hostile: it passes the allow-lists, and intake masks it.
// The package knows nothing of configuration files; the protocol of Discord is that of flow/discord.
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
	"tarsy.dev/tarsy/internal/postgres"
)

// Config is what a bot needs.
type Config struct {
	DB     *postgres.DB
	Client *discord.Client
	Intake notify.Intake
	// Desk takes feedback, and decisions about tool calls of those in Approve.
	Desk    notify.Decisions
	Approve []string
	// Routes are what is announced, where and when.
	Routes notify.Routes
	// Templates are texts of announcements by event; those without one have the default.
	Templates map[message.Event]*message.Template
	// ServerID names this server as the holder of the connection.
	ServerID string
	// Lease is how long the connection stays with a server that has gone silent; it is renewed every RenewEvery.
	Lease      time.Duration
	RenewEvery time.Duration
	// Ask is who can ask questions and give feedback, Submit who can submit alerts, and AlertType their type.
	Ask       Access
	Submit    Access
	AlertType string
	// SessionURL is where people open a session, or empty.
	SessionURL func(sessionID string) string
	// Mask hides secrets in names; intake masks the rest.
	Mask   func(text string) string
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Bot is this server's part in Discord. Start it once; Stop may be called at any time.
type Bot struct {
	cfg    Config
	people notify.People
	holder *notify.Holder
	online background.Outage
}

// New returns a bot that does nothing yet.
func New(cfg Config) *Bot {
	cfg.Logger = cfg.Logger.With("component", "discord")

	b := &Bot{
		cfg: cfg,
		people: notify.People{
			DB: cfg.DB, Channel: tarsy.ChannelDiscord, Intake: cfg.Intake, Desk: cfg.Desk, Mask: cfg.Mask, Clock: cfg.Clock, Logger: cfg.Logger,
		},
		online: background.Outage{
			Failing: "the Discord connection failed; trying again", Over: "connected to Discord again", Level: slog.LevelError, Logger: cfg.Logger,
		},
	}
	b.holder = notify.NewHolder(notify.HolderConfig{
		Leases: cfg.DB, Channel: tarsy.ChannelDiscord, ServerID: cfg.ServerID, Lease: cfg.Lease, RenewEvery: cfg.RenewEvery, Work: b.work, Clock: cfg.Clock, Logger: cfg.Logger,
	})

	return b
}

// Start begins to try to become the server that holds the connection.
func (b *Bot) Start() { b.holder.Start() }

// Stop leaves the connection to another server and waits for what is being sent.
func (b *Bot) Stop() { b.holder.Stop() }

// work is what the holder does: listen and send.
func (b *Bot) work(ctx context.Context) {
	var parts sync.WaitGroup

	parts.Go(func() { b.listen(ctx) })
	parts.Go(func() { newSender(b.cfg).loop.Run(ctx) })
	parts.Wait()
}

// listen keeps the connection to the gateway. The client reconnects by itself; what it returns is worth a pause.
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
