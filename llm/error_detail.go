package llm

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// tooLong recognises, in what providers and compatible servers say, that a conversation does not fit into the model.
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

// retryAfter reads when to come back: in milliseconds as some providers say it, in seconds, or as a date.
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

// wait is a number of units as a duration that makes sense, whatever the number is.
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
