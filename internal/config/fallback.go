package config

import (
	"fmt"
	"maps"
	"slices"
)

// checkFallbacks finds levels that set both fallback_providers and fallback_list.
func (c *Config) checkFallbacks() []Problem {
	var problems []Problem
	check := func(path string, own []FallbackProvider, list string) {
		if own != nil && list != "" {
			problems = append(problems, c.problem(joinPath(path, "fallback_list"),
				"conflicts with fallback_providers, which sets the same", "keep one of the two keys"))
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
