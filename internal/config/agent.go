package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// The kinds of agent. The empty type is an ordinary agent: it investigates with tools.
const (
	AgentTypeSynthesis   = "synthesis"
	AgentTypeExecSummary = "exec_summary"
	AgentTypeVerdict     = "verdict"
	AgentTypeScoring     = "scoring"
	AgentTypeAction      = "action"
)

// Agent is one entry of the agents section.
type Agent struct {
	Name string `yaml:"-"`

	Type               string        `yaml:"type" doc:"Role of the agent: empty (investigation), synthesis, exec_summary, verdict, scoring or action." enum:"@agent_type" later:"scoring,action"`
	Description        string        `yaml:"description" doc:"One-sentence description." later:"true" loose:"true"`
	MCPServers         []string      `yaml:"mcp_servers" doc:"MCP servers whose tools the agent can use." ref:"mcp_servers" only:"tools"`
	AllowedTools       []string      `yaml:"allowed_tools" doc:"Tools that the agent can use, across all its servers; all by default. A name can end in *." only:"tools"`
	DeniedTools        []string      `yaml:"denied_tools" doc:"Tools that the agent cannot use, in the same form. Takes precedence over allowed_tools." only:"tools"`
	ReadOnly           bool          `yaml:"read_only" doc:"Restrict the agent to tools that the server marks as read-only (readOnlyHint)." only:"tools"`
	CustomInstructions string        `yaml:"custom_instructions" doc:"Instructions for the agent, in plain text."`
	LLMBackend         string        `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
	IterationStrategy  string        `yaml:"iteration_strategy" doc:"How the agent uses the model; the older alternative to llm_backend." enum:"@strategy"`
	MaxIterations      int           `yaml:"max_iterations" doc:"Maximum number of LLM calls before the agent must conclude." min:"1" only:"tools"`
	NativeTools        *NativeTools  `yaml:"native_tools" doc:"Tools that the model's provider runs; used only while no MCP tools are bound."`
	Orchestrator       *Orchestrator `yaml:"orchestrator" doc:"Limits for agents that this agent starts." later:"true" loose:"true"`
	Skills             []string      `yaml:"skills" doc:"Skills that the agent can load." later:"true"`
	RequiredSkills     []string      `yaml:"required_skills" doc:"Skills that are always loaded." later:"true"`
}

// NativeTools selects the tools that a model's provider runs.
type NativeTools struct {
	GoogleSearch  *bool `yaml:"google_search" doc:"Web search."`
	CodeExecution *bool `yaml:"code_execution" doc:"Code execution."`
	URLContext    *bool `yaml:"url_context" doc:"Fetching pages by URL."`
}

// SubAgent is an agent that another agent can start. A plain string is its name.
type SubAgent struct {
	Name           string   `yaml:"name" doc:"Name of the agent." ref:"agents" required:"true" short:"true"`
	LLMProvider    string   `yaml:"llm_provider" doc:"Model of the agent." ref:"llm_providers"`
	LLMBackend     string   `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
	MaxIterations  int      `yaml:"max_iterations" doc:"Maximum number of LLM calls before it must conclude." min:"1"`
	MCPServers     []string `yaml:"mcp_servers" doc:"MCP servers whose tools it can use." ref:"mcp_servers"`
	RequiredSkills []string `yaml:"required_skills" doc:"Skills that are always loaded."`
	Skills         []string `yaml:"skills" doc:"Skills that it can load."`
}

// checkStageAgents finds agents that cannot work in their stage because of their type.
func (c *Config) checkStageAgents() []Problem {
	var problems []Problem
	for _, id := range slices.Sorted(maps.Keys(c.Chains)) {
		for i, stage := range c.Chains[id].Stages {
			for j, agent := range stage.Agents {
				path := fmt.Sprintf("%s.stages[%d].agents[%d]", joinPath("agent_chains", id), i, j)
				if message, hint := c.checkStageAgent(agent, i); message != "" {
					problems = append(problems, c.problem(path, message, hint))
				}
			}
		}
	}
	return problems
}

func (c *Config) checkStageAgent(agent StageAgent, stage int) (message, hint string) {
	agentType := cmp.Or(agent.Type, c.Agents[agent.Name].Type)
	switch {
	case agentType == AgentTypeExecSummary:
		return "an agent of type exec_summary cannot run in a stage",
			"every session ends with an executive summary; configure it as agents." + ExecSummaryAgent
	case agentType == AgentTypeVerdict:
		return "an agent of type verdict cannot run in a stage",
			"a verdict is written when the investigation ends; configure it as agents." + VerdictAgent
	case agentType == AgentTypeScoring:
		return "an agent of type scoring cannot run in a stage", "it would score a session that has not ended; remove it from the stage"
	case agentType == AgentTypeSynthesis && stage == 0:
		return "an agent of type synthesis cannot run in the first stage",
			"it works on the results of earlier stages; the results of several agents of one stage are synthesized automatically"
	default:
		return "", ""
	}
}
