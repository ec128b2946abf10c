package runbook

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
)

const (
	githubHost    = "github.com"
	githubRawHost = "raw.githubusercontent.com"
	githubAPIHost = "api.github.com"

	maxURL       = 2048
	maxHost      = 253
	domainsShown = 10
)

// IsURL reports whether a text is nothing but the URL of a runbook. It does not check whether fetching it is allowed.
func IsURL(text string) bool {
	text = strings.TrimSpace(text)
	address, err := url.Parse(text)

	return err == nil && (address.Scheme == "http" || address.Scheme == "https") && address.Hostname() != "" && len(text) <= maxURL &&
		!strings.ContainsAny(text, " \t\n")
}

// ParseDomain normalizes a host name, optionally prefixed with "*.", for comparison with hosts. It returns false if the name
// cannot match any host.
func ParseDomain(text string) (string, bool) {
	clean := canonicalHost(strings.TrimSpace(text))

	return clean, validHost(strings.TrimPrefix(clean, "*."))
}

// domains normalizes the configured domains. A domain that cannot match any host is left out, and if none remains, nothing is
// allowed: a mistake must not enable the default hosts.
func domains(configured []string, logger *slog.Logger) []string {
	if len(configured) == 0 {
		return []string{githubHost, githubRawHost}
	}

	var kept []string
	for _, domain := range configured {
		clean, ok := ParseDomain(domain)
		if !ok {
			logger.Warn("ignoring an allowed runbook domain that is not a host name", "domain", domain)

			continue
		}
		kept = append(kept, clean)
	}

	return kept
}

func (f *Fetcher) allowed(host string) bool {
	return slices.ContainsFunc(f.domains, func(domain string) bool {
		if parent, wild := strings.CutPrefix(domain, "*"); wild {
			return strings.HasSuffix(host, parent) && len(host) > len(parent)
		}

		return host == domain
	})
}

func (f *Fetcher) allowedList() string {
	switch more := len(f.domains) - domainsShown; {
	case len(f.domains) == 0:
		return "no host"
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(f.domains[:domainsShown], ", "), more)
	default:
		return strings.Join(f.domains, ", ")
	}
}

// locate is parse with an error for the person who supplied the URL.
func (f *Fetcher) locate(raw string) (*url.URL, error) {
	at, err := f.parse(raw)
	if err != nil {
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "runbook_url",
			"runbook_url %v: allowed are http:// and https:// addresses on %s", err, f.allowedList())
	}

	return at, nil
}

// parse checks a URL and normalizes it for the request and the cache. Its errors complete the sentence "runbook_url …". They
// contain at most the host, since the rest may contain secrets.
func (f *Fetcher) parse(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, fmt.Errorf("is longer than %d characters", maxURL)
	}
	given, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("is not a valid address") // the parser's error contains the URL
	}

	host := canonicalHost(given.Hostname())
	switch {
	case given.Scheme != "http" && given.Scheme != "https":
		return nil, errors.New("does not start with http:// or https://")
	case given.User != nil:
		return nil, errors.New("contains a user name or password")
	case !validHost(host):
		return nil, errors.New("names no valid host")
	case !f.allowed(host):
		return nil, fmt.Errorf("names the host %s, which is not allowed", host)
	}

	at := &url.URL{Scheme: given.Scheme, Path: given.Path, RawPath: given.RawPath, RawQuery: given.RawQuery}
	at.Host, err = hostWithPort(given.Scheme, host, given.Port())
	if err != nil {
		return nil, err
	}
	if at.Host == githubHost {
		at = rawOnGitHub(at)
	}

	return at, nil
}

// hostWithPort omits the scheme's default port. Below 1024, only the web's ports are allowed: other services there use other
// protocols.
func hostWithPort(scheme, host, port string) (string, error) {
	if port == "" {
		port = ownPort(scheme)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number != 80 && number != 443 && number < 1024 {
		return "", errors.New("names a port other than 80, 443 and 1024 to 65535")
	}
	port = strconv.FormatUint(number, 10)

	switch {
	case port != ownPort(scheme):
		return net.JoinHostPort(host, port), nil
	case strings.Contains(host, ":"):
		return "[" + host + "]", nil
	default:
		return host, nil
	}
}

func ownPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}

	return "80"
}

// rawOnGitHub converts the page of a file on github.com to the URL of the raw file. If the page's host is allowed, reading the
// file is too, so the raw host needs no separate permission.
func rawOnGitHub(at *url.URL) *url.URL {
	parts := strings.SplitN(strings.TrimPrefix(at.EscapedPath(), "/"), "/", 5)
	if len(parts) < 5 || parts[2] != "blob" && parts[2] != "raw" || slices.Contains(parts, "") {
		return at
	}
	raw := &url.URL{Scheme: "https", Host: githubRawHost}

	return raw.JoinPath(parts[0], parts[1], parts[3], parts[4])
}

func canonicalHost(host string) string {
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// validHost accepts ASCII names and IP addresses. Names in other scripts must be in xn-- form, so that the name compared with
// the allowed domains is the name that is resolved.
func validHost(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Zone() == ""
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	}

	return host != "" && len(host) <= maxHost && !strings.ContainsFunc(host, odd) &&
		!strings.HasPrefix(host, ".") && !strings.Contains(host, "..")
}

// withoutQuery returns the URL for logs: queries can contain tokens.
func withoutQuery(at *url.URL) string {
	shown := *at
	shown.RawQuery = ""

	return shown.String()
}
