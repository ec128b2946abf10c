package gemini

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/httptransport"

	"tarsy.dev/tarsy/llm"
)

// httpClient returns the client that makes the calls: the given one, or one that adds Vertex AI's credentials.
func (cfg Config) httpClient() (*http.Client, error) {
	client := &http.Client{CheckRedirect: cfg.CheckRedirect}

	switch {
	case cfg.HTTPClient != nil:
		given := *cfg.HTTPClient
		client = &given
	case cfg.Vertex && cfg.APIKey == "":
		authorized, err := cfg.authorized()
		if err != nil {
			return nil, err
		}

		client = authorized
		client.CheckRedirect = cfg.CheckRedirect
	}

	base := client.Transport
	if base == nil {
		base = http.DefaultTransport
	}

	client.Transport = transport{base: base}

	return client, nil
}

func (cfg Config) authorized() (*http.Client, error) {
	found, err := credentials.DetectDefault(&credentials.DetectOptions{
		Scopes: []string{"https://www.googleapis.com/auth/cloud-platform"}, CredentialsFile: cfg.CredentialsFile,
	})
	if err != nil {
		return nil, fmt.Errorf("find the credentials of Vertex AI: %w", err)
	}

	header := http.Header{}
	if project, err := found.QuotaProjectID(context.Background()); err == nil && project != "" {
		header.Set("X-Goog-User-Project", project)
	}

	client, err := httptransport.NewClient(&httptransport.Options{DisableTelemetry: true, Credentials: found, Headers: header})
	if err != nil {
		return nil, fmt.Errorf("use the credentials of Vertex AI: %w", err)
	}

	return client, nil
}

// exchange records what happened on the wire: the SDK drops the headers of errors, and only logs what breaks a stream.
type exchange struct {
	// made reports whether a request was sent or attempted.
	made   bool
	status int
	header http.Header
	// err is the error that ended the response body early.
	err error
}

type exchangeKey struct{}

// in returns a context in which the transport records the exchange.
func (x *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// transport records what happens on the wire.
type transport struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	log, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return t.base.RoundTrip(r)
	}

	log.made = true

	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}

	log.status, log.header = resp.StatusCode, resp.Header

	llm.BoundBody(resp)
	resp.Body = &body{ReadCloser: resp.Body, log: log}

	return resp, nil
}

// body is the body of a response. Its error is recorded and looks like its end, because the SDK would log it. Carriage returns,
// which are insignificant in JSON, are removed: the SDK looks for the end of an event in two ways, and misses the nearer one if
// a server mixes them.
type body struct {
	io.ReadCloser

	log *exchange
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for {
		n, err := b.ReadCloser.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			b.log.err = err
			err = io.EOF
		}

		n = dropReturns(p[:n])

		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

func dropReturns(p []byte) int {
	at := bytes.IndexByte(p, '\r')
	if at < 0 {
		return len(p)
	}

	kept := p[:at]

	for _, c := range p[at:] {
		if c != '\r' {
			kept = append(kept, c)
		}
	}

	return len(kept)
}
