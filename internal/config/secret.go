package config

import (
	"log/slog"
	"net/url"
	"regexp"
	"strings"
)

// Hidden is displayed in place of a secret.
const Hidden = "********"

var (
	// Common formats of keys and tokens.
	secretShape = regexp.MustCompile(
		`^(?:Bearer |sk-|gh[opsu]_|github_pat_|xox[abeprs]-|AIza|AKIA|eyJ|glpat-|xai-)[\w.=+/-]{8,}`)
	secretOption = regexp.MustCompile(`(?i)(token|secret|passw|key|auth|credential|header)`)
	// The credentials in a URL, and the values of its query parameters with telltale names, anywhere in a text.
	addressUser  = regexp.MustCompile(`://[^/?#@\s]*@`)
	addressQuery = regexp.MustCompile(`(?i)([?&][^=&\s]*(?:token|secret|passw|key|auth|credential)[^=&\s]*=)[^&#\s]+`)
	// Stricter than the shell: an API key written in place of a name has lower-case letters.
	variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
)

// Secret is text that must not appear in logs, errors or listings. Printing it in any way prints Hidden; only Reveal returns the text.
type Secret string

// Reveal returns the plain text.
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

// MarshalText hides the text from JSON and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// shown returns a value as it can be shown to people. kind is the secret tag of its field: value hides all of it, url the credentials,
// query and fragment of an address, args the values of telltale options, and env anything that is not the name of a variable.
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

// shownArgs hides the values of options such as --token=… and --token …, of headers such as Authorization: …, and the secrets in addresses.
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

// looksSecret reports whether a value looks like a key put where a name belongs.
func looksSecret(value string) bool { return secretShape.MatchString(value) }
