package config

// The values of success_policy.
const (
	SuccessAny = "any"
	SuccessAll = "all"
)

// Chain is one entry of agent_chains: stages that run in order for some alert types.
type Chain struct {
	ID string `yaml:"-"`

	AlertTypes               []string            `yaml:"alert_types" doc:"Alert types of this chain; each type can belong to only one chain." required:"true"`
	Description              string              `yaml:"description" doc:"One-sentence description." loose:"true"`
	Stages                   []Stage             `yaml:"stages" doc:"Stages, in order of execution." required:"true"`
	LLMProvider              string              `yaml:"llm_provider" doc:"Model for the whole chain." ref:"llm_providers" loose:"true"`
	LLMBackend               string              `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc" loose:"true"`
	IterationStrategy        string              `yaml:"iteration_strategy" doc:"How the chain's agents use the model; the older alternative to llm_backend." enum:"@strategy" loose:"true"`
	MaxIterations            int                 `yaml:"max_iterations" doc:"Maximum number of LLM calls before an agent must conclude." min:"1" loose:"true"`
	MCPServers               []string            `yaml:"mcp_servers" doc:"MCP servers whose tools the chain's agents can use, instead of the agents' own." ref:"mcp_servers"`
	ExecutiveSummaryProvider string              `yaml:"executive_summary_provider" doc:"Model for the executive summary." ref:"llm_providers" loose:"true"`
	ExecutiveSummaryBackend  string              `yaml:"executive_summary_backend" doc:"Backend for the executive summary." enum:"@backend" only:"grpc" loose:"true"`
	Verdict                  *bool               `yaml:"verdict" doc:"Write a verdict when the investigation ends; the default is defaults.verdict."`
	PastInvestigations       *PastInvestigations `yaml:"past_investigations" doc:"How agents use similar past sessions, instead of defaults.past_investigations."`
	FallbackProviders        []FallbackProvider  `yaml:"fallback_providers" doc:"Models to try in order when the first one fails." loose:"true"`
	FallbackList             string              `yaml:"fallback_list" doc:"Named list of fallback models, instead of fallback_providers." ref:"fallback_lists" loose:"true"`
	SubAgents                []SubAgent          `yaml:"sub_agents" doc:"Agents that the chain's agents can start." later:"true" loose:"true"`
	LabelMap                 string              `yaml:"label_map" doc:"Labels for finished sessions." ref:"label_maps" later:"true" loose:"true"`
	ComposeProvider          string              `yaml:"compose_provider" doc:"Model that composes amended reports." ref:"llm_providers" later:"true" loose:"true"`
	ComposeBackend           string              `yaml:"compose_backend" doc:"Backend for composing." enum:"@backend" later:"true" loose:"true"`
	ComposeFallbackList      string              `yaml:"compose_fallback_list" doc:"Fallback list for composing." ref:"fallback_lists" later:"true" loose:"true"`
	Chat                     *Chat               `yaml:"chat" doc:"Follow-up questions."`
	Scoring                  *Scoring            `yaml:"scoring" doc:"Scoring of finished sessions." later:"true"`
}

// Stage is one step of a chain; its agents run concurrently.
type Stage struct {
	Name              string             `yaml:"name" doc:"Display name." required:"true"`
	Agents            []StageAgent       `yaml:"agents" doc:"Agents that run concurrently." required:"true"`
	SuccessPolicy     string             `yaml:"success_policy" doc:"Agents that must succeed for the stage to succeed: any or all." enum:"any,all" only:"parallel" loose:"true"`
	MaxIterations     int                `yaml:"max_iterations" doc:"Maximum number of LLM calls before an agent must conclude." min:"1"`
	MCPServers        []string           `yaml:"mcp_servers" doc:"MCP servers whose tools the stage's agents can use." ref:"mcp_servers"`
	Replicas          int                `yaml:"replicas" doc:"Number of copies of each agent that run concurrently, named Name-1, Name-2 and so on." min:"1" loose:"true"`
	FallbackProviders []FallbackProvider `yaml:"fallback_providers" doc:"Models to try in order when the first one fails."`
	FallbackList      string             `yaml:"fallback_list" doc:"Named list of fallback models, instead of fallback_providers." ref:"fallback_lists"`
	SubAgents         []SubAgent         `yaml:"sub_agents" doc:"Agents that the stage's agents can start." later:"true"`
	Synthesis         *Synthesis         `yaml:"synthesis" doc:"How the results of several agents are combined." only:"parallel" loose:"true"`
}

// StageAgent is one agent of a stage, with its overrides.
type StageAgent struct {
	Name              string             `yaml:"name" doc:"Name of the agent." required:"true" ref:"agents"`
	Type              string             `yaml:"type" doc:"Agent type, instead of the agent's own." enum:"@agent_type" later:"scoring,action"`
	LLMProvider       string             `yaml:"llm_provider" doc:"Model for this agent in this stage." ref:"llm_providers"`
	LLMBackend        string             `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
	IterationStrategy string             `yaml:"iteration_strategy" doc:"How the agent uses the model; the older alternative to llm_backend." enum:"@strategy"`
	MaxIterations     int                `yaml:"max_iterations" doc:"Maximum number of LLM calls before the agent must conclude." min:"1" only:"tools"`
	MCPServers        []string           `yaml:"mcp_servers" doc:"MCP servers whose tools the agent can use in this stage." ref:"mcp_servers" only:"tools"`
	AllowedTools      []string           `yaml:"allowed_tools" doc:"Restrict the agent to these of its tools. A name can end in *." only:"tools"`
	DeniedTools       []string           `yaml:"denied_tools" doc:"Tools that the agent cannot use, in the same form. Takes precedence over allowed_tools." only:"tools"`
	ReadOnly          bool               `yaml:"read_only" doc:"Restrict the agent to tools that the server marks as read-only (readOnlyHint)." only:"tools"`
	SubAgents         []SubAgent         `yaml:"sub_agents" doc:"Agents that it can start." later:"true"`
	FallbackProviders []FallbackProvider `yaml:"fallback_providers" doc:"Models to try in order when the first one fails."`
	FallbackList      string             `yaml:"fallback_list" doc:"Named list of fallback models, instead of fallback_providers." ref:"fallback_lists"`
	RequiredSkills    []string           `yaml:"required_skills" doc:"Skills that are always loaded." later:"true" loose:"true"`
	Skills            []string           `yaml:"skills" doc:"Skills that it can load." later:"true" loose:"true"`
}

// Synthesis is stages[].synthesis.
type Synthesis struct {
	Agent             string `yaml:"agent" doc:"Agent that writes the synthesis." ref:"agents" default:"SynthesisAgent"`
	LLMProvider       string `yaml:"llm_provider" doc:"Model for the synthesis." ref:"llm_providers"`
	LLMBackend        string `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
	IterationStrategy string `yaml:"iteration_strategy" doc:"Older alternative to llm_backend." enum:"@strategy"`
}

// Chat is agent_chains.<id>.chat.
type Chat struct {
	Enabled           bool       `yaml:"enabled" doc:"Allow follow-up questions." default:"true"`
	Agent             string     `yaml:"agent" doc:"Agent that answers the questions." ref:"agents" default:"ChatAgent"`
	LLMProvider       string     `yaml:"llm_provider" doc:"Model for the answers." ref:"llm_providers"`
	LLMBackend        string     `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
	IterationStrategy string     `yaml:"iteration_strategy" doc:"Older alternative to llm_backend." enum:"@strategy"`
	MCPServers        []string   `yaml:"mcp_servers" doc:"MCP servers whose tools it can use." ref:"mcp_servers"`
	AllowedTools      []string   `yaml:"allowed_tools" doc:"Restrict the agent to these of its tools. A name can end in *."`
	DeniedTools       []string   `yaml:"denied_tools" doc:"Tools that the agent cannot use, in the same form. Takes precedence over allowed_tools."`
	ReadOnly          bool       `yaml:"read_only" doc:"Restrict the agent to tools that the server marks as read-only (readOnlyHint)."`
	MaxIterations     int        `yaml:"max_iterations" doc:"Maximum number of LLM calls before it must answer." min:"1"`
	SubAgents         []SubAgent `yaml:"sub_agents" doc:"Agents that it can start." later:"true"`
}

// Scoring is the scoring block of a chain or of the defaults.
type Scoring struct {
	Enabled           bool     `yaml:"enabled" doc:"Score finished sessions." default:"true"`
	Agent             string   `yaml:"agent" doc:"Agent that scores the sessions." ref:"agents"`
	LLMProvider       string   `yaml:"llm_provider" doc:"Model for scoring." ref:"llm_providers"`
	LLMBackend        string   `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
	IterationStrategy string   `yaml:"iteration_strategy" doc:"Older alternative to llm_backend." enum:"@strategy"`
	MCPServers        []string `yaml:"mcp_servers" doc:"MCP servers whose tools it can use." ref:"mcp_servers"`
	MaxIterations     int      `yaml:"max_iterations" doc:"Maximum number of LLM calls before it must conclude." min:"1"`
}
