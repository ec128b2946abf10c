package config

import (
	"fmt"
	"maps"
	"slices"
)

// How an agent works. Files may use more words; canonicalStrategy maps them.
const (
	StrategyFunctionCalling = "function-calling" // tools bound as functions of the model
	StrategyReact           = "react"            // the text protocol for models without functions
	StrategySynthesis       = "synthesis"        // one call without tools
)

// How a model is talked to.
const (
	BackendGoogleNative = "google-native"
	BackendLangChain    = "langchain"
)

func strategyNames() []string {
	return []string{"function-calling", "native-thinking", "langchain", "react", "synthesis", "synthesis-native-thinking"}
}

// canonicalStrategy maps the words of old and new files to the three strategies.
func canonicalStrategy(name string) string {
	switch name {
	case "react":
		return StrategyReact
	case "synthesis", "synthesis-native-thinking":
		return StrategySynthesis
	default:
		return StrategyFunctionCalling
	}
}

// strategyBackend is the backend that an iteration_strategy stands for, "" if it
// says nothing about it.
func strategyBackend(name string) string {
	switch name {
	case "native-thinking", "synthesis-native-thinking":
		return BackendGoogleNative
	case "langchain", "synthesis":
		return BackendLangChain
	default:
		return ""
	}
}

// isSingleCall says whether agents of this type answer in one call without tools,
// whatever strategy they would inherit.
func isSingleCall(agentType string) bool {
	return agentType == AgentTypeSynthesis || agentType == AgentTypeExecSummary || agentType == AgentTypeScoring
}

// checkStrategies finds places that say two different backends, one by the old
// key and one by the new.
func (c *Config) checkStrategies() []Problem {
	var problems []Problem
	check := func(path, strategy, backend string) {
		if implied := strategyBackend(strategy); implied != "" && backend != "" && implied != backend {
			problems = append(problems, c.problem(path+".llm_backend",
				fmt.Sprintf("contradicts iteration_strategy %s, which stands for %s", strategy, implied), "keep one of the two keys"))
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
