package runbook

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"

	"tarsy.dev/tarsy"
)

const (
	maxRedirects   = 5
	maxHeaderBytes = 64 << 10
)

// follow requests a URL and follows its redirects. Each is a separate request on a separate connection: nothing is carried over
// from one to the next, and each passes every check.
func (f *Fetcher) follow(ctx context.Context, at *url.URL) (string, error) {
	for range maxRedirects + 1 {
		text, next, err := f.visit(ctx, at)
		if err != nil || next == nil {
			return text, err
		}
		at = next
	}

	return "", failure(tarsy.CodeUnavailable, at, nil, "there were more than %d redirects", maxRedirects)
}

// visit makes one request. It returns a text, or the URL to go to next.
func (f *Fetcher) visit(ctx context.Context, at *url.URL) (text string, next *url.URL, err error) {
	resp, err := f.get(ctx, at)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing was written

	location := resp.Header.Get("Location")
	switch {
	case resp.StatusCode == http.StatusOK:
		text, err = f.read(resp, at)

		return text, nil, err
	case location != "" && slices.Contains([]int{301, 302, 303, 307, 308}, resp.StatusCode):
		next, err = f.redirect(at, location)

		return "", next, err
	default:
		// The server's own status text is left out: it can contain anything.
		return "", nil, failure(tarsy.CodeUnavailable, at, nil, "it answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
}

func (f *Fetcher) redirect(at *url.URL, location string) (*url.URL, error) {
	to, err := at.Parse(location)
	if err != nil {
		// The parser's error contains the URL, which may contain a token.
		return nil, failure(tarsy.CodeUnavailable, at, nil, "it redirects to an invalid address")
	}
	if at.Scheme == "https" && to.Scheme == "http" {
		return nil, failure(tarsy.CodeForbidden, at, nil, "it redirects from https to http")
	}
	next, err := f.parse(to.String())
	if err != nil {
		return nil, failure(tarsy.CodeForbidden, at, nil, "it redirects to an address that %v", err)
	}

	return next, nil
}

// get sends one request. Its transport is used only once, so that no connection is reused after its address was checked, and
// has no proxy. The transport detaches dialing from the request's context, so dial gets ctx here.
func (f *Fetcher) get(ctx context.Context, at *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, failure(tarsy.CodeInternal, at, nil, "its address cannot be requested")
	}
	req.Header = f.header(at)

	transport := &http.Transport{
		DialContext:            func(context.Context, string, string) (net.Conn, error) { return f.dial(ctx, at) },
		TLSClientConfig:        &tls.Config{RootCAs: f.cfg.RootCAs, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}

	// Not through http.Client, which would follow redirects and include the whole URL in its errors.
	resp, err := transport.RoundTrip(req)
	if err == nil {
		return resp, nil
	}
	if known, ok := errors.AsType[*tarsy.Error](err); ok {
		return nil, known
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return nil, failure(tarsy.CodeUnavailable, at, err, "its certificate is not valid")
	}

	return nil, failure(tarsy.CodeUnavailable, at, err, "it did not send a valid HTTP response")
}

func (f *Fetcher) header(at *url.URL) http.Header {
	header := http.Header{
		"User-Agent":      {"tarsy"},
		"Accept":          {"text/markdown, text/plain, application/yaml, application/json, */*;q=0.1"},
		"Accept-Encoding": {"identity"},
	}
	if at.Host == githubAPIHost {
		header.Set("Accept", "application/vnd.github.raw+json") // the raw file, not its metadata
	}
	// at.Host has no port here, so the token is only sent to GitHub's own ports.
	if f.cfg.GitHubToken != "" && at.Scheme == "https" && slices.Contains([]string{githubHost, githubRawHost, githubAPIHost}, at.Host) {
		header.Set("Authorization", "Bearer "+f.cfg.GitHubToken)
	}

	return header
}
