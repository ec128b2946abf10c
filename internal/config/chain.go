package config

// The values of success_policy.
const (
	SuccessAny = "any"
	SuccessAll = "all"
)

// Chain is one entry of agent_chains: stages that run in order for some alert types.
type Chain struct {
	ID string `yaml:"-"`

	AlertTypes               []string            `yaml:"alert_types" doc:"Alert types of this chain; each type belongs to only one chain." required:"true"`
	Description              string              `yaml:"description" doc:"One sentence for people." loose:"true"`
	Stages                   []Stage             `yaml:"stages" doc:"Stages, in the order in which they run." required:"true"`
	LLMProvider              string              `yaml:"llm_provider" doc:"Model for the whole chain." ref:"llm_providers" loose:"true"`
	LLMBackend               string              `yaml:"llm_backend" doc:"Backend that is sent to a gateway (type grpc)." enum:"@backend" only:"grpc" loose:"true"`
	IterationStrategy        string              `yaml:"iteration_strategy" doc:"How the chain's agents work; older files use this instead of llm_backend." enum:"@strategy" loose:"true"`
	MaxIterations            int                 `yaml:"max_iterations" doc:"LLM calls before an agent must conclude." min:"1" loose:"true"`
	MCPServers               []string            `yaml:"mcp_servers" doc:"Servers whose tools the chain's agents get, instead of the agents' own." ref:"mcp_servers"`
	ExecutiveSummaryProvider string              `yaml:"executive_summary_provider" doc:"Model for the executive summary." ref:"llm_providers" loose:"true"`
	ExecutiveSummaryBackend  string              `yaml:"executive_summary_backend" doc:"Backend for the executive summary." enum:"@backend" only:"grpc" loose:"true"`
	Verdict                  *bool               `yaml:"verdict" doc:"Whether a verdict is written when the investigation ends; the default is that of defaults.verdict."`
	PastInvestigations       *PastInvestigations `yaml:"past_investigations" doc:"What agents are shown of similar past sessions, instead of defaults.past_investigations."`
	FallbackProviders        []FallbackProvider  `yaml:"fallback_providers" doc:"Models to try in turn when the first fails." loose:"true"`
	FallbackList             string              `yaml:"fallback_list" doc:"The same, as a named list." ref:"fallback_lists" loose:"true"`
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
	Name              string             `yaml:"name" doc:"Name that people see." required:"true"`
	Agents            []StageAgent       `yaml:"agents" doc:"Agents that run concurrently." required:"true"`
	SuccessPolicy     string             `yaml:"success_policy" doc:"When the stage succeeds: any of its agents, or all." enum:"any,all" only:"parallel" loose:"true"`
	MaxIterations     int                `yaml:"max_iterations" doc:"LLM calls before an agent must conclude." min:"1"`
	MCPServers        []string           `yaml:"mcp_servers" doc:"Servers whose tools the stage's agents get." ref:"mcp_servers"`
	Replicas          int                `yaml:"replicas" doc:"How many copies of each agent run concurrently, as Name-1, Name-2 and so on." min:"1" loose:"true"`
	FallbackProviders []FallbackProvider `yaml:"fallback_providers" doc:"Models to try in turn when the first fails."`
	FallbackList      string             `yaml:"fallback_list" doc:"The same, as a named list." ref:"fallback_lists"`
	SubAgents         []SubAgent         `yaml:"sub_agents" doc:"Agents that the stage's agents can start." later:"true"`
	Synthesis         *Synthesis         `yaml:"synthesis" doc:"How the results of several agents are combined." only:"parallel" loose:"true"`
}

// StageAgent is one agent of a stage, with its overrides.
type StageAgent struct {
	Name              string             `yaml:"name" doc:"Name of the agent." required:"true" ref:"agents"`
	Type              string             `yaml:"type" doc:"Type, if not the agent's own." enum:"@agent_type" later:"scoring,action"`
	LLMProvider       string             `yaml:"llm_provider" doc:"Model for this agent here." ref:"llm_providers"`
	LLMBackend        string             `yaml:"llm_backend" doc:"Backend that is sent to a gateway (type grpc)." enum:"@backend" only:"grpc"`
	IterationStrategy string             `yaml:"iteration_strategy" doc:"How the agent works; older files use this instead of llm_backend." enum:"@strategy"`
	MaxIterations     int                `yaml:"max_iterations" doc:"LLM calls before the agent must conclude." min:"1" only:"tools"`
	MCPServers        []string           `yaml:"mcp_servers" doc:"Servers whose tools the agent gets here." ref:"mcp_servers" only:"tools"`
	AllowedTools      []string           `yaml:"allowed_tools" doc:"Only these of the agent's tools. A name may end in *." only:"tools"`
	DeniedTools       []string           `yaml:"denied_tools" doc:"None of these tools, in the same form. Wins over allowed_tools." only:"tools"`
	ReadOnly          bool               `yaml:"read_only" doc:"Only tools that the server marks as read-only (readOnlyHint)." only:"tools"`
	SubAgents         []SubAgent         `yaml:"sub_agents" doc:"Agents that it can start." later:"true"`
	FallbackProviders []FallbackProvider `yaml:"fallback_providers" doc:"Models to try in turn when the first fails."`
	FallbackList      string             `yaml:"fallback_list" doc:"The same, as a named list." ref:"fallback_lists"`
	RequiredSkills    []string           `yaml:"required_skills" doc:"Skills that are always loaded." later:"true" loose:"true"`
	Skills            []string           `yaml:"skills" doc:"Skills it may load." later:"true" loose:"true"`
}

// Synthesis is stages[].synthesis.
type Synthesis struct {
	Agent             string `yaml:"agent" doc:"Agent that writes the synthesis." ref:"agents" default:"SynthesisAgent"`
	LLMProvider       string `yaml:"llm_provider" doc:"Model for it." ref:"llm_providers"`
	LLMBackend        string `yaml:"llm_backend" doc:"Backend that is sent to a gateway (type grpc)." enum:"@backend" only:"grpc"`
	IterationStrategy string `yaml:"iteration_strategy" doc:"Older name for the backend." enum:"@strategy"`
}

// Chat is agent_chains.<id>.chat.
type Chat struct {
	Enabled           bool       `yaml:"enabled" doc:"Allow follow-up questions." default:"true"`
	Agent             string     `yaml:"agent" doc:"Agent that answers." ref:"agents" default:"ChatAgent"`
	LLMProvider       string     `yaml:"llm_provider" doc:"Model for it." ref:"llm_providers"`
	LLMBackend        string     `yaml:"llm_backend" doc:"Backend that is sent to a gateway (type grpc)." enum:"@backend" only:"grpc"`
	IterationStrategy string     `yaml:"iteration_strategy" doc:"Older name for the backend." enum:"@strategy"`
	MCPServers        []string   `yaml:"mcp_servers" doc:"Servers whose tools it gets." ref:"mcp_servers"`
	AllowedTools      []string   `yaml:"allowed_tools" doc:"Only these of the agent's tools. A name may end in *."`
	DeniedTools       []string   `yaml:"denied_tools" doc:"None of these tools, in the same form. Wins over allowed_tools."`
	ReadOnly          bool       `yaml:"read_only" doc:"Only tools that the server marks as read-only (readOnlyHint)."`
	MaxIterations     int        `yaml:"max_iterations" doc:"LLM calls before it must answer." min:"1"`
	SubAgents         []SubAgent `yaml:"sub_agents" doc:"Agents that it can start." later:"true"`
}

// Scoring is the scoring block of a chain or of the defaults.
type Scoring struct {
	Enabled           bool     `yaml:"enabled" doc:"Score finished sessions." default:"true"`
	Agent             string   `yaml:"agent" doc:"Agent that scores." ref:"agents"`
	LLMProvider       string   `yaml:"llm_provider" doc:"Model for it." ref:"llm_providers"`
	LLMBackend        string   `yaml:"llm_backend" doc:"Backend that is sent to a gateway (type grpc)." enum:"@backend" only:"grpc"`
	IterationStrategy string   `yaml:"iteration_strategy" doc:"Older name for the backend." enum:"@strategy"`
	MCPServers        []string `yaml:"mcp_servers" doc:"Servers whose tools it gets." ref:"mcp_servers"`
	MaxIterations     int      `yaml:"max_iterations" doc:"LLM calls before it must conclude." min:"1"`
}
