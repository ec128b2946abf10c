package app

import (
	"context"

	"tarsy.dev/tarsy/internal/provider"
	"tarsy.dev/tarsy/llm"
)

// model is the client of all LLM calls: the one from the options, or one that goes by the provider's type.
func (a *App) model() llm.Client {
	if a.options.LLM != nil {
		return a.options.LLM
	}

	providers := provider.New(provider.Config{
		Providers: a.options.Config.LLMProviders, Env: a.options.Env, CachePrompts: a.options.Config.System.PromptCaching.Enabled,
		Scripted: a.options.Scripted,
	})
	a.onStop("LLM providers", func(context.Context) error { providers.Close(); return nil }) //nolint:nlreturn // one thought

	return providers
}

// retry is how calls of models are made again.
func (a *App) retry() llm.Retry {
	configured := a.options.Config.Defaults.LLMRetry

	return llm.Retry{
		Attempts: configured.MaxAttempts, FirstWait: configured.FirstWait, MaxWait: configured.MaxWait,
		MaxRetryAfter: configured.MaxRetryAfter, Clock: a.clock,
	}
}
