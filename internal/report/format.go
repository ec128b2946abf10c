package report

import (
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy"
)

func moment(t *time.Time) string {
	if t == nil {
		return ""
	}

	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// duration returns the time between two moments, or "" if either is nil.
func duration(from, to *time.Time) string {
	if from == nil || to == nil {
		return ""
	}

	took := to.Sub(*from)
	if took < time.Second {
		return took.Round(time.Millisecond).String()
	}

	return took.Round(time.Second).String()
}

func cost(usage tarsy.Usage) string {
	text := tarsy.FormatUSD(usage.CostUSD)

	switch {
	case usage.TotalTokens == 0:
		return ""
	case usage.UnpricedTokens == usage.TotalTokens:
		return "not known"
	case usage.UnpricedTokens > 0:
		text += " and " + count(usage.UnpricedTokens) + " tokens without a price"
	}

	return text
}

func tokens(usage tarsy.Usage) string {
	return count(usage.TotalTokens) + " (" + count(usage.InputTokens) + " in, " + count(usage.OutputTokens) + " out, " +
		count(usage.ThinkingTokens) + " thinking, " + count(usage.CachedTokens) + " cached)"
}

// count formats a number with thousands separators.
func count(n int) string {
	const group = 3

	digits := strconv.Itoa(n)
	for at := len(digits) - group; at > 0 && digits[at-1] != '-'; at -= group {
		digits = digits[:at] + "," + digits[at:]
	}

	return digits
}

// words makes an internal name readable.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// joined lists the non-empty parts.
func joined(parts ...string) string {
	var there []string

	for _, part := range parts {
		if part != "" {
			there = append(there, part)
		}
	}

	return strings.Join(there, ", ")
}
