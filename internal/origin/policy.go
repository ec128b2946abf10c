package origin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Policy decides which web pages may connect: those of this server itself, and those that match a pattern. A request without an
// Origin header does not come from another page.
type Policy struct {
	// Own is the origin of this server's pages behind a proxy that forwards requests under another host name; it can be empty.
	Own     string
	Allowed []Pattern
}

// Allow reports whether the request may connect, and whether it comes from a page of a different origin.
func (p Policy) Allow(r *http.Request) (allowed, foreign bool) {
	header := r.Header.Get("Origin")
	if header == "" {
		return true, false
	}

	page, err := url.Parse(header)
	if err != nil {
		return false, true
	}

	if header == p.Own || page.Host != "" && strings.EqualFold(page.Host, r.Host) {
		return true, false
	}

	matches := func(pattern Pattern) bool { return pattern.Match(page.Scheme, page.Host) }

	return slices.ContainsFunc(p.Allowed, matches), true
}
