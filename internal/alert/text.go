package alert

import (
	"strings"
	"unicode"

	"tarsy.dev/tarsy/internal/plaintext"
)

// maxFact is the maximum length in bytes of a service, namespace, cluster, team or sender's fingerprint. They are indexed.
const maxFact = 200

// oneLine reduces a sender's text to one line of at most limit bytes: invisible characters and line breaks become spaces, runs
// of spaces collapse, and text that is too long ends with an ellipsis.
func oneLine(s string, limit int) string {
	const ellipsis = "…"

	if isPlain(s) && len(s) <= limit {
		return s // fast path for almost every label
	}

	// A space can replace several bytes, but text that is much longer than the limit need not be read to its end.
	const most = 64
	s = plaintext.Clean(plaintext.Cut(s, limit*most))

	var out strings.Builder

	space := false

	for _, r := range s {
		if unicode.IsSpace(r) || plaintext.Invisible(r) {
			space = out.Len() > 0

			continue
		}

		if space {
			out.WriteByte(' ')
		}

		space = false

		out.WriteRune(r)

		if out.Len() > limit {
			return strings.TrimSpace(plaintext.Cut(out.String(), limit-len(ellipsis))) + ellipsis
		}
	}

	return out.String()
}

// isPlain reports whether a text is printable ASCII with single spaces inside only.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c > ' ' && c <= '~':
		case c == ' ' && i > 0 && i < len(s)-1 && s[i-1] != ' ':
		default:
			return false
		}
	}

	return true
}

// firstLine returns the first line with a letter or digit, without heading or list markers.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#*->•"))
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return line
		}
	}

	return ""
}
