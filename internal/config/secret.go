package config

import (
	"log/slog"
	"net/url"
	"regexp"
	"strings"
)

// Hidden stands wherever a secret would be shown.
const Hidden = "********"

var (
	// The usual shapes of keys and tokens.
	secretShape = regexp.MustCompile(
		`^(?:Bearer |sk-|gh[opsu]_|github_pat_|xox[abeprs]-|AIza|AKIA|eyJ|glpat-|xai-)[\w.=+/-]{8,}`)
	secretOption = regexp.MustCompile(`(?i)(token|secret|passw|key|auth|credential|header)`)
	// Who logs in at an address, and what follows a telling parameter of it, wherever in a text the address stands.
	addressUser  = regexp.MustCompile(`://[^/?#@\s]*@`)
	addressQuery = regexp.MustCompile(`(?i)([?&][^=&\s]*(?:token|secret|passw|key|auth|credential)[^=&\s]*=)[^&#\s]+`)
	// Stricter than the shell: an API key written instead of a name has small letters.
	variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
)

// Secret is text that no log, error or listing shows. Printing it in any way
// prints Hidden; only Reveal gives it out.
type Secret string

// Reveal returns the text in the clear.
func (s Secret) Reveal() string { return string(s) }

// String hides the text.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Hidden
}

// GoString hides the text from %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the text from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the text from JSON and its like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// shown returns a value the way people may see it. kind is the secret tag of its
// field: value hides all of it, url what an address may carry besides the place,
// args what follows a telling option, env anything that is not the name of a variable.
func shown(value, kind string, hidden bool) string {
	if value == "" {
		return ""
	}
	switch {
	case hidden, kind == "value", looksSecret(value):
		return Hidden
	case kind == "url":
		return shownURL(value)
	case kind == "env" && !variableName.MatchString(value):
		return Hidden
	default:
		return value
	}
}

func shownURL(value string) string {
	u, err := url.Parse(value)
	if err != nil {
		return Hidden
	}
	if u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		return value
	}
	if u.User != nil {
		u.User = url.User("hidden")
	}
	if u.RawQuery != "" {
		u.RawQuery = "hidden"
	}
	u.Fragment = ""
	return u.String()
}

// shownArgs hides the value of options such as --token=… and --token …, of headers such as Authorization: …, and what an
// address in an argument says besides the place.
func shownArgs(args []string) []string {
	out := make([]string, len(args))
	hideNext := false
	for i, arg := range args {
		name, value, assigned := strings.Cut(arg, "=")
		option := strings.HasPrefix(arg, "-")
		switch {
		case hideNext && !option:
			out[i] = Hidden
		case assigned && value != "" && !strings.ContainsAny(name, "?/") && secretOption.MatchString(name):
			out[i] = name + "=" + Hidden
		default:
			out[i] = shownArg(arg)
		}
		hideNext = option && !assigned && secretOption.MatchString(name)
	}
	return out
}

func shownArg(arg string) string {
	name, value, ok := strings.Cut(arg, ":")
	if ok && !strings.HasPrefix(value, "//") && secretOption.MatchString(name) {
		return name + ": " + Hidden
	}
	arg = addressUser.ReplaceAllString(arg, "://hidden@")
	return shown(addressQuery.ReplaceAllString(arg, "${1}"+Hidden), "", false)
}

// looksSecret says whether somebody may have put a key where a name belongs.
func looksSecret(value string) bool { return secretShape.MatchString(value) }
