package app

import (
	"fmt"
	"net/url"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mask"
)

// masker hides secrets in whatever enters: by the configuration's rules, and what it holds itself by value.
func (a *App) masker() (*mask.Masker, error) {
	cfg := a.options.Config
	rules := mask.Config{
		Secrets: cfg.Secrets(a.options.Env),
		Alerts: mask.Rules{
			Enabled: cfg.Defaults.AlertMasking.Enabled, Patterns: []string{"kubernetes_secret"},
			Groups: []string{cfg.Defaults.AlertMasking.PatternGroup, "gitleaks"},
		},
		Servers: map[string]mask.Rules{},
		Default: mask.DefaultRules(),
	}

	if at, err := url.Parse(a.options.DatabaseURL); err == nil && at.User != nil {
		if password, ok := at.User.Password(); ok {
			rules.Secrets = append(rules.Secrets, password)
		}
	}

	for id, server := range cfg.MCPServers {
		if server.DataMasking != nil {
			rules.Servers[id] = serverRules(*server.DataMasking)
		}
	}

	masker, err := mask.New(rules)
	if err != nil {
		return nil, fmt.Errorf("mask secrets: %w", err)
	}

	return masker, nil
}

// maskText hides secrets in what people wrote. It fails open, and then the operator is told.
func (a *App) maskText(masker *mask.Masker) func(string) string {
	return func(text string) string {
		before := masker.Failures()
		masked := masker.Text(text)

		if masker.Failures() > before {
			a.logger.Error("a text that somebody wrote could not be checked for secrets; it is stored as it is")
			a.warnings.set(categoryMasking, "", "a text could not be checked for secrets",
				"It is something that a person wrote; it was stored as it is. The log says when.", a.clock.Now())
		}

		return masked
	}
}

func serverRules(configured config.DataMasking) mask.Rules {
	rules := mask.Rules{Enabled: configured.Enabled, Groups: configured.PatternGroups, Patterns: configured.Patterns}
	for _, c := range configured.CustomPatterns {
		rules.Custom = append(rules.Custom, mask.Custom(c))
	}

	return rules
}
