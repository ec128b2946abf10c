package stream

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// origins decides which web pages may connect: those of this server itself, and those that match a pattern. A
// request without an Origin header does not come from another page.
//
// Patterns are those of coder/websocket: path.Match on the origin's host and port, or on scheme and host if the
// pattern contains "://"; case does not matter.
type origins []string

func newOrigins(patterns []string) (origins, error) {
	lower := make(origins, 0, len(patterns))

	for _, pattern := range patterns {
		_, err := path.Match(pattern, "")
		if err != nil {
			return nil, fmt.Errorf("allowed origin %q: %w", pattern, err)
		}

		lower = append(lower, strings.ToLower(pattern))
	}

	return lower, nil
}

// allow reports whether the request may connect, and whether it comes from a page of another origin.
func (o origins) allow(r *http.Request) (allowed, foreign bool) {
	header := r.Header.Get("Origin")
	if header == "" {
		return true, false
	}

	origin, err := url.Parse(header)
	if err != nil {
		return false, true
	}

	if origin.Host != "" && strings.EqualFold(origin.Host, r.Host) {
		return true, false
	}

	host := strings.ToLower(origin.Host)

	for _, pattern := range o {
		target := host
		if strings.Contains(pattern, "://") {
			target = strings.ToLower(origin.Scheme) + "://" + host
		}

		matched, err := path.Match(pattern, target)
		if err == nil && matched {
			return true, true
		}
	}

	return false, true
}
