package app

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/slack"
	"tarsy.dev/tarsy/internal/writeback/message"
)

// connectSlack makes the bot. Without a token the server runs without Slack; that is one of the warnings of the configuration.
func (a *App) connectSlack(intake slack.Intake, decisions slack.Approvals) error {
	cfg := a.options.Config.System.Slack
	if !cfg.Enabled {
		return nil
	}

	token, _ := a.options.Env(cfg.TokenEnv)
	if token == "" {
		return nil
	}

	parsed, err := cfg.ParsedTemplates()
	if err != nil {
		return err
	}

	templates := map[message.Event]*message.Template{}
	for name, template := range parsed {
		templates[message.Event(name)] = template
	}

	appToken, _ := a.options.Env(cfg.AppTokenEnv)
	client := slack.NewClient(slack.ClientConfig{Token: token, AppToken: appToken, API: cfg.APIURL})
	dashboard := a.options.Config.System.Dashboard()

	a.slack = slack.New(slack.Config{
		DB: a.db, Client: client, Intake: intake, Approvals: decisions, Approve: cfg.Approve, Rooms: rooms(cfg), Events: slackEvents(cfg),
		Templates: templates, ServerID: a.serverID,
		Lease: a.options.Config.Queue.OrphanThreshold, RenewEvery: a.options.Config.Queue.HeartbeatInterval,
		Ask:        slack.Access{Channels: cfg.Allow.Channels, Users: cfg.Allow.Users},
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

// rooms are the channels of Slack in which sessions are announced.
func rooms(cfg config.Slack) slack.Rooms { return slack.Rooms{Channel: cfg.Channel, Teams: cfg.Teams} }

// slackEvents is what is announced in Slack.
func slackEvents(cfg config.Slack) []message.Event {
	var events []message.Event
	for _, event := range cfg.Events() {
		events = append(events, message.Event(event))
	}

	return events
}
