package config

import (
	"fmt"
	"maps"
	"slices"
)

// fallbacks is what one level says about models to fall back on: its own entries,
// or those of the list that it names; nil if it says nothing.
func (c *Config) fallbacks(own []FallbackProvider, list string) []FallbackProvider {
	if own != nil || list == "" {
		return own
	}
	named := make([]FallbackProvider, 0, len(c.FallbackLists[list]))
	for _, entry := range c.FallbackLists[list] {
		named = append(named, FallbackProvider{Provider: entry.LLMProvider, Backend: entry.LLMBackend})
	}
	return named
}

// resolvedFallbacks leaves out what is tried already: the first model itself and
// repetitions. A provider asked twice by another backend would be the same call twice.
// Own is what the agent says of native tools.
func (c *Config) resolvedFallbacks(l level, own *NativeTools) []ResolvedModel {
	var models []ResolvedModel
	tried := []string{l.provider}
	for _, f := range l.fallbacks {
		if slices.Contains(tried, f.Provider) {
			continue
		}
		tried = append(tried, f.Provider)
		models = append(models, ResolvedModel{
			Provider: f.Provider, LLM: c.LLMProviders[f.Provider], Backend: c.backend(level{provider: f.Provider, backend: f.Backend}),
			NativeTools: nativeTools(c.LLMProviders[f.Provider].NativeTools, own),
		})
	}
	return models
}

// checkFallbacks finds levels that say twice what to fall back on.
func (c *Config) checkFallbacks() []Problem {
	var problems []Problem
	check := func(path string, own []FallbackProvider, list string) {
		if own != nil && list != "" {
			problems = append(problems, c.problem(joinPath(path, "fallback_list"),
				"stands beside fallback_providers, which says the same in another way", "keep one of the two keys"))
		}
	}
	check("defaults", c.Defaults.FallbackProviders, c.Defaults.FallbackList)
	for _, id := range slices.Sorted(maps.Keys(c.Chains)) {
		chain, path := c.Chains[id], joinPath("agent_chains", id)
		check(path, chain.FallbackProviders, chain.FallbackList)
		for i, stage := range chain.Stages {
			at := fmt.Sprintf("%s.stages[%d]", path, i)
			check(at, stage.FallbackProviders, stage.FallbackList)
			for j, agent := range stage.Agents {
				check(fmt.Sprintf("%s.agents[%d]", at, j), agent.FallbackProviders, agent.FallbackList)
			}
		}
	}
	return problems
}
