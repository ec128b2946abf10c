package config

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/notify/message"
)

// PagerDutyAPI is the default API for notes, unless url is set.
const PagerDutyAPI = "https://api.pagerduty.com"

var (
	// writeBackName matches names that can be part of a queue name.
	writeBackName = regexp.MustCompile(`^[a-z0-9]+(?:[_-][a-z0-9]+)*$`)
	headerName    = regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]+$")
	headerValue   = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
)

const maxWriteBackName = 40

// Events returns the events that are sent to the target.
func (w WriteBack) Events() []string {
	if len(w.On) == 0 {
		return []string{string(message.Started), string(message.Finished), string(message.Failed)}
	}
	return w.On
}

// Template returns the template of the body, or of the text of a note; nil for targets with a built-in layout.
func (w WriteBack) Template() (*message.Template, error) {
	switch w.Type {
	case WriteBackPagerDuty:
		return message.Parse(cmp.Or(w.Body, message.DefaultNote), false)
	case WriteBackEmail:
		return message.Parse(cmp.Or(w.Body, message.DefaultEmail), false)
	case WriteBackTeams, WriteBackMattermost:
		if w.Body == "" {
			return nil, nil //nolint:nilnil // they have a layout of their own
		}
		return message.Parse(w.Body, false)
	}
	return message.Parse(cmp.Or(w.Body, message.DefaultBody), w.sendsJSON())
}

// sendsJSON reports whether the body is JSON, which is the default unless a Content-Type header sets another type.
func (w WriteBack) sendsJSON() bool {
	for name, value := range w.Headers {
		if http.CanonicalHeaderKey(name) == "Content-Type" {
			return strings.Contains(value.Reveal(), "json")
		}
	}
	return true
}

// UnsetWriteBackVariables finds the environment variables of targets that are not set.
func (c *Config) UnsetWriteBackVariables(env func(string) (string, bool)) []Problem {
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(c.Alerts.WriteBack)) {
		w := c.Alerts.WriteBack[name]
		if value, _ := env(w.TokenEnv); w.TokenEnv != "" && value == "" {
			problems = append(problems, c.problem(joinPath(joinPath("alerts.write_back", name), "token_env"),
				"environment variable "+w.TokenEnv+" is not set", "notes are not written; they are kept for a day"))
		}
		if w.SMTP == nil || w.SMTP.PasswordEnv == "" {
			continue
		}
		if value, _ := env(w.SMTP.PasswordEnv); value == "" {
			problems = append(problems, c.problem(joinPath("alerts.write_back", name)+".smtp.password_env",
				"environment variable "+w.SMTP.PasswordEnv+" is not set", "mail is not sent; it is kept for a day"))
		}
	}
	return problems
}

// checkWriteBack finds targets to which nothing could be sent.
func (c *Config) checkWriteBack() []Problem {
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(c.Alerts.WriteBack)) {
		w, path := c.Alerts.WriteBack[name], joinPath("alerts.write_back", name)
		add := func(key, message, hint string) {
			problems = append(problems, c.problem(path+"."+key, message, hint))
		}
		if !writeBackName.MatchString(name) || len(name) > maxWriteBackName {
			problems = append(problems, c.problem(path, "not a valid queue name",
				"use up to 40 lowercase letters and digits, with single dashes or underscores between them"))
		}
		switch w.Type {
		case WriteBackPagerDuty:
			if w.TokenEnv == "" {
				add("token_env", "is required", "the variable with a key of the PagerDuty API")
			}
			if !strings.Contains(w.From, "@") {
				add("from", "is required", "the e-mail address of a PagerDuty user, in whose name notes are written")
			}
		case WriteBackWebhook, WriteBackTeams, WriteBackMattermost:
			if w.URL == "" {
				add("url", "is required", "the address to post to")
			}
			for _, only := range []struct{ key, value, types string }{{"token_env", w.TokenEnv, "pagerduty"}, {"from", w.From, "pagerduty or email"}} {
				if only.value != "" {
					add(only.key, "is only for the type "+only.types, "put a token into headers")
				}
			}
		case WriteBackEmail:
			w.checkEmail(add)
		}
		if w.Type != WriteBackEmail {
			w.checkNoEmail(add)
		}
		problems = append(problems, c.checkQuietHours(joinPath(path, "quiet_hours"), w.Quiet)...)
		for header, value := range w.Headers {
			if !headerName.MatchString(header) || !headerValue.MatchString(value.Reveal()) {
				problems = append(problems, c.problem(joinPath(joinPath(path, "headers"), header), "not a valid HTTP header", ""))
			}
		}
		if _, err := w.Template(); err != nil {
			add("body", err.Error(), "see docs/write-back.md")
		}
	}
	return problems
}
