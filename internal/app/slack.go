package app

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/slack"
)

// connectSlack creates the bot. Without a token, the server runs without Slack, and the configuration warnings say so.
func (a *App) connectSlack(intake notify.Intake, decisions notify.Decisions) error {
	cfg := a.options.Config.System.Slack
	if !cfg.Enabled {
		return nil
	}

	token, _ := a.options.Env(cfg.TokenEnv)
	if token == "" {
		return nil
	}

	routes, err := routes("system.slack", cfg.Channel, cfg.Teams, cfg.On, cfg.Quiet)
	if err != nil {
		return err
	}

	templates, err := config.Templates(cfg.Templates)
	if err != nil {
		return fmt.Errorf("system.slack.templates: %w", err)
	}

	appToken, _ := a.options.Env(cfg.AppTokenEnv)
	client := slack.NewClient(slack.ClientConfig{Token: token, AppToken: appToken, API: cfg.APIURL, Clock: a.clock})
	dashboard := a.options.Config.System.Dashboard()

	a.slack = slack.New(slack.Config{
		DB: a.db, Outbox: a.outbox, Client: client, Intake: intake, Desk: decisions, Approve: cfg.Approve, Routes: routes, Templates: templates, ServerID: a.serverID,
		Lease: a.options.Config.Queue.OrphanThreshold, RenewEvery: a.options.Config.Queue.HeartbeatInterval,
		Ask:    slack.Access{Channels: cfg.Allow.Channels, Users: cfg.Allow.Users},
		Submit: slack.Access{Channels: cfg.Submit.Channels, Users: cfg.Submit.Users}, AlertType: cfg.Submit.AlertType,
		SessionURL: func(id string) string { return tarsy.SessionURL(dashboard, id) },
		Mask:       a.maskText, Clock: a.clock, Logger: a.logger,
	})

	a.onStop("Slack", func(context.Context) error {
		a.slack.Stop()
		client.Close()

		return nil
	})

	return nil
}
