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
	// Summary is the model that writes the executive summary.
	Summary Model
}

// Model is which model to ask, and how.
type Model struct {
	Provider string
	Model    string
	Backend  string
	// Limit is how long one call may take.
	Limit time.Duration
}

// RecipeStage is one stage: its agents run at once.
type RecipeStage struct {
	Name   string
	Policy tarsy.SuccessPolicy
	Agents []RecipeAgent
}

// RecipeAgent is one agent of a stage, with the MCP servers that it may use.
type RecipeAgent struct {
	Spec     agent.Spec
	Strategy string
	Servers  []ServerTools
}

// ServerTools is an MCP server and the tools of it that may be used; none means all.
type ServerTools struct {
	Server string
	Tools  []string
}
