// Package client accesses a TARSy server over its public HTTP API: it submits alerts, reads sessions and follows them live. It knows the
// API and the vocabulary, but neither terminals nor how the server works.
//
// The operations of the API form a table in operations.go; Call, Create and List make the requests.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tarsy.dev/tarsy"
)

const (
	// requestLimit bounds every request except following a session.
	requestLimit = 30 * time.Second
	// answerLimit is the size of the largest response that is read.
	answerLimit = 64 << 20

	defaultRetryWait = 300 * time.Millisecond
	defaultSilence   = 45 * time.Second
)

// Config configures a client.
type Config struct {
	// Server is the server's address, such as http://127.0.0.1:8080.
	Server string
	// Token is an API key; servers on a loopback address usually need none.
	Token string
	// UserAgent names the program.
	UserAgent string
	// HTTP makes the requests; nil means a new client.
	HTTP *http.Client
	// RetryWait is how long Follow waits before it reconnects. It doubles with each failure.
	RetryWait time.Duration
	// Silence is how long Follow keeps a connection on which nothing arrives. Servers send something more often than that.
	Silence time.Duration
}

// Client is a connection to one server. It is safe for concurrent use.
type Client struct {
	cfg  Config
	base *url.URL
}

// ErrAddress reports an invalid server address.
var ErrAddress = errors.New("the server's address must look like http://127.0.0.1:8080")

// New returns a client. It does not connect.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(cfg.Server, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("%w, not %q", ErrAddress, cfg.Server)
	}

	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{}
	}

	if cfg.RetryWait <= 0 {
		cfg.RetryWait = defaultRetryWait
	}

	if cfg.Silence <= 0 {
		cfg.Silence = defaultSilence
	}

	return &Client{cfg: cfg, base: base}, nil
}

// Server returns the address of the server.
func (c *Client) Server() string { return c.base.String() }

// SessionPage returns the address of a session in the dashboard.
func (c *Client) SessionPage(id string) string { return tarsy.SessionURL(c.base, id) }

// Anonymous reports whether the client has no API key.
func (c *Client) Anonymous() bool { return c.cfg.Token == "" }

// Close closes idle connections.
func (c *Client) Close() { c.cfg.HTTP.CloseIdleConnections() }

// do sends a request and decodes the JSON response into out, if out is not nil.
func (c *Client) do(request *http.Request, out any) error {
	response, err := c.answer(request)
	if err != nil {
		return err
	}

	defer func() { _ = response.Body.Close() }()

	if out == nil {
		return nil
	}

	body, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if err != nil {
		return &UnreachableError{Server: c.Server(), Err: err}
	}

	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%s answered %s with an unexpected response: %w", c.Server(), request.URL.Path, err)
	}

	return nil
}

// answer sends a request and returns the response unless it is an error. The caller closes the body.
func (c *Client) answer(request *http.Request) (*http.Response, error) {
	response, err := c.cfg.HTTP.Do(request)
	if err != nil {
		return nil, &UnreachableError{Server: c.Server(), Err: err}
	}

	if response.StatusCode >= http.StatusBadRequest {
		defer func() { _ = response.Body.Close() }()

		return nil, readProblem(response)
	}

	return response, nil
}

// request creates a request for the pattern of an operation, with a JSON body if in is not nil.
func (c *Client) request(ctx context.Context, pattern string, ids []string, query url.Values, in any) (*http.Request, error) {
	var body io.Reader

	method, path := methodAndPath(pattern, ids)

	if in != nil {
		var encoded bytes.Buffer

		encoder := json.NewEncoder(&encoded)
		encoder.SetEscapeHTML(false)

		if err := encoder.Encode(in); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}

		body = &encoded
	}

	address := c.base.JoinPath(path)
	address.RawQuery = query.Encode()

	request, err := http.NewRequestWithContext(ctx, method, address.String(), body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}

	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}

	if c.cfg.UserAgent != "" {
		request.Header.Set("User-Agent", c.cfg.UserAgent)
	}

	if c.cfg.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}

	return request, nil
}
