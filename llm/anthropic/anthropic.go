// Package anthropic is an llm.Client of the Anthropic Messages API, on Anthropic's own SDK. It always streams. It knows the
// llm contract and the API, and nothing of agents or sessions; it retries nothing, sets no time limit and reads nothing
// from the environment.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"tarsy.dev/tarsy/llm"
)

// Name is what signatures and errors call this client.
const Name = "anthropic"

// Config is what a client needs.
type Config struct {
	// APIKey proves who calls; none is sent where it is empty, for gateways that have their own way.
	APIKey string
	// BaseURL is where the API is; empty means Anthropic's own. The version, /v1, may stand at its end or not.
	BaseURL string
	// HTTPClient makes the calls; nil is http.DefaultClient.
	HTTPClient *http.Client
	// Headers are sent with every call, such as anthropic-beta where a gateway is behind the API.
	Headers map[string]string
}

// Client calls the API. It is safe for concurrent use.
type Client struct {
	secrets  *strings.Replacer
	messages sdk.MessageService
}

var _ llm.Client = (*Client)(nil)

// New returns a client. It makes no call.
func New(cfg Config) (*Client, error) {
	options := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithMaxRetries(0), option.WithoutOpenTelemetry(), option.WithMiddleware(bounded),
	}

	if cfg.BaseURL != "" {
		base, err := url.Parse(cfg.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("read the base URL of the Anthropic API: %w", err)
		}

		if (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
			return nil, errors.New("the base URL of the Anthropic API must begin with http:// or https:// and name a host")
		}

		options = append(options, option.WithBaseURL(strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1")))
	}

	if cfg.APIKey != "" {
		options = append(options, option.WithAPIKey(cfg.APIKey))
	}

	if cfg.HTTPClient != nil {
		options = append(options, option.WithHTTPClient(cfg.HTTPClient))
	}

	// What the SDK tells of the machine that it runs on is nobody's business.
	for _, name := range []string{"Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Retry-Count", "Timeout"} {
		options = append(options, option.WithHeaderDel("X-Stainless-"+name))
	}

	for name, value := range cfg.Headers {
		options = append(options, option.WithHeader(name, value))
	}

	// The service alone reads no environment; the SDK's client would.
	return &Client{secrets: llm.Secrets(cfg.APIKey, cfg.Headers), messages: sdk.NewMessageService(options...)}, nil
}

// bounded keeps answers within bounds; the SDK reads all of an error, however long.
func bounded(request *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	answer, err := next(request)
	if err == nil {
		llm.BoundBody(answer)
	}

	return answer, err
}

// Generate implements llm.Client.
func (c *Client) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))

			return
		}

		names := llm.NewToolNames(req)

		params, prefix, err := newParams(req, names)
		if err != nil {
			yield(nil, err)

			return
		}

		a := &answer{by: signer(req.Model), prefix: prefix, names: names, yield: yield}
		if err := c.stream(ctx, params, a); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped says that the consumer reads no further; it never leaves the package.
var errStopped = errors.New("the consumer stopped reading")

// stream makes the call and passes its events to a. The connection is closed when it returns.
func (c *Client) stream(ctx context.Context, params sdk.MessageNewParams, a *answer) error {
	calling, cancel := context.WithCancel(ctx)
	defer cancel()

	events := c.messages.NewStreaming(calling, params)
	defer func() { _ = events.Close() }()

	for events.Next() {
		event := events.Current()

		over, err := a.take(&event)
		if err != nil {
			return c.failure(ctx, err)
		}

		if over {
			return nil
		}
	}

	if err := events.Err(); err != nil {
		return c.failure(ctx, err)
	}

	return llm.Transient(ctx, errCut)
}

// errCut is the error of a stream that ends without saying so.
var errCut = errors.New("the stream of the Anthropic API ended before the answer did")
