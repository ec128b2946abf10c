package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/provider"
	"tarsy.dev/tarsy/llm"
)

// liveTimeout limits how long a provider may take to answer with one word.
const liveTimeout = time.Minute

// checkProviders checks that the models that chains use could be called. With live it calls them, and also the other
// models in the files whose keys are set.
func checkProviders(ctx context.Context, t *tool, cfg *config.Config, used []string, live bool) []finding {
	providers := provider.New(provider.Config{
		Providers: cfg.LLMProviders, Env: t.lookup, CachePrompts: cfg.System.PromptCaching.Enabled, Scripted: scriptedModel(),
	})
	defer providers.Close()

	var all []finding

	for _, name := range slices.Sorted(maps.Keys(cfg.LLMProviders)) {
		if !slices.Contains(used, name) && (!live || !cfg.Written("llm_providers", name)) {
			continue
		}

		configured := cfg.LLMProviders[name]
		check := "LLM provider " + name
		unset := cfg.UnsetVariablesOf(name, t.lookup)

		switch {
		case configured.Type == config.ProviderScripted:
			all = append(all, finding{check, findingOK, "is scripted", ""})
		case len(unset) > 0 && !slices.Contains(used, name):
			// No chain needs its key.
		case len(unset) > 0 && name == cfg.Defaults.LLMProvider && cfg.LacksKey():
			all = append(all, finding{check, findingFail, unset[0].String(), keyAdvice()})
		case len(unset) > 0:
			all = append(all, finding{check, findingFail, unset[0].String(), "set it where the server runs"})
		case live:
			t.infof("asking %s (%s)…", name, configured.Model)

			all = append(all, liveFinding(ctx, providers, name))
		default:
			all = append(all, finding{check, findingOK, fmt.Sprintf("%s, %s; not called", configured.Type, configured.Model), "see --live"})
		}
	}

	return all
}

// liveFinding calls a provider and reports its answer.
func liveFinding(ctx context.Context, providers *provider.Providers, name string) finding {
	limited, cancel := context.WithTimeoutCause(ctx, liveTimeout, fmt.Errorf("there was no answer within %s", liveTimeout))
	defer cancel()

	check := "LLM provider " + name
	result := providers.Check(limited, name)

	if result.Err != nil {
		e := llm.AsError(result.Err)

		return finding{check, findingFail, line(result.Err), advice(e.Class)}
	}

	return finding{check, findingOK, fmt.Sprintf("%s answered in %s (first chunk %s, %d tokens)", result.Model,
		result.Total.Round(time.Millisecond), result.FirstChunk.Round(time.Millisecond), result.Usage.InputTokens+result.Usage.OutputTokens), ""}
}

// advice is empty if the error itself says what to do.
func advice(class llm.Class) string {
	if class == llm.ClassUnknown {
		return "check the provider's settings, and that this machine can reach it"
	}

	return ""
}
