package engine

import (
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
)

// Recipe is a chain as the engine follows it: every level of configuration has spoken.
type Recipe struct {
	ID     string
	Stages []RecipeStage
	// Summary is who writes the executive summary.
	Summary RecipeSummary
	// Chat answers questions about a session that is over; nil means that the chain takes none.
	Chat *RecipeAgent
}

// StageCount is how many stages a session of the chain has if all goes well: a synthesis follows each stage of several
// agents.
func (r Recipe) StageCount() int {
	count := len(r.Stages)

	for _, s := range r.Stages {
		if len(s.Agents) > 1 {
			count++
		}
	}

	return count
}

// RecipeSummary is how the executive summary is written.
type RecipeSummary struct {
	// Models are asked in this order, until one answers.
	Models []agent.Fallback
	// Limit is how long one call may take.
	Limit time.Duration
}

// RecipeStage is one stage: its agents run at once. Replicas are agents of their own.
type RecipeStage struct {
	Name     string
	Policy   tarsy.SuccessPolicy
	Parallel tarsy.ParallelType
	Agents   []RecipeAgent
	// Synthesis makes one analysis of several agents'.
	Synthesis RecipeAgent
}

// RecipeAgent is one agent of a stage, with the MCP servers that it may use. Its Spec knows nothing of servers yet:
// an alert may choose others.
type RecipeAgent struct {
	Spec    agent.Spec
	Servers []ServerTools
}

// ServerTools is an MCP server and the tools of it that may be used; none means all.
type ServerTools struct {
	Server string
	Tools  []string
}

// Server is what agents are told of an MCP server, and how its long results are shortened.
type Server struct {
	Instructions string
	// Digest has no provider where the agent's own model is meant; nil means that results are passed on whole.
	Digest *agent.Digest
}
