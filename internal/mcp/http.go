package mcp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"

	"tarsy.dev/tarsy/internal/telemetry"
)

// eventBytes is the size allowed for a stream event in addition to its message.
const eventBytes = 1 << 20

func tooLarge(limit int) error { return fmt.Errorf("the answer is larger than %d bytes", limit) }

// edge is the HTTP client side of one session. It adds the configured headers, ends every request with the session, and reports the
// fate of a call's request to its probe.
type edge struct {
	base   *http.Transport
	config Transport
	// limit is the maximum size of a message in bytes.
	limit int
	home  *url.URL
	life  context.Context //nolint:containedctx // the life of the session, not of a call
}

func newEdge(life context.Context, config Transport, limit int) (*edge, error) {
	home, err := url.Parse(config.URL)
	if err != nil {
		// The parser's error repeats the URL, which may contain a secret.
		return nil, errors.New("the configured URL cannot be parsed")
	}
	if home.Host == "" || (home.Scheme != "http" && home.Scheme != "https") {
		return nil, errors.New("the configured URL is not an http or https address")
	}
	// Owned by this session and not shared: its idle connections end with it.
	base := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // documented type
	if base.TLSClientConfig == nil {
		base.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if config.VerifySSL != nil && !*config.VerifySSL {
		base.TLSClientConfig.InsecureSkipVerify = true
	}

	return &edge{base: base, config: config, limit: limit, home: home, life: life}, nil
}

// RoundTrip implements http.RoundTripper.
func (e *edge) RoundTrip(original *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(original.Context())
	stopLife := context.AfterFunc(e.life, func() { cancel(context.Cause(e.life)) })
	end := func() {
		stopLife()
		cancel(nil)
	}

	p := probeOf(ctx)
	// A call is a POST; the same context also serves the GET that resumes a broken answer.
	observed := p != nil && original.Method == http.MethodPost
	if observed {
		ctx = traced(ctx, p)
	}
	req := original.Clone(ctx)
	e.addHeaders(req)

	resp, err := e.base.RoundTrip(req)
	if err != nil {
		end()

		return nil, err
	}
	if noServer(resp.StatusCode) {
		end()

		return nil, errors.Join(fmt.Errorf("%w: %s", errNoServer, resp.Status), resp.Body.Close())
	}
	if observed && req.Header.Get("Mcp-Session-Id") != "" {
		p.refused.Store(refusesSession(resp))
	}
	body := &endingBody{ReadCloser: resp.Body, end: end, left: -1}
	switch kind := resp.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "text/event-stream"):
		body.ReadCloser = newEventBody(resp.Body, e.limit)
	case strings.HasPrefix(kind, "application/json") && resp.StatusCode < http.StatusBadRequest:
		body.ReadCloser = &jsonBody{ReadCloser: resp.Body, limit: e.limit}
	default:
		body.limit, body.left = e.limit, e.limit
	}
	resp.Body = body

	return resp, nil
}

// errNoServer is the error for a proxy's response while its server restarts, even in the middle of a call. The SDK would take the
// response for one of the server; as an error it means a lost connection.
var errNoServer = errors.New("the server is unavailable")

func noServer(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable
}

// peekBytes is how much of a refusal is examined.
const peekBytes = 1024

// refusesSession reports whether a response means that the server does not know the session. The protocol requires a 404; servers
// modelled on the TypeScript SDK report it as text, with a 400.
func refusesSession(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusNotFound:
		return true
	case http.StatusBadRequest:
	default:
		return false
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, peekBytes))
	rest := io.MultiReader(bytes.NewReader(head), resp.Body)
	if err != nil {
		rest = io.MultiReader(bytes.NewReader(head), failingReader{err})
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{rest, resp.Body}

	return strings.Contains(strings.ToLower(string(head)), "session id")
}

// failingReader repeats an error.
type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// traced records in p when the request gets a connection: from then on it may have been sent. net/http retries a POST only if it wrote
// nothing of it, so waiting for another connection resets that.
func traced(ctx context.Context, p *probe) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { p.sent.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { p.sent.Store(true) },
	})
}

// addHeaders adds the configured headers, for the configured host only: a redirect, or the endpoint that an SSE server names, may lead
// elsewhere, and the token must not follow.
func (e *edge) addHeaders(req *http.Request) {
	if req.URL.Host != e.home.Host || req.URL.Scheme != e.home.Scheme {
		return
	}
	if parent := telemetry.TraceparentOf(req.Context()); parent != "" {
		req.Header.Set(telemetry.Traceparent, parent)
	}
	for name, value := range e.config.Headers {
		if req.Header.Get(name) == "" {
			req.Header.Set(name, value)
		}
	}
	if e.config.BearerToken != "" {
		req.Header.Set("Authorization", "Bearer "+e.config.BearerToken)
	}
}

// hide removes the secrets of the configuration from an error's text, which may repeat the URL.
func (e *edge) hide(text string) string {
	plain := url.URL{Scheme: e.home.Scheme, Host: e.home.Host, Path: e.home.Path}
	text = strings.ReplaceAll(text, e.home.Redacted(), plain.String())
	text = strings.ReplaceAll(text, e.config.URL, plain.String())
	if e.config.BearerToken != "" {
		text = strings.ReplaceAll(text, e.config.BearerToken, "[REDACTED]")
	}

	return text
}

// endingBody ends its request's context when it is closed, and fails after limit bytes; left counts down, and a negative left means no
// limit.
type endingBody struct {
	io.ReadCloser

	end         func()
	limit, left int
}

func (b *endingBody) Read(data []byte) (int, error) {
	if b.left == 0 {
		return 0, tooLarge(b.limit)
	}
	if b.left > 0 && len(data) > b.left {
		data = data[:b.left]
	}
	n, err := b.ReadCloser.Read(data)
	if b.left > 0 {
		b.left -= n
	}

	return n, err
}

func (b *endingBody) Close() error {
	defer b.end()

	return b.ReadCloser.Close()
}
