package app

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	client "tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/discord"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/notify/message"
)

// connectDiscord creates the bot. Without a token, the server runs without Discord and warns.
func (a *App) connectDiscord(intake notify.Intake, decisions notify.Decisions) error {
	cfg := a.options.Config.System.Discord
	if !cfg.Enabled {
		return nil
	}

	token, _ := a.options.Env(cfg.TokenEnv)
	if token == "" {
		a.warnings.set(categoryConfig, "", "Discord is enabled, but "+cfg.TokenEnv+" is not set.",
			"This server does not connect to Discord. Announcements are kept for a day.", a.clock.Now())

		return nil
	}

	connection, err := client.NewClient(client.ClientConfig{Token: token, API: cfg.APIURL, Gateway: cfg.GatewayURL, Logger: a.logger})
	if err != nil {
		return err
	}

	routes, err := routes("system.discord", cfg.Channel, cfg.Teams, cfg.On, cfg.Quiet)
	if err != nil {
		return err
	}

	templates, err := config.Templates(cfg.Templates)
	if err != nil {
		return fmt.Errorf("system.discord.templates: %w", err)
	}

	dashboard := a.options.Config.System.Dashboard()

	a.discord = discord.New(discord.Config{
		Outbox: a.outbox, Client: connection, Intake: intake, Desk: decisions, Approve: cfg.Approve, Routes: routes, Templates: templates, ServerID: a.serverID,
		Lease: a.options.Config.Queue.OrphanThreshold, RenewEvery: a.options.Config.Queue.HeartbeatInterval,
		Ask: access(cfg.Allow), Submit: access(cfg.Submit.Access()), AlertType: cfg.Submit.AlertType,
		SessionURL: func(id string) string { return tarsy.SessionURL(dashboard, id) },
		Mask:       a.maskText, Clock: a.clock, Logger: a.logger,
	})

	a.onStop("Discord", func(context.Context) error {
		a.discord.Stop()
		connection.Close()

		return nil
	})

	return nil
}

// routes returns what is announced in a chat, where and when.
func routes(section, place string, teams map[string]string, on []string, hours *config.QuietHours) (notify.Routes, error) {
	quiet, err := hours.Hours()
	if err != nil {
		return notify.Routes{}, fmt.Errorf("%s.quiet_hours: %w", section, err)
	}

	made := notify.Routes{Channel: place, Teams: teams, Quiet: quiet}
	for _, event := range on {
		made.On = append(made.On, message.Event(event))
	}

	return made, nil
}

func access(allowed config.DiscordAccess) discord.Access { return discord.Access(allowed) }
