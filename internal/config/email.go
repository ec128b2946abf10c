package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/netip"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/notify/message"
)

// The values of smtp.tls.
const (
	SMTPStartTLS = "starttls"
	SMTPImplicit = "implicit"
	SMTPNone     = "none"
)

// SMTP is alerts.write_back.<name>.smtp.
type SMTP struct {
	Host        string `yaml:"host" doc:"Host name or IP address of the server." required:"true"`
	Port        int    `yaml:"port" doc:"Port of the server." default:"587" min:"1" max:"65535"`
	TLS         string `yaml:"tls" doc:"Encryption of the connection: starttls rejects a server that does not offer it; implicit encrypts from the start (usually on port 465); none sends the mail unencrypted." enum:"starttls,implicit,none" default:"starttls"`
	Username    string `yaml:"username" doc:"User name; without it, there is no login."`
	PasswordEnv string `yaml:"password_env" doc:"Environment variable that holds the password." format:"env" secret:"env"`
}

var errNotASCII = errors.New("has characters that are not ASCII")

// unencrypted reports whether others can read mail on its way to the server.
func (s *SMTP) unencrypted() bool {
	address, err := netip.ParseAddr(s.Host)
	return s.TLS == SMTPNone && s.Host != "localhost" && (err != nil || !address.IsLoopback())
}

// Addresses returns the sender and the recipients of e-mail.
func (w WriteBack) Addresses() (from *mail.Address, to []*mail.Address, err error) {
	if from, err = parseAddress(w.From); err != nil {
		return nil, nil, fmt.Errorf("from: %w", err)
	}
	for i, text := range w.To {
		address, err := parseAddress(text)
		if err != nil {
			return nil, nil, fmt.Errorf("to[%d]: %w", i, err)
		}
		to = append(to, address)
	}
	return from, to, nil
}

// parseAddress parses an address such as oncall@example.org or "On call <oncall@example.org>". It rejects non-ASCII addresses, which few
// servers accept.
func parseAddress(text string) (*mail.Address, error) {
	address, err := mail.ParseAddress(text)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(address.Address, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errNotASCII
	}
	return address, nil
}

// SubjectTemplate returns the template of the subject of e-mail.
func (w WriteBack) SubjectTemplate() (*message.Template, error) {
	return message.Parse(cmp.Or(w.Subject, message.DefaultSubject), false)
}

// checkEmail finds settings that would prevent sending e-mail.
func (w WriteBack) checkEmail(add func(key, message, hint string)) {
	const hint = "write it as oncall@example.org, or as \"On call <oncall@example.org>\""
	if len(w.To) == 0 {
		add("to", "is required", "the addresses of the recipients")
	}
	if _, err := parseAddress(w.From); err != nil {
		add("from", "not an e-mail address", hint)
	}
	for i, text := range w.To {
		if _, err := parseAddress(text); err != nil {
			add(fmt.Sprintf("to[%d]", i), "not an e-mail address", hint)
		}
	}
	if _, err := w.SubjectTemplate(); err != nil {
		add("subject", err.Error(), "see docs/notifications.md")
	}
	for _, other := range []struct {
		key     string
		written bool
	}{{"url", w.URL != ""}, {"headers", len(w.Headers) > 0}, {"token_env", w.TokenEnv != ""}} {
		if other.written {
			add(other.key, "is not for the type email", "")
		}
	}
	switch {
	case w.SMTP == nil:
		add("smtp", "is required", "the server that takes the mail")
	case (w.SMTP.Username == "") != (w.SMTP.PasswordEnv == ""):
		add("smtp", "username and password_env go together", "")
	case w.SMTP.Username != "" && w.SMTP.unencrypted():
		add("smtp.tls", "none would send the password unencrypted", "use starttls or implicit")
	}
}

// checkNoEmail finds e-mail settings on targets of other types.
func (w WriteBack) checkNoEmail(add func(key, message, hint string)) {
	for _, other := range []struct {
		key     string
		written bool
	}{{"to", len(w.To) > 0}, {"subject", w.Subject != ""}, {"smtp", w.SMTP != nil}} {
		if other.written {
			add(other.key, "is only for the type email", "")
		}
	}
}

// WriteBackWarnings returns warnings about valid targets.
func (c *Config) WriteBackWarnings() []Warning {
	var warnings []Warning
	for _, name := range slices.Sorted(maps.Keys(c.Alerts.WriteBack)) {
		if smtp := c.Alerts.WriteBack[name].SMTP; smtp != nil && smtp.unencrypted() {
			p := c.problem(joinPath("alerts.write_back", name)+".smtp.tls", "mail is sent unencrypted: everybody between this server and "+smtp.Host+" can read it", "")
			warnings = append(warnings, Warning{File: p.File, Line: p.Line, Column: p.Column, Path: p.Path, Message: p.Message})
		}
	}
	return warnings
}
