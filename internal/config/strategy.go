package config

import (
	"fmt"
	"maps"
	"slices"
)

// The backends of gateways.
const (
	BackendGoogleNative = "google-native"
	BackendLangChain    = "langchain"
)

func strategyNames() []string {
	return []string{"function-calling", "native-thinking", "langchain", "react", "synthesis", "synthesis-native-thinking"}
}

// StrategyBackend returns the backend that an iteration_strategy implies, or "".
func StrategyBackend(name string) string {
	switch name {
	case "native-thinking", "synthesis-native-thinking":
		return BackendGoogleNative
	case "langchain", "synthesis":
		return BackendLangChain
	default:
		return ""
	}
}

// checkStrategies finds places that set two different backends, one by the old key and one by the new.
func (c *Config) checkStrategies() []Problem {
	var problems []Problem
	check := func(path, strategy, backend string) {
		if implied := StrategyBackend(strategy); implied != "" && backend != "" && implied != backend {
			problems = append(problems, c.problem(path+".llm_backend",
				fmt.Sprintf("contradicts iteration_strategy %s, which implies %s", strategy, implied), "keep one of the two keys"))
		}
	}
	check("defaults", c.Defaults.IterationStrategy, c.Defaults.LLMBackend)
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		check(joinPath("agents", name), c.Agents[name].IterationStrategy, c.Agents[name].LLMBackend)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Chains)) {
		chain, path := c.Chains[id], joinPath("agent_chains", id)
		check(path, chain.IterationStrategy, chain.LLMBackend)
		for i, stage := range chain.Stages {
			for j, agent := range stage.Agents {
				check(fmt.Sprintf("%s.stages[%d].agents[%d]", path, i, j), agent.IterationStrategy, agent.LLMBackend)
			}
		}
	}
	return problems
}
