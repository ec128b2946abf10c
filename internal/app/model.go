package app

import (
	"context"
	"iter"
	"sync"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/provider"
	"tarsy.dev/tarsy/llm"
)

// models sends each LLM call to its provider, as configured when the call begins. Replaced clients are closed after their last call.
type models struct {
	options Options

	mu      sync.Mutex
	current *clients
}

// clients are the clients of one configuration. models.mu guards calls and retired.
type clients struct {
	*provider.Providers

	calls   int
	retired bool
}

var _ llm.Client = (*models)(nil)

// replace creates the clients of a configuration. Calls that begin later use them.
func (m *models) replace(cfg *config.Config) {
	fresh := &clients{Providers: provider.New(provider.Config{
		Providers: cfg.LLMProviders, Env: m.options.Env, CachePrompts: cfg.System.PromptCaching.Enabled, Scripted: m.options.Scripted,
	})}

	m.mu.Lock()
	old := m.current
	m.current = fresh
	m.mu.Unlock()

	m.retire(old)
}

// retire closes clients, or leaves that to their last call.
func (m *models) retire(c *clients) {
	if c == nil {
		return
	}

	m.mu.Lock()
	c.retired = true
	idle := c.calls == 0
	m.mu.Unlock()

	if idle {
		c.Close()
	}
}

// Close closes the clients. No call may be in flight.
func (m *models) Close() {
	m.mu.Lock()
	c := m.current
	m.mu.Unlock()

	m.retire(c)
}

// Generate implements llm.Client.
func (m *models) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		c := m.begin()
		defer m.end(c)

		for chunk, err := range c.Generate(ctx, req) {
			if !yield(chunk, err) {
				return
			}
		}
	}
}

func (m *models) begin() *clients {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.current.calls++

	return m.current
}

func (m *models) end(c *clients) {
	m.mu.Lock()
	c.calls--
	last := c.retired && c.calls == 0
	m.mu.Unlock()

	if last {
		c.Close()
	}
}
