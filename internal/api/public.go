package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"tarsy.dev/tarsy/internal/origin"
)

// public is the configured address of the dashboard. A proxy may forward requests under another host, so the address that browsers use
// cannot be derived from a request. Without a configured address nothing matches and there are no links.
type public struct{ url *url.URL }

// isSecure reports whether a browser sent the request from our page over HTTPS.
func (p public) isSecure(r *http.Request) bool {
	return p.url != nil && p.url.Scheme == "https" && r.Header.Get("Origin") == origin.Of(p.url)
}

// isOwnHost reports whether a client used a host that an attacker cannot have pointed at this server: an IP address, localhost, or the
// dashboard's. Where no key is required, this keeps out pages that use DNS rebinding. A trusted proxy makes no difference: it may
// forward the host that such a page used.
func (p public) isOwnHost(host string) bool {
	name := hostName(host)
	_, err := netip.ParseAddr(name)

	return err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost") || p.url != nil && name == hostName(p.url.Host)
}

// hostName returns the name in a Host header, without its port.
func hostName(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}

	return strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
}

// checkOrigin rejects cross-site requests of browsers.
func (p public) checkOrigin(r *http.Request) error {
	protection := http.NewCrossOriginProtection()

	if p.url != nil {
		err := protection.AddTrustedOrigin(origin.Of(p.url))
		if err != nil {
			return err
		}
	}

	return protection.Check(r)
}
