// Package openai is an llm.Client of the API of OpenAI: Responses for OpenAI itself, Chat Completions for the many servers
// that speak it (vLLM, Ollama, xAI, Azure). It knows one account of one server; retries,
// fallbacks and configuration are others' matter. Nothing is read from the environment but the proxy settings that every Go
// program follows.
//
// What the two forms cannot do is left out: Responses has no stop sequences, and nothing like URL context; Chat Completions
// has no native tools and gives no signature back, and no stop sequences for models of OpenAI and xAI that think. Prompts are cached by the server without being asked.
// A limit of tokens is max_completion_tokens to OpenAI and Azure, and max_tokens to other servers of Chat Completions. Thinking is
// asked for, as summaries, where an effort is set; without one it is only sealed and sent back.
package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// The forms of the API.
const (
	APIChat      = "chat"
	APIResponses = "responses"
)

// ownURL is where OpenAI itself is.
const ownURL = "https://api.openai.com/v1"

// Config is what a client needs.
type Config struct {
	// APIKey proves who asks. Without one no key is sent, as self-hosted servers expect.
	APIKey string
	// BaseURL is where the API is, its version included, such as http://localhost:11434/v1; empty means OpenAI's own. A
	// query in it, such as Azure's api-version, goes with every request. For hosts of Azure the key is sent as Azure wants it.
	BaseURL string
	// API is the form that the server speaks, APIChat or APIResponses; empty means Responses for OpenAI itself and version 1 of
	// Azure's API, whose newer models call no tools by the other, and Chat Completions for all other servers.
	API string
	// HTTPClient makes the requests; nil means http.DefaultClient. It should have no time-out: contexts rule.
	HTTPClient *http.Client
	// Headers go with every request.
	Headers map[string]string
}

// Client calls models of one server. It is safe for concurrent use.
type Client struct {
	api     string
	secrets *strings.Replacer
	// name is how signatures name this client: what OpenAI sealed is nothing to Azure.
	name string
	// forgone are the extras that models are not asked for again.
	dropped sync.Map
	// own tells that the server follows OpenAI's present form to the letter: OpenAI itself, or Azure.
	own bool
	// stops tells that the server takes stop sequences also for models that think.
	stops bool
	http  *http.Client
	// base is where the API is, its query included; header goes with every request.
	base   *url.URL
	header http.Header
}

var _ llm.Client = (*Client)(nil)

// New returns a client.
func New(cfg Config) (*Client, error) {
	base := cfg.BaseURL
	if base == "" {
		base = ownURL
	}

	address, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("read the base URL: %w", err)
	}

	if (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" {
		return nil, errors.New("the base URL must be an http or https address, such as http://localhost:8000/v1")
	}

	api := cfg.API

	switch {
	case api == APIChat || api == APIResponses:
	case api != "":
		return nil, fmt.Errorf("there is no API %q: it is %q or %q", api, APIChat, APIResponses)
	case isOpenAI(address.Hostname()), isAzure(address.Hostname()) && strings.HasSuffix(strings.TrimRight(address.Path, "/"), "/openai/v1"):
		api = APIResponses
	default:
		api = APIChat
	}

	c := &Client{
		api: api, name: "openai", secrets: llm.Secrets(cfg.APIKey, cfg.Headers),
		own:  isOpenAI(address.Hostname()) || isAzure(address.Hostname()),
		http: wire.SameOrigin(cfg.HTTPClient), base: address, header: header(cfg, address),
	}
	c.stops = !c.own && !isXAI(address.Hostname())

	if isAzure(address.Hostname()) {
		c.name = "azure"
	}

	return c, nil
}

// header is what goes with every request. The headers of the configuration replace the client's own, but for the form of the
// answer, which is always a stream.
func header(cfg Config, address *url.URL) http.Header {
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {wire.UserAgent}}

	switch {
	case cfg.APIKey == "":
	case isAzure(address.Hostname()):
		header.Set("Api-Key", cfg.APIKey)
	default:
		header.Set("Authorization", "Bearer "+cfg.APIKey)
	}

	for name, value := range cfg.Headers {
		header.Set(name, value)
	}

	header.Set("Accept", "text/event-stream")

	return header
}

// address is that of a path of the API, with the query of the base URL.
func (c *Client) address(path string) string {
	address := wire.Resolve(c.base, path)
	address.RawQuery = c.base.Query().Encode()

	return address.String()
}

func isOpenAI(host string) bool {
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}

func isAzure(host string) bool {
	return strings.HasSuffix(host, ".openai.azure.com") || strings.HasSuffix(host, ".cognitiveservices.azure.com") ||
		strings.HasSuffix(host, ".services.ai.azure.com")
}

func isXAI(host string) bool { return host == "x.ai" || strings.HasSuffix(host, ".x.ai") }

// Generate implements llm.Client.
func (c *Client) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		var err error

		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case c.api == APIChat:
			err = c.chat(ctx, req, yield)
		default:
			err = c.respond(ctx, req, yield)
		}

		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped says that the consumer reads no further; it never leaves the package.
var errStopped = errors.New("the consumer stopped reading")

// sender passes chunks on.
type sender func(llm.Chunk, error) bool

func (s sender) send(chunk llm.Chunk) error {
	if !s(chunk, nil) {
		return errStopped
	}

	return nil
}

// text passes text on, if there is some.
func (s sender) text(text string) error {
	if text == "" {
		return nil
	}

	return s.send(llm.TextChunk{Text: text})
}

// thinking passes thinking on, if there is some.
func (s sender) thinking(text string) error {
	if text == "" {
		return nil
	}

	return s.send(llm.ThinkingChunk{Text: text})
}

// end passes on what ends an answer.
func (s sender) end(usage llm.UsageChunk, end llm.EndChunk) error {
	if err := s.send(usage); err != nil {
		return err
	}

	return s.send(end)
}
