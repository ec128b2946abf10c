package llm

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// tooLong reports whether the text of a provider or a compatible server means that a conversation exceeds the model's context.
func tooLong(text string) bool {
	text = strings.ToLower(text)

	for _, sign := range []string{
		"context_length_exceeded", "context length", "context window", "context limit", "context size", "exceed_context_size",
		"prompt is too long", "maximum prompt length", "input is too long", "input token count", "maximum number of tokens",
		"too many tokens", "too many input tokens",
	} {
		if strings.Contains(text, sign) {
			return true
		}
	}

	return false
}

// retryAfter returns how long to wait before a retry. The headers contain milliseconds, as some providers send them, seconds,
// or a date.
func retryAfter(header http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms, time.Millisecond)
	}

	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return wait(seconds, time.Second)
	}

	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}

	return 0
}

// wait converts a number of units to a duration between zero and a year, whatever the number is.
func wait(number float64, unit time.Duration) time.Duration {
	const longest = 365 * 24 * time.Hour

	switch {
	case number >= float64(longest/unit):
		return longest
	case number > 0:
		return time.Duration(number * float64(unit))
	default:
		return 0
	}
}
