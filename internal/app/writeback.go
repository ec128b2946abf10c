package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/notify/email"
	"tarsy.dev/tarsy/internal/notify/mattermost"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
	"tarsy.dev/tarsy/internal/notify/pagerduty"
	"tarsy.dev/tarsy/internal/notify/teams"
	"tarsy.dev/tarsy/internal/notify/webhook"
	"tarsy.dev/tarsy/internal/writeback"
)

// announce returns a function for the announcements that the engine stores when a session begins or ends. It does not depend on tokens:
// another server, or this one once it has a token, sends what is stored.
func (a *App) announce(targets []writeback.Target) (engine.Announce, error) {
	var all []engine.Announce

	if cfg := a.options.Config.System.Discord; cfg.Enabled {
		routes, err := routes("system.discord", cfg.Channel, cfg.Teams, cfg.On, cfg.Quiet)
		if err != nil {
			return nil, err
		}

		all = append(all, notify.Announce(tarsy.ChannelDiscord, routes, a.clock))
	}

	if cfg := a.options.Config.System.Slack; cfg.Enabled {
		routes, err := routes("system.slack", cfg.Channel, cfg.Teams, cfg.On, cfg.Quiet)
		if err != nil {
			return nil, err
		}

		// The beginning was announced, so people wait for the end, however the session ends.
		routes.Cancelled = true
		all = append(all, notify.Announce(tarsy.ChannelSlack, routes, a.clock))
	}

	if len(targets) > 0 {
		all = append(all, writeback.Announce(targets, a.clock))
	}

	return func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement {
		var rows []tarsy.Announcement
		for _, announce := range all {
			rows = append(rows, announce(session, subject)...)
		}

		return rows
	}, nil
}

// writeBackTargets returns the targets of alerts.write_back, sorted by name.
func (a *App) writeBackTargets() ([]writeback.Target, error) {
	var targets []writeback.Target

	client := outgoing.NewClient()
	a.onStop("connections of write-back", func(context.Context) error {
		client.CloseIdleConnections()

		return nil
	})

	configured := a.options.Config.Alerts.WriteBack

	for _, name := range slices.Sorted(maps.Keys(configured)) {
		target, err := a.writeBackTarget(configured[name], client)
		if err != nil {
			return nil, fmt.Errorf("alerts.write_back.%s: %w", name, err)
		}

		targets = append(targets, target)
	}

	return targets, nil
}

func (a *App) writeBackTarget(cfg config.WriteBack, client *http.Client) (writeback.Target, error) {
	target := writeback.Target{Name: cfg.Name, Timeout: cfg.Timeout, Teams: cfg.Teams}

	for _, event := range cfg.Events() {
		target.Events = append(target.Events, message.Event(event))
	}

	var err error

	if target.Quiet, err = cfg.Quiet.Hours(); err != nil {
		return target, fmt.Errorf("quiet_hours: %w", err)
	}

	if target.Match, err = match.ParseAll(cfg.Match); err != nil {
		return target, fmt.Errorf("match: %w", err)
	}

	target.Delivery, err = a.delivery(cfg, client)

	return target, err
}

// delivery returns how a target is notified.
func (a *App) delivery(cfg config.WriteBack, client *http.Client) (outgoing.Delivery, error) {
	template, err := cfg.Template()
	if err != nil {
		return nil, err
	}

	url, header := cfg.URL.Reveal(), http.Header{}
	for name, value := range cfg.Headers {
		header.Set(name, value.Reveal())
	}

	switch cfg.Type {
	case config.WriteBackPagerDuty:
		token, _ := a.options.Env(cfg.TokenEnv)

		return &pagerduty.Delivery{Client: client, API: cmp.Or(url, config.PagerDutyAPI), Token: token, From: cfg.From, Header: header, Note: template}, nil
	case config.WriteBackEmail:
		return a.mail(cfg, template)
	case config.WriteBackTeams:
		return &teams.Delivery{Client: client, URL: url, Header: header, Template: template}, nil
	case config.WriteBackMattermost:
		return &mattermost.Delivery{Client: client, URL: url, Header: header, Template: template}, nil
	default:
		return &webhook.Delivery{Client: client, URL: url, Header: header, Body: template}, nil
	}
}

// mail returns who receives mail, and through which server.
func (a *App) mail(cfg config.WriteBack, text *message.Template) (*email.Delivery, error) {
	from, to, err := cfg.Addresses()
	if err != nil {
		return nil, err
	}

	subject, err := cfg.SubjectTemplate()
	if err != nil {
		return nil, fmt.Errorf("subject: %w", err)
	}

	password, _ := a.options.Env(cfg.SMTP.PasswordEnv)

	return &email.Delivery{
		Host: cfg.SMTP.Host, Port: cfg.SMTP.Port, TLS: email.Encryption(cfg.SMTP.TLS), Username: cfg.SMTP.Username, Password: password,
		From: from, To: to, Subject: subject, Text: text,
	}, nil
}

// writeBackWorkers returns the workers that send what is stored for the targets.
func (a *App) writeBackWorkers(targets []writeback.Target) *writeback.Workers {
	dashboard := a.options.Config.System.Dashboard()

	return writeback.NewWorkers(writeback.WorkersConfig{
		DB: a.db, Outbox: a.outbox, Targets: targets, SessionURL: func(id string) string { return tarsy.SessionURL(dashboard, id) },
		Mask: a.maskText, Clock: a.clock, Logger: a.logger,
	})
}
