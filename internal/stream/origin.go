package stream

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/origin"
)

// origins decides which web pages may connect: those of this server itself, and those that match a pattern. A
// request without an Origin header does not come from another page.
type origins struct {
	// own is the origin of this server's pages behind a proxy that passes requests on under another name; it may be empty.
	own     string
	allowed []origin.Pattern
}

// allow reports whether the request may connect, and whether it comes from a page of another origin.
func (o origins) allow(r *http.Request) (allowed, foreign bool) {
	header := r.Header.Get("Origin")
	if header == "" {
		return true, false
	}

	page, err := url.Parse(header)
	if err != nil {
		return false, true
	}

	if header == o.own || page.Host != "" && strings.EqualFold(page.Host, r.Host) {
		return true, false
	}

	matches := func(p origin.Pattern) bool { return p.Match(page.Scheme, page.Host) }

	return slices.ContainsFunc(o.allowed, matches), true
}
