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
	NativeTools        NativeToolSet
	Fallbacks          []ResolvedModel // tried in turn when LLM fails
}

// NativeToolSet says which tools the model's provider may run itself.
type NativeToolSet struct {
	GoogleSearch  bool
	CodeExecution bool
	URLContext    bool
}

// ResolvedLLM is the model for one call that belongs to no agent.
type ResolvedLLM struct {
	Provider  string
	Backend   string
	LLM       LLMProvider
	Fallbacks []ResolvedModel
}

// ResolvedModel is one model to fall back on.
type ResolvedModel struct {
	Provider string // key of LLMProviders
	LLM      LLMProvider
	Backend  string
	// NativeTools are those of this provider, as far as the agent does not say otherwise.
	NativeTools NativeToolSet
}

// level is what one step of the hierarchy says; empty means nothing.
type level struct {
	agentType, provider, backend, strategy string
	maxIterations                          int
	mcpServers                             []string           // nil says nothing, empty says none
	fallbacks                              []FallbackProvider // likewise
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
	return c.resolved(own.Name, merge(
		c.defaultLevel(),
		c.agentLevel(own.Name),
		c.chainLevel(chain),
		level{
			maxIterations: stage.MaxIterations, mcpServers: stage.MCPServers,
			fallbacks: c.fallbacks(stage.FallbackProviders, stage.FallbackList),
		},
		level{
			agentType: own.Type, provider: own.LLMProvider, backend: own.LLMBackend, strategy: own.IterationStrategy,
			maxIterations: own.MaxIterations, mcpServers: own.MCPServers,
			fallbacks: c.fallbacks(own.FallbackProviders, own.FallbackList),
		},
	))
}

// ResolveSynthesis returns what the agent runs with that makes one analysis of a stage's agents.
func (c *Config) ResolveSynthesis(chain Chain, stageIndex int) ResolvedAgent {
	stage := chain.Stages[stageIndex]
	own := stage.Synthesis
	if own == nil {
		own = &Synthesis{}
	}
	name := over(builtinSynthesis, own.Agent)
	merged := merge(c.defaultLevel(), c.agentLevel(name), c.chainLevel(chain),
		level{fallbacks: c.fallbacks(stage.FallbackProviders, stage.FallbackList)},
		level{provider: own.LLMProvider, backend: own.LLMBackend, strategy: own.IterationStrategy})
	merged.agentType, merged.mcpServers = AgentTypeSynthesis, nil
	return c.resolved(name, merged)
}

// ResolveChat returns what the agent runs with that answers questions, and whether the chain takes any. Its servers
// are the chat's own, else the chain's, else those of all stages together, else the agent's.
func (c *Config) ResolveChat(chain Chain) (ResolvedAgent, bool) {
	if chain.Chat == nil || !chain.Chat.Enabled {
		return ResolvedAgent{}, false
	}
	own := chain.Chat
	name := over(builtinChat, own.Agent)
	merged := merge(c.defaultLevel(), c.agentLevel(name), level{mcpServers: c.stageServers(chain)}, c.chainLevel(chain),
		level{
			provider: own.LLMProvider, backend: own.LLMBackend, strategy: own.IterationStrategy,
			maxIterations: own.MaxIterations, mcpServers: own.MCPServers,
		})
	return c.resolved(name, merged), true
}

// stageServers are the servers of all stages, in order, nil if there are none.
func (c *Config) stageServers(chain Chain) []string {
	var all []string
	for i, stage := range chain.Stages {
		for j := range stage.Agents {
			for _, id := range c.ResolveAgent(chain, i, j).MCPServers {
				if !slices.Contains(all, id) {
					all = append(all, id)
				}
			}
		}
	}
	return all
}

func (c *Config) agentLevel(name string) level {
	agent, pairing := c.Agents[name], c.Defaults.Agents[name]
	return merge(
		level{provider: pairing.LLMProvider, backend: pairing.LLMBackend, fallbacks: c.fallbacks(nil, pairing.FallbackList)},
		level{
			agentType: agent.Type, backend: agent.LLMBackend, strategy: agent.IterationStrategy,
			maxIterations: agent.MaxIterations, mcpServers: agent.MCPServers,
		},
	)
}

// resolved is an agent with what all levels together say.
func (c *Config) resolved(name string, merged level) ResolvedAgent {
	agent := c.Agents[name]
	strategy := canonicalStrategy(merged.strategy)
	if isSingleCall(merged.agentType) {
		strategy = StrategySynthesis
	}
	return ResolvedAgent{
		Name:               name,
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
		NativeTools:        nativeTools(c.LLMProviders[merged.provider].NativeTools, agent.NativeTools),
		Fallbacks:          c.resolvedFallbacks(merged, agent.NativeTools),
	}
}

// nativeTools lays what each level says over the ones before it; what nobody mentions is off.
func nativeTools(levels ...*NativeTools) NativeToolSet {
	var set NativeToolSet
	for _, l := range levels {
		if l == nil {
			continue
		}
		set.GoogleSearch = said(set.GoogleSearch, l.GoogleSearch)
		set.CodeExecution = said(set.CodeExecution, l.CodeExecution)
		set.URLContext = said(set.URLContext, l.URLContext)
	}
	return set
}

func said(below bool, above *bool) bool {
	if above == nil {
		return below
	}
	return *above
}

// ResolveDigest returns the model that shortens a server's long results; an empty provider means the agent's own. It has
// no fallbacks: a result that cannot be shortened is cut.
func (c *Config) ResolveDigest(s Summarization) ResolvedLLM {
	var common level
	if c.Defaults.Summarization != nil {
		common = level{provider: c.Defaults.Summarization.LLMProvider, backend: c.Defaults.Summarization.LLMBackend}
	}
	merged := merge(common, level{provider: s.LLMProvider, backend: s.LLMBackend})
	if merged.provider == "" {
		return ResolvedLLM{}
	}
	return ResolvedLLM{Provider: merged.provider, Backend: c.backend(merged), LLM: c.LLMProviders[merged.provider]}
}

// ResolveSummary returns the models for a chain's executive summary.
func (c *Config) ResolveSummary(chain Chain) ResolvedLLM {
	merged := merge(c.defaultLevel(),
		level{
			provider: c.Defaults.ExecutiveSummaryProvider, backend: c.Defaults.ExecutiveSummaryBackend,
			fallbacks: c.fallbacks(nil, c.Defaults.ExecutiveSummaryFallbackList),
		},
		c.chainLevel(chain),
		level{provider: chain.ExecutiveSummaryProvider, backend: chain.ExecutiveSummaryBackend})
	return ResolvedLLM{
		Provider: merged.provider, Backend: c.backend(merged), LLM: c.LLMProviders[merged.provider], Fallbacks: c.resolvedFallbacks(merged, nil),
	}
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
		chat, _ := c.ResolveChat(chain)
		for _, id := range chat.MCPServers {
			used[id] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(used))
}

// UsedLLMProviders lists the models that some chain needs or falls back on, sorted;
// built-in chains count as in UsedMCPServers.
func (c *Config) UsedLLMProviders() []string {
	used := make(map[string]struct{})
	use := func(first string, fallbacks []ResolvedModel) {
		used[first] = struct{}{}
		for _, f := range fallbacks {
			used[f.Provider] = struct{}{}
		}
	}
	for _, chain := range c.activeChains() {
		summary := c.ResolveSummary(chain)
		use(summary.Provider, summary.Fallbacks)
		for i, stage := range chain.Stages {
			for j := range stage.Agents {
				agent := c.ResolveAgent(chain, i, j)
				use(agent.Provider, agent.Fallbacks)
			}
			if len(stage.Agents) > 1 || stage.Replicas > 1 {
				synthesis := c.ResolveSynthesis(chain, i)
				use(synthesis.Provider, synthesis.Fallbacks)
			}
		}
		if chat, ok := c.ResolveChat(chain); ok {
			use(chat.Provider, chat.Fallbacks)
		}
	}
	for _, id := range c.UsedMCPServers() {
		if s := c.MCPServers[id].Summarization; s != nil && s.Enabled && c.ResolveDigest(*s).Provider != "" {
			used[c.ResolveDigest(*s).Provider] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(used))
}

// ConfiguredLLMProviders lists the models that the files name, besides those of
// UsedLLMProviders, sorted.
func (c *Config) ConfiguredLLMProviders() []string {
	names := c.UsedLLMProviders()
	for name := range c.LLMProviders {
		if _, written := c.marks[joinPath("llm_providers", name)]; written {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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
		maxIterations: c.Defaults.MaxIterations, fallbacks: c.fallbacks(c.Defaults.FallbackProviders, c.Defaults.FallbackList),
	}
}

func (c *Config) chainLevel(chain Chain) level {
	return level{
		provider: chain.LLMProvider, backend: chain.LLMBackend, strategy: chain.IterationStrategy,
		maxIterations: chain.MaxIterations, mcpServers: chain.MCPServers,
		fallbacks: c.fallbacks(chain.FallbackProviders, chain.FallbackList),
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
		if l.fallbacks != nil {
			sum.fallbacks = l.fallbacks
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
