// Package plaintext truncates and cleans text without splitting characters, and finds invisible characters. It knows nothing of
// this program.
package plaintext

import (
	"strings"
	"unicode/utf8"
)

// Clean makes text safe to store and display: invalid UTF-8 becomes U+FFFD and NUL, which PostgreSQL cannot store, is
// removed. It is applied wherever text enters the system.
func Clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// Cut returns the first limit bytes of a text, or up to three fewer to avoid splitting a character.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}

	limit = max(limit, 0)
	for end := limit; end >= 0 && end > limit-utf8.UTFMax; end-- {
		if utf8.RuneStart(s[end]) {
			return s[:end]
		}
	}

	return s[:limit] // not UTF-8, so there is no character to keep whole
}

// CutMiddle returns a text of at most limit bytes: the head and the tail of s with a note between them. If limit is shorter
// than the note, only the note is returned.
func CutMiddle(s string, limit int, note string) string {
	if len(s) <= limit {
		return s
	}

	kept := max(limit-len(note), 0)
	head := Cut(s, kept-kept/2)

	return head + note + tailText(s, kept/2)
}

// tailText returns the last limit bytes of a text, or up to three fewer to avoid splitting a character.
func tailText(s string, limit int) string {
	from := len(s) - limit
	for end := min(from+utf8.UTFMax-1, len(s)); from < end && !utf8.RuneStart(s[from]); {
		from++
	}

	return s[from:]
}
