package tarsy

import (
	"strings"
	"time"
)

// CleanText makes text fit to be stored and shown: invalid UTF-8 becomes U+FFFD and NUL, which PostgreSQL cannot
// hold, is dropped. Every gate applies it to what comes from outside.
func CleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// Time brings a moment into the form in which the database keeps it, so that what is told before and after storing
// is the same: UTC, in microseconds.
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
