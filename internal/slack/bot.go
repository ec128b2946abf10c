// Package slack connects the server to Slack: it announces the progress of sessions, answers questions and takes feedback in
// the threads under announcements, accepts alerts from mentions of the bot, and takes decisions about tool calls from buttons.
//
// One server at a time holds the connection, under a lease in the database. Every announcement is stored as a row before it is
// posted, so that the next holder continues where a killed one stopped; the metadata of a message contains the ID of its row,
// so that the result of an attempt with an unknown outcome can be found. Input from Slack is untrusted: it must pass the
// allow-lists, and intake masks it. The package does not read configuration files.
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
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

// Config configures a Bot.
type Config struct {
	DB     *postgres.DB
	Outbox *outbox.Store
	Client *Client
	Intake notify.Intake
	// Desk takes feedback, and decisions about tool calls by those in Approve.
	Desk    notify.Decisions
	Approve []string
	// Routes define what is announced, where and when.
	Routes notify.Routes
	// Templates replace the built-in layout, by event.
	Templates map[message.Event]*message.Template
	// ServerID identifies this server as the holder of the connection.
	ServerID string
	// Lease is how long an unresponsive server keeps the connection; the lease is renewed every RenewEvery.
	Lease      time.Duration
	RenewEvery time.Duration
	// Ask defines who can ask questions and give feedback.
	Ask Access
	// Submit defines who can submit alerts. AlertType is the type of those alerts.
	Submit    Access
	AlertType string
	// SessionURL returns the URL of a session, or "".
	SessionURL func(sessionID string) string
	// Mask hides secrets in names; intake masks the rest.
	Mask   func(text string) string
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Access allows a listed person in a listed channel. The zero value allows no one.
type Access struct {
	Channels []string
	Users    []string
}

func (a Access) allows(channelID, userID string) bool {
	return channelID != "" && userID != "" && notify.Allowed(a.Channels, channelID) && notify.Allowed(a.Users, userID)
}

// Bot is this server's Slack bot. Start it once; Stop can be called at any time.
type Bot struct {
	cfg    Config
	people notify.People
	holder *notify.Holder
	online background.Outage

	// replied has the messages that were recently replied to: a message that is delivered again, or also as a mention, gets no
	// second reply. Only the listening goroutine uses it.
	replied map[string]bool
}

// New returns a bot. It does nothing until Start.
func New(cfg Config) *Bot {
	cfg.Logger = cfg.Logger.With("component", "slack")

	b := &Bot{
		cfg: cfg, replied: map[string]bool{},
		people: notify.People{
			Outbox: cfg.Outbox, Channel: tarsy.ChannelSlack, Intake: cfg.Intake, Desk: cfg.Desk, Mask: cfg.Mask, Clock: cfg.Clock, Logger: cfg.Logger,
		},
		online: background.Outage{
			Failing: "the Slack connection failed; trying again", Over: "connected to Slack again", Level: slog.LevelError, Logger: cfg.Logger,
		},
	}
	b.holder = notify.NewHolder(notify.HolderConfig{
		Leases: cfg.Outbox, Channel: tarsy.ChannelSlack, ServerID: cfg.ServerID, Lease: cfg.Lease, RenewEvery: cfg.RenewEvery, Work: b.work, Clock: cfg.Clock, Logger: cfg.Logger,
	})

	return b
}

// Start begins to compete for the lease of the connection.
func (b *Bot) Start() { b.holder.Start() }

// Stop releases the connection to another server and waits for messages that are being sent.
func (b *Bot) Stop() { b.holder.Stop() }

// work runs while this server holds the lease: it listens, if the client has the token for that, and sends.
func (b *Bot) work(ctx context.Context) {
	var parts sync.WaitGroup

	if b.cfg.Client.Listens() {
		parts.Go(func() { b.listen(ctx) })
	}

	parts.Go(func() { newSender(b.cfg).loop.Run(ctx) })
	parts.Wait()
}
