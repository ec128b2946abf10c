package chain

import (
	"iter"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
)

// Chain is a chain as the engine follows it, with every level of configuration merged.
type Chain struct {
	ID     string  `json:"id"`
	Stages []Stage `json:"stages"`
	// Summary is how the executive summary is written.
	Summary Summary `json:"summary"`
	// Verdict is how the verdict is written; nil means that there is none.
	Verdict *Summary `json:"verdict,omitempty"`
	// Past is what agents are shown of past sessions.
	Past Past `json:"past_investigations,omitzero"`
	// Chat answers questions about a finished session; nil means that the chain takes none.
	Chat *Agent `json:"chat,omitempty"`
}

// Past is what agents of a chain are shown of past sessions.
type Past struct {
	// Prompt adds similar sessions to the prompt of agents that investigate.
	Prompt bool `json:"prompt,omitempty"`
	// Tool gives agents with tools one that searches past sessions.
	Tool bool `json:"tool,omitempty"`
}

// StageCount is how many stages a session of the chain has if all goes well: a synthesis follows each stage of several
// agents.
func (c Chain) StageCount() int {
	count := len(c.Stages)

	for _, s := range c.Stages {
		if len(s.Agents) > 1 {
			count++
		}
	}

	return count
}

// agents are all agents that a session of the chain may run.
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

// AsksUnnamed reports whether a call of an agent of the chain may have to wait because nothing names its tool.
func (c Chain) AsksUnnamed() bool {
	for a := range c.agents() {
		if a.Spec.Approvals.Unnamed == agent.PolicyAsk {
			return true
		}
	}

	return false
}

// Summary is how the executive summary or the verdict is written.
type Summary struct {
	// Models are called in this order, until one answers.
	Models []agent.Fallback `json:"models"`
	// Limit is how long one call may take.
	Limit time.Duration `json:"limit_ns"`
	// Instructions are the custom instructions of the agent that writes it.
	Instructions string `json:"instructions,omitempty"`
}

// Stage is one stage of a chain. Its agents run concurrently; each replica is an agent of its own.
type Stage struct {
	Name     string              `json:"name"`
	Policy   tarsy.SuccessPolicy `json:"policy"`
	Parallel tarsy.ParallelType  `json:"parallel"`
	Agents   []Agent             `json:"agents"`
	// Synthesis turns the analyses of several agents into one.
	Synthesis Agent `json:"synthesis"`
}

// Agent is one agent of a stage, with the MCP servers and tools that it may use. Its Spec holds nothing about servers, because
// an alert may select some of them.
type Agent struct {
	Spec    agent.Spec                 `json:"spec"`
	Servers []tarsy.MCPServerSelection `json:"servers,omitempty"`
	// ToolRules limit the tools of its servers: each rule must allow a tool.
	ToolRules []agent.ToolRule `json:"tool_rules,omitempty"`
}

// Server is what agents are told about an MCP server, and how its long results are shortened.
type Server struct {
	Instructions string `json:"instructions,omitempty"`
	// Digest has no provider where the agent's own model is meant; nil means that results are passed on whole.
	Digest *agent.Digest `json:"digest,omitempty"`
}
