package chain

import (
	"reflect"
	"slices"

	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/config"
)

// chat resolves the agent that answers questions. Its servers are the chat's own, else the chain's, else those of all stages
// combined, else the agent's. Unless the chat lists its servers itself, it may use only tools that an agent of the stages may
// use.
func (r resolver) chat(chain config.Chain, stages []Stage) Agent {
	own := chain.Chat
	name := override(config.ChatAgent, own.Agent)

	chat := r.merged(name, merge(r.defaultLevel(), r.agentLevel(name), level{mcpServers: stageServers(stages)}, r.chainLevel(chain),
		level{
			provider: own.LLMProvider, backend: own.LLMBackend, strategy: own.IterationStrategy,
			maxIterations: own.MaxIterations, mcpServers: own.MCPServers,
			rule: agent.ToolRule{Allowed: own.AllowedTools, Denied: own.DeniedTools, ReadOnly: own.ReadOnly},
		}))

	if own.MCPServers == nil && chat.hasTools() {
		if rule := stageRule(chat, stages); !rule.IsZero() {
			chat.ToolRules = append(chat.ToolRules, rule)
		}
	}

	return chat
}

// stageServers returns the servers whose tools the agents of all stages may call, in order, or nil if there are none.
func stageServers(stages []Stage) []string {
	var all []string

	for a := range (Chain{Stages: stages}).agents() {
		for _, name := range a.callable() {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}

	return all
}

// stageRule limits the chat to what at least one agent of the stages may call. It is zero if no rule of these agents affects
// the chat. A server that no agent has comes from the chain or the chat's agent, and nothing else limits it.
func stageRule(chat Agent, stages []Stage) agent.ToolRule {
	var (
		grants  []agent.ToolGrant
		limited = chat.callable() // servers where no agent may call every tool
		unused  = chat.callable() // servers that no agent has
	)

	for a := range (Chain{Stages: stages}).agents() {
		grant := agent.ToolGrant{Rules: a.ToolRules}

		for _, name := range a.callable() {
			if slices.Contains(chat.callable(), name) {
				grant.Servers = append(grant.Servers, name)
			}
		}

		granted := func(name string) bool { return slices.Contains(grant.Servers, name) }
		unused = slices.DeleteFunc(unused, granted)

		if len(grant.Rules) == 0 {
			limited = slices.DeleteFunc(limited, granted)
		}

		// Replicas have identical grants.
		same := func(other agent.ToolGrant) bool { return reflect.DeepEqual(other, grant) }
		if len(grant.Servers) > 0 && !slices.ContainsFunc(grants, same) {
			grants = append(grants, grant)
		}
	}

	if len(limited) == len(unused) {
		return agent.ToolRule{}
	}

	if len(unused) > 0 {
		grants = append(grants, agent.ToolGrant{Servers: unused})
	}

	return agent.ToolRule{AnyOf: grants}
}

// callable returns the servers whose tools the agent may call.
func (a Agent) callable() []string {
	if !a.hasTools() {
		return nil
	}

	names := make([]string, len(a.Servers))
	for i, s := range a.Servers {
		names[i] = s.Name
	}

	return names
}
