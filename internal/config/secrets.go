package config

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Secrets returns the secret values that this configuration contains or refers to, for the masker to hide in any text: values of secret
// fields whose name or format suggests a secret, passwords and telltale parameters in addresses, values of telltale arguments, values of
// the environment variables that it names, and values of {{.VAR}}; see secretVariable. The masker ignores short values.
func (c *Config) Secrets(env func(string) (string, bool)) []string {
	var all []string
	c.walk(func(l leaf) {
		paths, values := l.Texts()
		if l.Field.Secret == "args" {
			all = append(all, secretArgs(values)...)
		}
		for i, value := range values {
			switch l.Field.Secret {
			case "value":
				if secretOption.MatchString(paths[i][strings.LastIndexByte(paths[i], '.')+1:]) || looksSecret(value) {
					all = append(all, afterScheme(value))
				}
				all = append(all, addressSecrets(value)...)
			case "env":
				if held, ok := env(value); ok && value != "" {
					all = append(all, held)
				}
			case "url":
				all = append(all, addressSecrets(value)...)
			}
		}
	})
	for name, value := range c.variables {
		if secretVariable(name, value) {
			all = append(all, value, afterScheme(value))
		}
		all = append(all, addressSecrets(value)...)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" })
}

// afterScheme returns the credential after the scheme of an Authorization header, or the value itself.
func afterScheme(value string) string {
	if scheme, rest, ok := strings.Cut(value, " "); ok && slices.Contains([]string{"bearer", "basic", "token", "apikey"}, strings.ToLower(scheme)) {
		return strings.TrimSpace(rest)
	}
	return value
}

// addressSecrets returns the password and the values of telltale parameters of an address.
func addressSecrets(value string) []string {
	at, err := url.Parse(value)
	if err != nil || at.Host == "" {
		return nil
	}
	var found []string
	if at.User != nil {
		password, _ := at.User.Password()
		found = append(found, password)
	}
	for name, values := range at.Query() {
		if secretOption.MatchString(name) {
			found = append(found, values...)
		}
	}
	return found
}

// secretArgs returns the values of the arguments that shownArgs hides.
func secretArgs(args []string) []string {
	var found []string
	for i, shown := range shownArgs(args) {
		name, value, assigned := strings.Cut(args[i], "=")
		switch {
		case shown == args[i]:
		case assigned && shown == name+"="+Hidden:
			found = append(found, value)
		case shown == Hidden:
			found = append(found, args[i])
		default:
			if _, header, ok := strings.Cut(args[i], ": "); ok {
				found = append(found, afterScheme(header))
			}
			found = append(found, addressSecrets(args[i])...)
		}
	}
	return found
}

var (
	hostName  = regexp.MustCompile(`^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$`)
	plainPart = regexp.MustCompile(`^(?:[A-Za-z]*\d{0,3}|\d+)$`)
)

// secretVariable reports whether the value of a {{.VAR}} is a secret. It is if its name suggests so. Any other value is too, unless it is
// clearly a setting: a number, a switch, a duration, a host, words, or a path or an address made of words. Hiding those would garble every
// text that mentions the host or the namespace.
func secretVariable(name, value string) bool {
	return secretOption.MatchString(name) || !isSetting(strings.TrimSpace(value))
}

func isSetting(value string) bool {
	if at, err := url.Parse(value); err == nil && at.Host != "" {
		return at.User == nil && at.RawQuery == "" && isHost(at.Host) && isWords(at.Path)
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return true
	}
	if _, err := time.ParseDuration(value); err == nil {
		return true
	}
	return isHost(value) || isWords(value)
}

func isHost(value string) bool {
	if host, port, ok := strings.Cut(value, ":"); ok {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			value = host
		}
	}
	if _, err := netip.ParseAddr(strings.Trim(value, "[]")); err == nil {
		return true
	}
	return hostName.MatchString(value) || isWords(value)
}

// isWords matches names such as eu-west-1, /var/lib/tarsy and production: words followed by at most a few digits. It rejects mixed-case
// words without a separator, because many tokens look like that.
func isWords(value string) bool {
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./:, ", r) }) {
		if !plainPart.MatchString(part) || len(part) > 20 {
			return false
		}
		if len(part) > 1 && strings.ToLower(part[1:]) != part[1:] && strings.ToUpper(part) != part {
			return false
		}
	}
	return true
}
