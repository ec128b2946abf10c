package config

import (
	"net/url"
	"strings"
)

// Dashboard returns dashboard_url as browsers write it in an Origin header: with the host in lower case and without the scheme's default
// port. It is nil if nothing is configured.
func (s System) Dashboard() *url.URL {
	u, reason := parsePublicURL(s.DashboardURL)
	if s.DashboardURL == "" || reason != "" {
		return nil
	}
	u.Host = strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(u.Host, port) {
		u.Host = strings.TrimSuffix(u.Host, port)
	}
	return u
}

// parsePublicURL parses a base URL for links, or returns why it is invalid.
func parsePublicURL(value string) (*url.URL, string) {
	u, err := url.Parse(value)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		return nil, "it starts with http:// or https://, followed by a host"
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(value, "#"):
		return nil, "links begin with it, so it has no user, password, query or fragment"
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r > '~' }):
		return nil, "write the host in ASCII (xn--…), as browsers send it"
	}
	return u, ""
}

// checkPublicURL is checkFormat for base URLs of links.
func checkPublicURL(value string) (string, string) {
	if _, reason := parsePublicURL(value); reason != "" {
		return "not an address", reason
	}
	return "", ""
}
