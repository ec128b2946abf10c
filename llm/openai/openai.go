// Package openai implements llm.Client for the API of OpenAI: Responses for OpenAI itself, Chat Completions for the many
// servers that speak it (vLLM, Ollama, xAI, Azure). A client is for one account of one server; it does not handle retries,
// fallbacks or configuration. It reads nothing from the environment but the proxy settings that every Go program uses.
//
// What the two forms of the API do not support is omitted: Responses has no stop sequences, and nothing like URL context; Chat
// Completions has no native tools, returns no signature, and has no stop sequences for reasoning models of OpenAI and xAI.
// Servers cache prompts without being asked. A token limit is max_completion_tokens for OpenAI and Azure, and max_tokens for
// other servers of Chat Completions. Thinking is requested, as summaries, if an effort is set; without one it is only sealed
// and sent back.
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

// ownURL is the address of OpenAI itself.
const ownURL = "https://api.openai.com/v1"

// Config is the configuration of a client.
type Config struct {
	// APIKey authenticates the caller. If it is empty, no key is sent, as self-hosted servers expect.
	APIKey string
	// BaseURL is the address of the API, including its version, such as http://localhost:11434/v1; empty means OpenAI's own. A
	// query in it, such as Azure's api-version, is sent with every request. Azure hosts get the key in the header that Azure
	// requires.
	BaseURL string
	// API is the form that the server speaks, APIChat or APIResponses; empty means Responses for OpenAI itself and version 1 of
	// Azure's API, whose newer models do not support tools with Chat Completions, and Chat Completions for all other servers.
	API string
	// HTTPClient makes the requests; nil means http.DefaultClient. It should have no time-out, because contexts limit the time.
	HTTPClient *http.Client
	// Headers are sent with every request.
	Headers map[string]string
}

// Client calls models of one server. It is safe for concurrent use.
type Client struct {
	api     string
	secrets *strings.Replacer
	// name is the name of this client in signatures: what OpenAI sealed cannot be used on Azure.
	name string
	// dropped contains the extras that are no longer requested from models.
	dropped sync.Map
	// own reports whether the server follows OpenAI's current API to the letter: OpenAI itself, or Azure.
	own bool
	// stops reports whether the server accepts stop sequences for reasoning models too.
	stops bool
	http  *http.Client
	// base is the address of the API, including its query; header is sent with every request.
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

// header returns the header of every request. Configured headers replace the client's own, except for Accept, because the
// answer is always a stream.
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

// address returns the address of a path of the API, with the query of the base URL.
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

// errStopped reports that the consumer stopped reading; it never leaves the package.
var errStopped = errors.New("the consumer stopped reading")

// sender passes chunks on.
type sender func(llm.Chunk, error) bool

func (s sender) send(chunk llm.Chunk) error {
	if !s(chunk, nil) {
		return errStopped
	}

	return nil
}

// text passes text on, unless it is empty.
func (s sender) text(text string) error {
	if text == "" {
		return nil
	}

	return s.send(llm.TextChunk{Text: text})
}

// thinking passes thinking on, unless it is empty.
func (s sender) thinking(text string) error {
	if text == "" {
		return nil
	}

	return s.send(llm.ThinkingChunk{Text: text})
}

// end passes on the chunks that end an answer.
func (s sender) end(usage llm.UsageChunk, end llm.EndChunk) error {
	if err := s.send(usage); err != nil {
		return err
	}

	return s.send(end)
}
