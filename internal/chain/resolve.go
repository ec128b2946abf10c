package chain

import (
	"fmt"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/config"
)

// resolver merges the levels of a configuration.
type resolver struct {
	cfg *config.Config
	// provider overrides the provider of every agent of a chain; empty means the configured ones. The models that shorten the
	// results of MCP servers belong to the servers and are not overridden.
	provider string
}

// chain resolves a chain.
func (r resolver) chain(configured config.Chain) Chain {
	c := Chain{ID: configured.ID, Summary: r.summary(configured)}
	c.Verdict = r.verdict(configured, c.Summary)

	c.Past = Past(r.cfg.Defaults.PastInvestigations)
	if configured.PastInvestigations != nil {
		c.Past = Past(*configured.PastInvestigations)
	}

	for i := range configured.Stages {
		c.Stages = append(c.Stages, r.stage(configured, i))
	}

	if configured.Chat != nil && configured.Chat.Enabled {
		chat := r.chat(configured, c.Stages)
		c.Chat = &chat
	}

	return c
}

// stage resolves a stage with its agents, each repeated once per replica.
func (r resolver) stage(chain config.Chain, index int) Stage {
	configured := chain.Stages[index]
	stage := Stage{
		Name: configured.Name, Policy: tarsy.SuccessPolicy(override(r.cfg.Defaults.SuccessPolicy, configured.SuccessPolicy)),
		Parallel: tarsy.ParallelMultiAgent, Synthesis: r.synthesis(chain, index),
	}

	if configured.Replicas > 1 {
		stage.Parallel = tarsy.ParallelReplica
	}

	for j := range configured.Agents {
		a := r.agent(chain, index, j)

		if configured.Replicas <= 1 {
			stage.Agents = append(stage.Agents, a)

			continue
		}

		for n := range configured.Replicas {
			replica := a
			replica.Spec.Name = fmt.Sprintf("%s-%d", a.Spec.Name, n+1)
			stage.Agents = append(stage.Agents, replica)
		}
	}

	return stage
}

func (r resolver) agent(chain config.Chain, stageIndex, agentIndex int) Agent {
	stage := chain.Stages[stageIndex]
	own := stage.Agents[agentIndex]

	return r.merged(own.Name, merge(
		r.defaultLevel(),
		r.agentLevel(own.Name),
		r.chainLevel(chain),
		level{
			maxIterations: stage.MaxIterations, mcpServers: stage.MCPServers,
			fallbacks: r.fallbacks(stage.FallbackProviders, stage.FallbackList),
		},
		level{
			agentType: own.Type, provider: own.LLMProvider, backend: own.LLMBackend, strategy: own.IterationStrategy,
			maxIterations: own.MaxIterations, mcpServers: own.MCPServers,
			fallbacks: r.fallbacks(own.FallbackProviders, own.FallbackList),
			rule:      agent.ToolRule{Allowed: own.AllowedTools, Denied: own.DeniedTools, ReadOnly: own.ReadOnly},
		},
	))
}

// synthesis resolves the agent that combines the analyses of a stage's agents. It has no tools.
func (r resolver) synthesis(chain config.Chain, stageIndex int) Agent {
	stage := chain.Stages[stageIndex]

	own := stage.Synthesis
	if own == nil {
		own = &config.Synthesis{}
	}

	name := override(config.SynthesisAgent, own.Agent)
	merged := merge(r.defaultLevel(), r.agentLevel(name), r.chainLevel(chain),
		level{fallbacks: r.fallbacks(stage.FallbackProviders, stage.FallbackList)},
		level{provider: own.LLMProvider, backend: own.LLMBackend, strategy: own.IterationStrategy})
	merged.agentType, merged.mcpServers = config.AgentTypeSynthesis, nil

	return r.merged(name, merged)
}

// summary resolves the models of a chain's executive summary.
func (r resolver) summary(chain config.Chain) Summary {
	merged := merge(r.defaultLevel(),
		level{
			provider: r.cfg.Defaults.ExecutiveSummaryProvider, backend: r.cfg.Defaults.ExecutiveSummaryBackend,
			fallbacks: r.fallbacks(nil, r.cfg.Defaults.ExecutiveSummaryFallbackList),
		},
		r.agentLevel(config.ExecSummaryAgent),
		r.chainLevel(chain),
		level{provider: chain.ExecutiveSummaryProvider, backend: chain.ExecutiveSummaryBackend})
	merged = r.withProvider(merged)
	first := r.model(merged.provider, r.backend(merged), nil)
	// The single call of a summary uses no native tools, so its fallbacks do not either.
	models := append([]agent.Fallback{first}, r.models(merged, nil)...)

	return Summary{
		Models: models, Limit: r.cfg.Defaults.IterationTimeout,
		Instructions: r.cfg.Agents[config.ExecSummaryAgent].CustomInstructions,
	}
}

// verdict resolves how the verdict of a chain is written: with the models of its summary.
func (r resolver) verdict(chain config.Chain, summary Summary) *Summary {
	wanted := r.cfg.Defaults.Verdict
	if chain.Verdict != nil {
		wanted = *chain.Verdict
	}

	if !wanted {
		return nil
	}

	summary.Instructions = r.cfg.Agents[config.VerdictAgent].CustomInstructions

	return &summary
}

// server resolves an MCP server's instructions for agents. The model that shortens its results has no fallbacks: a result that
// cannot be shortened is truncated.
func (r resolver) server(configured config.MCPServer) Server {
	server := Server{Instructions: configured.Instructions}

	s := configured.Summarization
	if s == nil || !s.Enabled {
		return server
	}

	server.Digest = &agent.Digest{Threshold: s.SizeThresholdTokens, MaxTokens: s.SummaryMaxTokenLimit}

	var common level
	if d := r.cfg.Defaults.Summarization; d != nil {
		common = level{provider: d.LLMProvider, backend: d.LLMBackend}
	}

	if merged := merge(common, level{provider: s.LLMProvider, backend: s.LLMBackend}); merged.provider != "" {
		server.Digest.Provider, server.Digest.Backend = merged.provider, r.backend(merged)
		server.Digest.Model = r.cfg.LLMProviders[merged.provider].Model
	}

	return server
}

func (r resolver) defaultLevel() level {
	d := r.cfg.Defaults

	return level{
		provider: d.LLMProvider, backend: d.LLMBackend, strategy: d.IterationStrategy,
		maxIterations: d.MaxIterations, fallbacks: r.fallbacks(d.FallbackProviders, d.FallbackList),
	}
}

func (r resolver) chainLevel(chain config.Chain) level {
	return level{
		provider: chain.LLMProvider, backend: chain.LLMBackend, strategy: chain.IterationStrategy,
		maxIterations: chain.MaxIterations, mcpServers: chain.MCPServers,
		fallbacks: r.fallbacks(chain.FallbackProviders, chain.FallbackList),
	}
}

func (r resolver) agentLevel(name string) level {
	configured, pairing := r.cfg.Agents[name], r.cfg.Defaults.Agents[name]

	return merge(
		level{provider: pairing.LLMProvider, backend: pairing.LLMBackend, fallbacks: r.fallbacks(nil, pairing.FallbackList)},
		level{
			agentType: configured.Type, backend: configured.LLMBackend, strategy: configured.IterationStrategy,
			maxIterations: configured.MaxIterations, mcpServers: configured.MCPServers,
			rule: agent.ToolRule{Allowed: configured.AllowedTools, Denied: configured.DeniedTools, ReadOnly: configured.ReadOnly},
		},
	)
}

// merged returns an agent with the settings of all levels combined.
func (r resolver) merged(name string, l level) Agent {
	l = r.withProvider(l)
	configured := r.cfg.Agents[name]
	model := r.model(l.provider, r.backend(l), configured.NativeTools)
	a := Agent{Spec: agent.Spec{
		Name: name, Strategy: strategyOf(l.strategy, l.agentType), CustomInstructions: configured.CustomInstructions,
		MaxIterations: l.maxIterations, IterationTimeout: r.cfg.Defaults.IterationTimeout,
		Provider: model.Provider, Model: model.Model, Backend: model.Backend,
		RepeatedCalls:   agent.RepeatedCalls(r.cfg.Defaults.RepeatedCalls),
		MaxResultTokens: model.MaxResultTokens, NativeTools: model.NativeTools, Fallbacks: r.models(l, configured.NativeTools),
	}}

	for _, id := range l.mcpServers {
		a.Servers = append(a.Servers, tarsy.MCPServerSelection{Name: id})
	}

	if a.hasTools() {
		a.ToolRules = l.rules
		a.Spec.Approvals = r.approvals(name, l.mcpServers)
	}

	return a
}

// approvals resolves which calls of an agent need an approval: the rules in their order, then the writing tools of its servers.
func (r resolver) approvals(name string, servers []string) agent.Approvals {
	var approvals agent.Approvals

	for i, rule := range r.cfg.Approvals.Rules {
		if rule.Agent != "" && !agent.MatchesTool(rule.Agent, name) {
			continue
		}

		approvals.Rules = append(approvals.Rules, agent.ApprovalRule{
			Name: fmt.Sprintf("approvals.rules[%d]", i), Server: rule.Server, Tool: rule.Tool, Arguments: rule.Arguments, Policy: agent.Policy(rule.Policy),
		})
	}

	for _, id := range servers {
		for _, tool := range r.cfg.MCPServers[id].WritingTools {
			approvals.Rules = append(approvals.Rules, agent.ApprovalRule{
				Name: "mcp_servers." + id + ".writing_tools", Server: id, Tool: tool, Policy: agent.PolicyAsk,
			})
		}
	}

	if agent.Policy(r.cfg.Approvals.Unnamed) == agent.PolicyAsk {
		approvals.Unnamed = agent.PolicyAsk
	}

	if len(approvals.Rules) > 0 || approvals.Unnamed != "" {
		approvals.ExpiresAfter = r.cfg.Approvals.ExpiresAfter
	}

	return approvals
}

// withProvider applies the provider requested for a session. The configured backend belongs to another provider, so only the
// one implied by the strategy is kept.
func (r resolver) withProvider(l level) level {
	if r.provider != "" && r.provider != l.provider {
		l.provider, l.backend = r.provider, config.StrategyBackend(l.strategy)
	}

	return l
}

// fallbacks returns the fallback models set by one level: its own entries, or those of the list that it names; nil if it sets
// none.
func (r resolver) fallbacks(own []config.FallbackProvider, list string) []config.FallbackProvider {
	if own != nil || list == "" {
		return own
	}

	named := make([]config.FallbackProvider, 0, len(r.cfg.FallbackLists[list]))
	for _, entry := range r.cfg.FallbackLists[list] {
		named = append(named, config.FallbackProvider{Provider: entry.LLMProvider, Backend: entry.LLMBackend})
	}

	return named
}

// models returns the fallbacks of a level without the first model and duplicates: calling a provider through another backend
// would repeat the same call. Own is the agent's setting of native tools.
func (r resolver) models(l level, own *config.NativeTools) []agent.Fallback {
	var models []agent.Fallback

	tried := []string{l.provider}

	for _, f := range l.fallbacks {
		if slices.Contains(tried, f.Provider) {
			continue
		}

		tried = append(tried, f.Provider)
		models = append(models, r.model(f.Provider, r.backend(level{provider: f.Provider, backend: f.Backend}), own))
	}

	return models
}

func (r resolver) model(provider, backend string, own *config.NativeTools) agent.Fallback {
	configured := r.cfg.LLMProviders[provider]

	return agent.Fallback{
		Provider: provider, Model: configured.Model, Backend: backend, MaxResultTokens: configured.MaxToolResultTokens,
		NativeTools: nativeTools(configured.NativeTools, own),
	}
}

// backend defaults to the provider's backend if no level sets one.
func (r resolver) backend(l level) string {
	switch {
	case l.backend != "":
		return l.backend
	case r.cfg.LLMProviders[l.provider].Type == config.ProviderGoogle:
		return config.BackendGoogleNative
	default:
		return config.BackendLangChain
	}
}
