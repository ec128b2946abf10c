package app

import (
	"context"
	"fmt"
	"iter"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/demo/story"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// model is the client of all LLM calls: the one from the options, or one that goes by the provider's type.
func (a *App) model() llm.Client {
	if a.options.LLM != nil {
		return a.options.LLM
	}

	return &providers{configured: a.options.Config.LLMProviders, scripted: story.Client(script.Pace{})}
}

// providers sends each call to the client of its provider's type.
type providers struct {
	configured map[string]config.LLMProvider
	scripted   llm.Client
}

// Generate implements llm.Client.
func (p *providers) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	provider, ok := p.configured[req.Provider]

	switch {
	case !ok:
		return failing(fmt.Errorf("LLM provider %q is not configured", req.Provider))
	case provider.Type == config.ProviderScripted:
		return p.scripted.Generate(ctx, req)
	default:
		return failing(fmt.Errorf("LLM provider %q is of type %q, which this version cannot call yet: only scripted providers work", req.Provider, provider.Type))
	}
}

func failing(err error) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) { yield(nil, err) }
}
