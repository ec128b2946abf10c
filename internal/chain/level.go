package chain

import (
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/llm"
)

// level is what one level of the configuration sets: defaults, agent, chain, stage, stage's agent. An empty field sets nothing.
type level struct {
	agentType, provider, backend, strategy string
	maxIterations                          int
	mcpServers                             []string                  // nil sets nothing, empty means none
	fallbacks                              []config.FallbackProvider // likewise
	rule                                   agent.ToolRule            // narrows the rules of lower levels
	rules                                  []agent.ToolRule          // of the levels merged so far
}

// merge overlays each level on the previous ones. A strategy that implies a backend also sets the backend, unless its own level
// names one.
func merge(levels ...level) level {
	var sum level

	for _, l := range levels {
		if l.backend == "" {
			l.backend = config.StrategyBackend(l.strategy)
		}

		sum.agentType = override(sum.agentType, l.agentType)
		sum.provider = override(sum.provider, l.provider)
		sum.backend = override(sum.backend, l.backend)
		sum.strategy = override(sum.strategy, l.strategy)
		sum.maxIterations = override(sum.maxIterations, l.maxIterations)

		if l.mcpServers != nil {
			sum.mcpServers = l.mcpServers
		}

		sum.rules = append(sum.rules, l.rules...)
		if !l.rule.IsZero() {
			sum.rules = append(sum.rules, l.rule)
		}

		if l.fallbacks != nil {
			sum.fallbacks = l.fallbacks
		}
	}

	return sum
}

func override[T comparable](below, above T) T {
	var nothing T
	if above != nothing {
		return above
	}

	return below
}

// nativeTools overlays each level on the previous ones; a tool that no level mentions is off.
func nativeTools(levels ...*config.NativeTools) llm.NativeTools {
	var set llm.NativeTools

	for _, l := range levels {
		if l == nil {
			continue
		}

		set.GoogleSearch = overrideBool(set.GoogleSearch, l.GoogleSearch)
		set.CodeExecution = overrideBool(set.CodeExecution, l.CodeExecution)
		set.URLContext = overrideBool(set.URLContext, l.URLContext)
	}

	return set
}

func overrideBool(below bool, above *bool) bool {
	if above == nil {
		return below
	}

	return *above
}

// strategyOf maps the strategy names of old and new files to the three strategies. Agents of some types answer in one call
// without tools, whatever strategy they would inherit.
func strategyOf(name, agentType string) agent.Strategy {
	switch agentType {
	case config.AgentTypeSynthesis, config.AgentTypeExecSummary, config.AgentTypeVerdict, config.AgentTypeScoring:
		return agent.Synthesis
	}

	switch name {
	case "react":
		return agent.React
	case "synthesis", "synthesis-native-thinking":
		return agent.Synthesis
	default:
		return agent.FunctionCalling
	}
}
