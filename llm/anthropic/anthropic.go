// Package anthropic implements llm.Client for the Anthropic Messages API. It always streams. It knows the llm contract and the
// API, but not agents or sessions; it does not retry, sets no time limits and reads nothing from the environment.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"tarsy.dev/tarsy/internal/sse"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// Name is the name of this client in signatures and errors.
const Name = "anthropic"

const (
	ownURL  = "https://api.anthropic.com"
	version = "2023-06-01"
)

// Config is the configuration of a client.
type Config struct {
	// APIKey authenticates the caller; if it is empty, no key is sent, for gateways that authenticate differently.
	APIKey string
	// BaseURL is the address of the API; empty means Anthropic's own. The version, /v1, is optional at its end.
	BaseURL string
	// HTTPClient makes the calls; nil is http.DefaultClient.
	HTTPClient *http.Client
	// Headers are sent with every call, such as anthropic-beta for a gateway.
	Headers map[string]string
}

// Client calls the API. It is safe for concurrent use.
type Client struct {
	secrets *strings.Replacer
	http    *http.Client
	// address is the messages endpoint, header what is sent with every call.
	address string
	header  http.Header
}

var _ llm.Client = (*Client)(nil)

// New returns a client. It makes no call.
func New(cfg Config) (*Client, error) {
	base := cfg.BaseURL
	if base == "" {
		base = ownURL
	}

	address, err := url.Parse(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"))
	if err != nil {
		return nil, fmt.Errorf("read the base URL of the Anthropic API: %w", err)
	}

	if (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" {
		return nil, errors.New("the base URL of the Anthropic API must begin with http:// or https:// and name a host")
	}

	header := http.Header{
		"Accept": {"application/json"}, "Content-Type": {"application/json"}, "User-Agent": {wire.UserAgent}, "Anthropic-Version": {version},
	}

	if cfg.APIKey != "" {
		header.Set("X-Api-Key", cfg.APIKey)
	}

	for name, value := range cfg.Headers {
		header.Set(name, value)
	}

	return &Client{
		secrets: llm.Secrets(cfg.APIKey, cfg.Headers), http: wire.SameOrigin(cfg.HTTPClient),
		address: wire.Resolve(address, "v1/messages").String(), header: header,
	}, nil
}

// Generate implements llm.Client.
func (c *Client) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))

			return
		}

		names := llm.NewToolNames(req)

		body, prefix, err := newRequest(req, names)
		if err != nil {
			yield(nil, err)

			return
		}

		a := &answer{by: signer(req.Model), prefix: prefix, names: names, yield: yield}
		if err := c.stream(ctx, body, a); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped reports that the consumer stopped reading; it never leaves the package.
var errStopped = errors.New("the consumer stopped reading")

// stream makes the call and passes its events to a. The connection is closed when it returns.
func (c *Client) stream(ctx context.Context, body *messageRequest, a *answer) error {
	calling, cancel := context.WithCancel(ctx)
	defer cancel()

	response, err := wire.Post(calling, c.http, c.address, c.header, body)
	if err != nil {
		return c.failure(ctx, err)
	}

	defer func() { _ = response.Body.Close() }()

	events := sse.NewReader(response.Body, 0) // an answer's body is bounded

	for {
		next, err := events.Next()

		switch {
		case errors.Is(err, io.EOF):
			return llm.Transient(ctx, errCut)
		case err != nil:
			return c.failure(ctx, err)
		}

		over, err := c.take(next, response.Header, a)
		if err != nil {
			return c.failure(ctx, err)
		}

		if over {
			return nil
		}
	}
}

// take passes an event to a; over reports whether it was the last. Events without a name are not the API's.
func (c *Client) take(next sse.Event, header http.Header, a *answer) (over bool, err error) {
	switch {
	case next.Name == "error":
		return false, c.reported(0, header, next.Data)
	case next.Name == "" || next.Name == "ping" || len(next.Data) == 0:
		return false, nil
	}

	var known event
	if err := wire.Unmarshal(next.Data, &known); err != nil {
		return false, err
	}

	return a.take(&known)
}

// errCut is the error of a stream that ends before the answer does.
var errCut = errors.New("the stream of the Anthropic API ended before the answer did")
