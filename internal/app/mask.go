package app

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mask"
)

// masker returns a masker for all input: it hides what the configuration's rules match, and the configuration's own secrets by value.
func (o Options) masker() (*mask.Masker, error) { return o.newMasker(o.secrets(), nil) }

// secrets returns the secrets in the configuration and in the address of the database.
func (o Options) secrets() []string { return append(o.Config.Secrets(o.Env), o.databasePasswords()...) }

// newMasker returns a masker that hides these values. It continues the counts of previous, which can be nil.
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

// databasePasswords returns the passwords in the database's address and in PGPASSWORD, which PostgreSQL clients read.
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

// textMasker returns a function that hides secrets in text from people or providers. It fails open: it then logs, warns the operator and
// returns text that is not fully masked.
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

// serverRules returns the default rules plus those of a server's data_masking. Only disabled_groups removes a group.
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
