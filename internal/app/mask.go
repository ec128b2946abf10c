package app

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mask"
)

// masker hides secrets in whatever enters: by the configuration's rules, and what it holds itself by value.
func (o Options) masker() (*mask.Masker, error) { return o.newMasker(o.secrets(), nil) }

// secrets are what the configuration and the database's address hold.
func (o Options) secrets() []string { return append(o.Config.Secrets(o.Env), o.databasePasswords()...) }

// newMasker makes a masker that hides these values. It continues the counts of previous, which may be nil.
func (o Options) newMasker(secrets []string, previous *mask.Masker) (*mask.Masker, error) {
	cfg := o.Config
	rules := mask.Config{
		Secrets: secrets, Previous: previous,
		Alerts: mask.Rules{
			Enabled: cfg.Defaults.AlertMasking.Enabled, Patterns: []string{"kubernetes_secret"},
			Groups: []string{cfg.Defaults.AlertMasking.PatternGroup, "gitleaks"},
		},
		Servers: map[string]mask.Rules{},
		Default: mask.DefaultRules(),
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

// databasePasswords are the password in the database's address and the one that PostgreSQL clients take from the environment.
func (o Options) databasePasswords() []string {
	var found []string

	if at, err := url.Parse(o.DatabaseURL); err == nil {
		if at.User != nil {
			password, _ := at.User.Password()
			found = append(found, password)
		}

		found = append(found, at.Query().Get("password"))
	}

	if o.Env != nil {
		password, _ := o.Env("PGPASSWORD")
		found = append(found, password)
	}

	return found
}

// textMasker returns what hides secrets in text that people or providers wrote. It fails open; then it logs, and warns the operator.
func (a *App) textMasker(check func(string) (string, error)) func(string) string {
	return func(text string) string {
		masked, err := check(text)
		if err == nil {
			return masked
		}

		details := "It was stored without masking. The log shows when."
		if errors.Is(err, mask.ErrTooSlow) {
			details = "It took too long, so only what is found quickly was masked. The log shows when."
		}

		a.logger.Error("text not fully checked for secrets", "error", err)
		a.warnings.set(categoryMasking, "", "a text could not be fully checked for secrets", details, a.clock.Now())

		return masked
	}
}

// serverRules are the default rules and what a server's block adds to them. Only disabled_groups takes a group away.
func serverRules(configured config.DataMasking) mask.Rules {
	rules := mask.DefaultRules()
	rules.Enabled, rules.Patterns = configured.Enabled, configured.Patterns
	rules.Groups = slices.DeleteFunc(rules.Groups, func(group string) bool { return slices.Contains(configured.DisabledGroups, group) })
	rules.Groups = append(rules.Groups, configured.PatternGroups...)

	for _, c := range configured.CustomPatterns {
		rules.Custom = append(rules.Custom, mask.Custom(c))
	}

	return rules
}
