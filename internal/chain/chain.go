package chain

import (
	"iter"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
)

// Chain is a chain as the engine follows it, with every level of configuration merged.
type Chain struct {
	ID     string
	Stages []Stage
	// Summary is how the executive summary is written.
	Summary Summary
	// Chat answers questions about a finished session; nil means that the chain takes none.
	Chat *Agent
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

// Summary is how the executive summary is written.
type Summary struct {
	// Models are called in this order, until one answers.
	Models []agent.Fallback
	// Limit is how long one call may take.
	Limit time.Duration
}

// Stage is one stage of a chain. Its agents run concurrently; each replica is an agent of its own.
type Stage struct {
	Name     string
	Policy   tarsy.SuccessPolicy
	Parallel tarsy.ParallelType
	Agents   []Agent
	// Synthesis turns the analyses of several agents into one.
	Synthesis Agent
}

// Agent is one agent of a stage, with the MCP servers that it may use. Its Spec holds nothing about servers, because an
// alert may select others.
type Agent struct {
	Spec    agent.Spec
	Servers []tarsy.MCPServerSelection
}

// Server is what agents are told about an MCP server, and how its long results are shortened.
type Server struct {
	Instructions string
	// Digest has no provider where the agent's own model is meant; nil means that results are passed on whole.
	Digest *agent.Digest
}
