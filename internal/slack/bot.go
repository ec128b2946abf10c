// Package slack connects the server to Slack: it announces how sessions go, answers questions that people ask in the threads under
// announcements, takes feedback there, takes alerts from mentions of the bot, and takes decisions about tool calls from buttons.
//
// One server of all holds the connection, under a lease in the database. Everything that it posts is a row first, so that the next holder goes
// on where a killed one was; messages have the ID of their row in their metadata, by which an attempt with an unknown result is found again.
// What comes from Slack is hostile: it passes the allow-lists, and intake masks it. The package knows nothing of configuration files.
package slack

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/postgres"
)

// Config is what a bot needs.
type Config struct {
	DB     *postgres.DB
	Client *Client
	Intake notify.Intake
	// Desk takes feedback, and decisions about tool calls of those in Approve.
	Desk    notify.Decisions
	Approve []string
	// Routes are what is announced, where and when.
	Routes notify.Routes
	// Templates replace the built-in layout, by event.
	Templates map[message.Event]*message.Template
	// ServerID names this server as the holder of the connection.
	ServerID string
	// Lease is how long the connection stays with a server that has gone silent; it is renewed every RenewEvery.
	Lease      time.Duration
	RenewEvery time.Duration
	// Ask is who can ask questions and give feedback.
	Ask Access
	// Submit is who can submit alerts, and AlertType their type.
	Submit    Access
	AlertType string
	// SessionURL is where people open a session, or empty.
	SessionURL func(sessionID string) string
	// Mask hides secrets in names; intake masks the rest.
	Mask   func(text string) string
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Access allows a person who is listed, in a channel that is listed. The zero value allows nobody.
type Access struct {
	Channels []string
	Users    []string
}

func (a Access) allows(channelID, userID string) bool {
	return channelID != "" && userID != "" && notify.Allowed(a.Channels, channelID) && notify.Allowed(a.Users, userID)
}

// Bot is this server's part in Slack. Start it once; Stop may be called at any time.
type Bot struct {
	cfg    Config
	people notify.People
	holder *notify.Holder
	online background.Outage

	// replied are messages that were replied to lately: one that is delivered again, or as a mention too, has no second reply. Of the goroutine that
	// listens.
	replied map[string]bool
}

// New returns a bot that does nothing yet.
func New(cfg Config) *Bot {
	cfg.Logger = cfg.Logger.With("component", "slack")

	b := &Bot{
		cfg: cfg, replied: map[string]bool{},
		people: notify.People{
			DB: cfg.DB, Channel: tarsy.ChannelSlack, Intake: cfg.Intake, Desk: cfg.Desk, Mask: cfg.Mask, Clock: cfg.Clock, Logger: cfg.Logger,
		},
		online: background.Outage{
			Failing: "the Slack connection failed; trying again", Over: "connected to Slack again", Level: slog.LevelError, Logger: cfg.Logger,
		},
	}
	b.holder = notify.NewHolder(notify.HolderConfig{
		Leases: cfg.DB, Channel: tarsy.ChannelSlack, ServerID: cfg.ServerID, Lease: cfg.Lease, RenewEvery: cfg.RenewEvery, Work: b.work, Clock: cfg.Clock, Logger: cfg.Logger,
	})

	return b
}

// Start begins to try to become the server that holds the connection.
func (b *Bot) Start() { b.holder.Start() }

// Stop leaves the connection to another server and waits for what is being sent.
func (b *Bot) Stop() { b.holder.Stop() }

// work is what the holder does: listen, if it has the token for that, and send.
func (b *Bot) work(ctx context.Context) {
	var parts sync.WaitGroup

	if b.cfg.Client.Listens() {
		parts.Go(func() { b.listen(ctx) })
	}

	parts.Go(func() { newSender(b.cfg).loop.Run(ctx) })
	parts.Wait()
}
