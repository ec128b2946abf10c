package oidc

import (
	"fmt"
	"net/http"
)

const (
	// maxAnswer is the maximum size of an issuer's response.
	maxAnswer = 1 << 20
	// maxRedirects is how many redirects within the same host are followed.
	maxRedirects = 3
)

// newClient creates the client for all requests to an issuer. Logins are rare, so connections are not kept alive.
func newClient() *http.Client {
	transport := http.DefaultTransport
	if standard, ok := transport.(*http.Transport); ok {
		own := standard.Clone()
		own.DisableKeepAlives = true
		transport = own
	}

	return &http.Client{Transport: bounded{transport}, Timeout: requestTimeout, CheckRedirect: checkRedirect}
}

// checkRedirect keeps a request, which may contain the client's secret, on its original host.
func checkRedirect(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Scheme != first.Scheme || r.URL.Host != first.Host || len(via) > maxRedirects {
		return fmt.Errorf("%w, or too often: %s", errRedirect, r.URL.Host)
	}

	return nil
}

// bounded limits the size of responses: go-oidc reads them completely.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}

	response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)

	return response, nil
}
