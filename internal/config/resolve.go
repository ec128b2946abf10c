package config

import (
	"maps"
	"slices"
	"time"
)

// ResolvedAgent is what one agent of a stage runs with, after the hierarchy
// defaults → agent → chain → stage → stage's agent: the last that says something holds.
type ResolvedAgent struct {
	Name               string
	Type               string
	Description        string
	Strategy           string // StrategyFunctionCalling, StrategyReact or StrategySynthesis
	Provider           string // key of LLMProviders
	Backend            string // BackendGoogleNative or BackendLangChain
	CustomInstructions string
	MaxIterations      int
	IterationTimeout   time.Duration
	MCPServers         []string
	LLM                LLMProvider // the entry that Provider names
}

// ResolvedLLM is the model for one call that belongs to no agent.
type ResolvedLLM struct {
	Provider string
	Backend  string
	LLM      LLMProvider
}

// level is what one step of the hierarchy says; empty means nothing.
type level struct {
	agentType, provider, backend, strategy string
	maxIterations                          int
	mcpServers                             []string // nil says nothing, empty says none
}

// ResolveAgent returns what an agent of a stage runs with. Indexes that the chain
// does not have (it may have been shortened since a session began) give the zero
// ResolvedAgent, whose Name is empty.
func (c *Config) ResolveAgent(chain Chain, stageIndex, agentIndex int) ResolvedAgent {
	if stageIndex < 0 || stageIndex >= len(chain.Stages) {
		return ResolvedAgent{}
	}
	stage := chain.Stages[stageIndex]
	if agentIndex < 0 || agentIndex >= len(stage.Agents) {
		return ResolvedAgent{}
	}
	own := stage.Agents[agentIndex]
	agent := c.Agents[own.Name]
	merged := merge(
		c.defaultLevel(),
		level{
			agentType: agent.Type, backend: agent.LLMBackend, strategy: agent.IterationStrategy,
			maxIterations: agent.MaxIterations, mcpServers: agent.MCPServers,
		},
		chainLevel(chain),
		level{maxIterations: stage.MaxIterations, mcpServers: stage.MCPServers},
		level{
			agentType: own.Type, provider: own.LLMProvider, backend: own.LLMBackend, strategy: own.IterationStrategy,
			maxIterations: own.MaxIterations, mcpServers: own.MCPServers,
		},
	)
	strategy := canonicalStrategy(merged.strategy)
	if isSingleCall(merged.agentType) {
		strategy = StrategySynthesis
	}
	return ResolvedAgent{
		Name:               own.Name,
		Type:               merged.agentType,
		Description:        agent.Description,
		Strategy:           strategy,
		Provider:           merged.provider,
		Backend:            c.backend(merged),
		CustomInstructions: agent.CustomInstructions,
		MaxIterations:      merged.maxIterations,
		IterationTimeout:   c.Defaults.IterationTimeout,
		MCPServers:         slices.Clone(merged.mcpServers),
		LLM:                c.LLMProviders[merged.provider],
	}
}

// ResolveSummary returns the model for a chain's executive summary.
func (c *Config) ResolveSummary(chain Chain) ResolvedLLM {
	merged := merge(c.defaultLevel(), chainLevel(chain),
		level{provider: chain.ExecutiveSummaryProvider, backend: chain.ExecutiveSummaryBackend})
	return ResolvedLLM{Provider: merged.provider, Backend: c.backend(merged), LLM: c.LLMProviders[merged.provider]}
}

// SuccessPolicyOf returns when a stage succeeds: its own policy, else the default.
func (c *Config) SuccessPolicyOf(stage Stage) string {
	if stage.SuccessPolicy != "" {
		return stage.SuccessPolicy
	}
	return c.Defaults.SuccessPolicy
}

// UsedMCPServers lists the servers that some chain's agents get tools from, sorted.
// Chains that are built in count only where the user has none: a built-in that
// nobody asked for must not start programs.
func (c *Config) UsedMCPServers() []string {
	used := make(map[string]struct{})
	for _, chain := range c.activeChains() {
		for i, stage := range chain.Stages {
			for j := range stage.Agents {
				for _, id := range c.ResolveAgent(chain, i, j).MCPServers {
					used[id] = struct{}{}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(used))
}

// UsedLLMProviders lists the models that some chain needs, sorted; built-in chains
// count as in UsedMCPServers.
func (c *Config) UsedLLMProviders() []string {
	used := make(map[string]struct{})
	for _, chain := range c.activeChains() {
		used[c.ResolveSummary(chain).Provider] = struct{}{}
		for i, stage := range chain.Stages {
			for j := range stage.Agents {
				used[c.ResolveAgent(chain, i, j).Provider] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(used))
}

func (c *Config) activeChains() []Chain {
	var all, users []Chain
	for _, id := range slices.Sorted(maps.Keys(c.Chains)) {
		all = append(all, c.Chains[id])
		if _, written := c.marks[joinPath("agent_chains", id)]; written {
			users = append(users, c.Chains[id])
		}
	}
	if len(users) > 0 {
		return users
	}
	return all
}

func (c *Config) defaultLevel() level {
	return level{
		provider: c.Defaults.LLMProvider, backend: c.Defaults.LLMBackend, strategy: c.Defaults.IterationStrategy,
		maxIterations: c.Defaults.MaxIterations,
	}
}

func chainLevel(chain Chain) level {
	return level{
		provider: chain.LLMProvider, backend: chain.LLMBackend, strategy: chain.IterationStrategy,
		maxIterations: chain.MaxIterations, mcpServers: chain.MCPServers,
	}
}

// merge lays each level over the ones before it. A strategy that stands for a
// backend sets that as well, unless its own level names one.
func merge(levels ...level) level {
	var sum level
	for _, l := range levels {
		if l.backend == "" {
			l.backend = strategyBackend(l.strategy)
		}
		sum.agentType = over(sum.agentType, l.agentType)
		sum.provider = over(sum.provider, l.provider)
		sum.backend = over(sum.backend, l.backend)
		sum.strategy = over(sum.strategy, l.strategy)
		sum.maxIterations = over(sum.maxIterations, l.maxIterations)
		if l.mcpServers != nil {
			sum.mcpServers = l.mcpServers
		}
	}
	return sum
}

func over[T comparable](below, above T) T {
	var nothing T
	if above != nothing {
		return above
	}
	return below
}

// backend follows from the provider where nobody has named one.
func (c *Config) backend(l level) string {
	switch {
	case l.backend != "":
		return l.backend
	case c.LLMProviders[l.provider].Type == ProviderGoogle:
		return BackendGoogleNative
	default:
		return BackendLangChain
	}
}
