// Package origin implements web origins: the origin of a URL, patterns, and the policy that decides which pages may connect to
// a server. The configuration parses patterns; the streams and the MCP server apply the policy. The package knows none of them.
package origin

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

var errPattern = errors.New("not a valid origin pattern")

// Pattern matches origins like coder/websocket: path.Match on the origin's host and port, or on scheme and host if the pattern
// contains "://". Case is ignored. Use Parse to create one.
type Pattern struct{ text string }

// Parse parses a pattern. One trailing slash is ignored: people paste URLs, and an origin has no path.
func Parse(text string) (Pattern, error) {
	text = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), "/")
	if text == "" {
		return Pattern{}, errPattern
	}

	if _, err := path.Match(text, ""); err != nil {
		return Pattern{}, errPattern
	}

	// A slash other than in "://" matches no origin.
	host := text
	if _, after, found := strings.Cut(text, "://"); found {
		host = after
	}

	if strings.Contains(host, "/") {
		return Pattern{}, errPattern
	}

	return Pattern{text: text}, nil
}

// Match reports whether an origin matches, for example https and example.com:8443.
func (p Pattern) Match(scheme, host string) bool {
	target := strings.ToLower(host)
	if strings.Contains(p.text, "://") {
		target = strings.ToLower(scheme) + "://" + target
	}

	matched, err := path.Match(p.text, target)

	return err == nil && matched
}

// Of returns the origin that browsers send for pages at a URL, whose host is in lower case and without the scheme's default
// port. It is empty for a nil URL.
func Of(address *url.URL) string {
	if address == nil {
		return ""
	}

	return address.Scheme + "://" + address.Host
}
