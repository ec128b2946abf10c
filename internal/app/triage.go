package app

import (
	"fmt"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/triage"
)

// triageSettings returns the settings for alerts with an identity.
func triageSettings(cfg config.Alerts) (triage.Settings, error) {
	settings := triage.Settings{
		Window: cfg.Deduplicate.Window, Threshold: cfg.Storm.Threshold, StormWindow: cfg.Storm.Window,
		FlappingAfter: cfg.Resolved.FlappingAfter, FlappingWindow: cfg.Resolved.FlappingWindow,
	}

	for i, m := range cfg.Maintenance {
		times, err := m.Times()
		if err != nil {
			return settings, fmt.Errorf("alerts.maintenance[%d]: %w", i, err)
		}

		set, err := match.ParseAll(m.Match)
		if err != nil {
			return settings, fmt.Errorf("alerts.maintenance[%d].match: %w", i, err)
		}

		settings.Maintenance = append(settings.Maintenance, triage.Window{
			Name: m.Name, Reason: m.Reason, Match: set, Start: times.Start, End: times.End,
			Days: times.Days, From: times.From, To: times.To, Zone: times.Zone,
		})
	}

	return settings, nil
}
