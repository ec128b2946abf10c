// Package origin holds web origins: that of an address, patterns, and the policy that decides which pages may connect to a server. The
// configuration parses patterns; the streams and the MCP server apply the policy. The package knows none of them.
package origin

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

var errPattern = errors.New("not a valid origin pattern")

// Pattern matches origins as coder/websocket does: path.Match on the origin's host and port, or on scheme and host if
// the pattern contains "://". Case does not matter. Make one with Parse.
type Pattern struct{ text string }

// Parse reads a pattern. One slash at the end is ignored: people copy addresses, and an origin has no path.
func Parse(text string) (Pattern, error) {
	text = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), "/")
	if text == "" {
		return Pattern{}, errPattern
	}

	if _, err := path.Match(text, ""); err != nil {
		return Pattern{}, errPattern
	}

	// A slash outside of "://" matches no origin.
	host := text
	if _, after, found := strings.Cut(text, "://"); found {
		host = after
	}

	if strings.Contains(host, "/") {
		return Pattern{}, errPattern
	}

	return Pattern{text: text}, nil
}

// Match reports whether an origin, such as https and example.com:8443, matches.
func (p Pattern) Match(scheme, host string) bool {
	target := strings.ToLower(host)
	if strings.Contains(p.text, "://") {
		target = strings.ToLower(scheme) + "://" + target
	}

	matched, err := path.Match(p.text, target)

	return err == nil && matched
}

// Of is what browsers send as the origin of the pages at an address, whose host is in lower case and without the scheme's
// default port. It is empty without an address.
func Of(address *url.URL) string {
	if address == nil {
		return ""
	}

	return address.Scheme + "://" + address.Host
}
