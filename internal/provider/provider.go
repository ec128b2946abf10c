// Package provider creates clients for the configured LLM providers, and routes each call to its provider. It knows
// configuration and the client packages, but not the callers.
package provider

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"sync"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/llm"
)

// Config configures Providers.
type Config struct {
	Providers map[string]config.LLMProvider
	// Env looks up the environment variables named in the configuration.
	Env func(name string) (string, bool)
	// CachePrompts asks providers to cache conversations.
	CachePrompts bool
	// Scripted handles the calls of scripted providers.
	Scripted llm.Client
}

// Providers is the client for all configured providers. Each is connected on its first call.
type Providers struct {
	cfg  Config
	http *http.Client

	mu        sync.Mutex
	connected map[string]connection
}

// connection is a client, or the error of creating it.
type connection struct {
	client llm.Client
	err    error
}

var _ llm.Client = (*Providers)(nil)

// New returns Providers without any connections.
func New(cfg Config) *Providers {
	p := &Providers{cfg: cfg, http: &http.Client{CheckRedirect: refuseRedirect}, connected: map[string]connection{}}

	// A separate transport, so that Close closes only its own connections.
	if shared, ok := http.DefaultTransport.(*http.Transport); ok {
		p.http.Transport = shared.Clone()
	}

	return p
}

// refuseRedirect rejects redirects to another host: they would send the conversation there, and also keys, because only
// well-known headers are removed.
func refuseRedirect(request *http.Request, via []*http.Request) error {
	const most = 10

	if len(via) > most || request.URL.Host != via[0].URL.Host {
		return fmt.Errorf("the server at %s redirects to another host: check base_url", via[0].URL.Host)
	}

	return nil
}

// Close closes all remaining connections. No calls may be in flight.
func (p *Providers) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, c := range p.connected {
		if closer, ok := c.client.(io.Closer); ok {
			_ = closer.Close()
		}
	}

	clear(p.connected)
	p.http.CloseIdleConnections()
}

// Generate implements llm.Client: it sends a call to the provider that it names, with the settings of that provider.
func (p *Providers) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		configured, ok := p.cfg.Providers[req.Provider]
		if !ok {
			yield(nil, p.unknown(req.Provider))

			return
		}

		client, err := p.client(req.Provider, configured)
		if err != nil {
			yield(nil, p.explain(configured, err))

			return
		}

		for chunk, err := range client.Generate(ctx, p.withDefaults(req, configured)) {
			if err != nil && ctx.Err() == nil {
				err = p.explain(configured, err)
			}

			if !yield(chunk, err) {
				return
			}
		}
	}
}

// withDefaults applies the provider's settings where the caller sets none.
func (p *Providers) withDefaults(req *llm.Request, configured config.LLMProvider) *llm.Request {
	settled := *req
	settled.CachePrompt = p.cfg.CachePrompts

	if settled.ReasoningEffort == "" {
		settled.ReasoningEffort = configured.ReasoningEffort
	}

	if settled.MaxOutputTokens == 0 {
		settled.MaxOutputTokens = configured.MaxOutputTokens
	}

	return &settled
}

// client returns the client of a provider, which is created once. A failed creation is tried again: what was missing may be
// available by then.
func (p *Providers) client(name string, configured config.LLMProvider) (llm.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	c, ok := p.connected[name]
	if !ok {
		c.client, c.err = p.connect(configured)
		if c.err == nil {
			p.connected[name] = c
		}
	}

	return c.client, c.err
}

func (p *Providers) unknown(name string) error {
	return &llm.Error{
		Class: llm.ClassInvalid, Message: fmt.Sprintf("LLM provider %q is not configured", name),
		Hint: nearest.HintWithList(name, slices.Sorted(maps.Keys(p.cfg.Providers)), "LLM providers"),
	}
}

// explain adds the provider to an error, and a hint that refers to the configuration.
func (p *Providers) explain(configured config.LLMProvider, err error) error {
	e := *llm.AsError(err)
	e.Err = err

	if e.Class == llm.ClassUnknown && e.Hint == "" && e.Status == 0 {
		return err
	}

	e.Message = fmt.Sprintf("%s (%s): %s", configured.Name, configured.Model, e.Message)

	if e.Hint == "" {
		switch {
		case e.Class == llm.ClassAuth && configured.APIKeyEnv != "":
			e.Hint = fmt.Sprintf("check the key in %s, and that it may use %s", configured.APIKeyEnv, configured.Model)
		case e.Class == llm.ClassInvalid:
			e.Hint = fmt.Sprintf("check model and base_url of llm_providers.%s", configured.Name)
		}
	}

	return &e
}
