package app

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/writeback"
)

// announce is what the engine stores when a session begins or ends. It does not depend on tokens: another server, or this one once it
// has a token, sends what is stored.
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

		// Under the announcement of a beginning, people wait for the end, whatever it is.
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

// writeBackTargets are the targets of alerts.write_back, sorted by name.
func (a *App) writeBackTargets() ([]writeback.Target, error) {
	var targets []writeback.Target

	configured := a.options.Config.Alerts.WriteBack

	for _, name := range slices.Sorted(maps.Keys(configured)) {
		target, err := a.writeBackTarget(configured[name])
		if err != nil {
			return nil, fmt.Errorf("alerts.write_back.%s: %w", name, err)
		}

		targets = append(targets, target)
	}

	return targets, nil
}

func (a *App) writeBackTarget(cfg config.WriteBack) (writeback.Target, error) {
	target := writeback.Target{Name: cfg.Name, URL: cfg.URL.Reveal(), Timeout: cfg.Timeout, Header: http.Header{}}

	for name, value := range cfg.Headers {
		target.Header.Set(name, value.Reveal())
	}

	for _, event := range cfg.Events() {
		target.Events = append(target.Events, message.Event(event))
	}

	if cfg.Type == config.WriteBackPagerDuty {
		token, _ := a.options.Env(cfg.TokenEnv)
		target.PagerDuty = &writeback.PagerDuty{API: cmp.Or(target.URL, config.PagerDutyAPI), Token: token, From: cfg.From}
	}

	var err error

	if cfg.Type == config.WriteBackEmail {
		if target.Email, err = a.mailTarget(cfg); err != nil {
			return target, err
		}
	}

	target.Teams = cfg.Teams

	if target.Quiet, err = cfg.Quiet.Hours(); err != nil {
		return target, fmt.Errorf("quiet_hours: %w", err)
	}

	if target.Match, err = match.ParseAll(cfg.Match); err != nil {
		return target, fmt.Errorf("match: %w", err)
	}

	target.Body, err = cfg.Template()

	return target, err
}

// mailTarget is who gets mail, and through which server.
func (a *App) mailTarget(cfg config.WriteBack) (*writeback.Email, error) {
	from, to, err := cfg.Addresses()
	if err != nil {
		return nil, err
	}

	subject, err := cfg.SubjectTemplate()
	if err != nil {
		return nil, fmt.Errorf("subject: %w", err)
	}

	password, _ := a.options.Env(cfg.SMTP.PasswordEnv)

	return &writeback.Email{
		Host: cfg.SMTP.Host, Port: cfg.SMTP.Port, TLS: writeback.Encryption(cfg.SMTP.TLS), Username: cfg.SMTP.Username, Password: password,
		From: from, To: to, Subject: subject,
	}, nil
}

// writeBackWorkers send what is stored for the targets.
func (a *App) writeBackWorkers(targets []writeback.Target) *writeback.Workers {
	dashboard := a.options.Config.System.Dashboard()

	return writeback.NewWorkers(writeback.WorkersConfig{
		DB: a.db, Targets: targets, SessionURL: func(id string) string { return tarsy.SessionURL(dashboard, id) },
		Mask: a.maskText, Clock: a.clock, Logger: a.logger,
	})
}
