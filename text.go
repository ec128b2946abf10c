package tarsy

import (
	"strings"
	"time"
	"unicode/utf8"
)

// CleanText makes text fit to be stored and shown: invalid UTF-8 becomes U+FFFD and NUL, which PostgreSQL cannot
// hold, is dropped. Every gate applies it to what comes from outside.
func CleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// CutText returns the first limit bytes of a text, or up to three fewer where they would end within a character.
func CutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}

	limit = max(limit, 0)
	for end := limit; end >= 0 && end > limit-utf8.UTFMax; end-- {
		if utf8.RuneStart(s[end]) {
			return s[:end]
		}
	}

	return s[:limit] // no UTF-8, so there is no character to keep whole
}

// Time brings a moment into the form in which the database keeps it, so that what is told before and after storing
// is the same: UTC, in microseconds.
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
