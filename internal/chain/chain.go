package chain

import (
	"iter"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
)

// Chain is a chain as the engine runs it, with all levels of configuration merged.
type Chain struct {
	ID     string  `json:"id"`
	Stages []Stage `json:"stages"`
	// Summary configures the executive summary.
	Summary Summary `json:"summary"`
	// Verdict configures the verdict; nil means that none is written.
	Verdict *Summary `json:"verdict,omitempty"`
	// Past configures what agents see of past sessions.
	Past Past `json:"past_investigations,omitzero"`
	// Chat answers questions about a finished session; nil means that the chain does not accept questions.
	Chat *Agent `json:"chat,omitempty"`
}

// Past configures what the agents of a chain see of past sessions.
type Past struct {
	// Prompt adds similar sessions to the prompt of investigating agents.
	Prompt bool `json:"prompt,omitempty"`
	// Tool gives agents with tools an additional one that searches past sessions.
	Tool bool `json:"tool,omitempty"`
}

// StageCount returns how many stages a successful session of the chain has: a synthesis follows each stage with several agents.
func (c Chain) StageCount() int {
	count := len(c.Stages)

	for _, s := range c.Stages {
		if len(s.Agents) > 1 {
			count++
		}
	}

	return count
}

// agents iterates over all agents that a session of the chain can run.
func (c Chain) agents() iter.Seq[Agent] {
	return func(yield func(Agent) bool) {
		for _, s := range c.Stages {
			for _, a := range s.Agents {
				if !yield(a) {
					return
				}
			}

			if len(s.Agents) > 1 && !yield(s.Synthesis) {
				return
			}
		}

		if c.Chat != nil {
			yield(*c.Chat)
		}
	}
}

// MayAsk reports whether a call of an agent of the chain may have to wait for a person, or may be refused.
func (c Chain) MayAsk() bool {
	for a := range c.agents() {
		if a.Spec.Approvals.MayAsk() {
			return true
		}
	}

	return false
}

// AsksUnnamed reports whether a call of an agent of the chain may have to wait because no rule names its tool.
func (c Chain) AsksUnnamed() bool {
	for a := range c.agents() {
		if a.Spec.Approvals.Unnamed == agent.PolicyAsk {
			return true
		}
	}

	return false
}

// Summary configures how the executive summary or the verdict is written.
type Summary struct {
	// Models are tried in this order until one responds.
	Models []agent.Fallback `json:"models"`
	// Limit is the time limit of one call.
	Limit time.Duration `json:"limit_ns"`
	// Instructions are the custom instructions of the agent that writes the summary.
	Instructions string `json:"instructions,omitempty"`
}

// Stage is one stage of a chain. Its agents run concurrently; each replica is a separate agent.
type Stage struct {
	Name     string              `json:"name"`
	Policy   tarsy.SuccessPolicy `json:"policy"`
	Parallel tarsy.ParallelType  `json:"parallel"`
	Agents   []Agent             `json:"agents"`
	// Synthesis combines the analyses of several agents.
	Synthesis Agent `json:"synthesis"`
}

// Agent is one agent of a stage, with the MCP servers and tools that it may use. Its Spec does not contain servers, because an
// alert may select some of them.
type Agent struct {
	Spec    agent.Spec                 `json:"spec"`
	Servers []tarsy.MCPServerSelection `json:"servers,omitempty"`
	// ToolRules limit the tools of the agent's servers: every rule must allow a tool.
	ToolRules []agent.ToolRule `json:"tool_rules,omitempty"`
}

// Server has the instructions for agents about an MCP server, and how its long results are shortened.
type Server struct {
	Instructions string `json:"instructions,omitempty"`
	// Digest has no provider if the agent's own model is to be used; nil means that results are passed on in full.
	Digest *agent.Digest `json:"digest,omitempty"`
}
