package config

// The kinds of agent. The empty type is an ordinary agent: it investigates with tools.
const (
	AgentTypeSynthesis   = "synthesis"
	AgentTypeExecSummary = "exec_summary"
	AgentTypeScoring     = "scoring"
	AgentTypeAction      = "action"
)

// Agent is one entry of the agents section.
type Agent struct {
	Name string `yaml:"-"`

	Type               string        `yaml:"type" doc:"What the agent does: empty (investigate), synthesis, exec_summary, scoring or action." enum:"@agent_type" later:"scoring,action"`
	Description        string        `yaml:"description" doc:"One sentence for people."`
	MCPServers         []string      `yaml:"mcp_servers" doc:"Servers whose tools the agent gets." ref:"mcp_servers"`
	CustomInstructions string        `yaml:"custom_instructions" doc:"Plain text: what the agent should know and do."`
	LLMBackend         string        `yaml:"llm_backend" doc:"How the model is talked to." enum:"@backend"`
	IterationStrategy  string        `yaml:"iteration_strategy" doc:"How the agent works; older files say this instead of llm_backend." enum:"@strategy"`
	MaxIterations      int           `yaml:"max_iterations" doc:"LLM calls before the agent is told to conclude." min:"1"`
	NativeTools        *NativeTools  `yaml:"native_tools" doc:"Tools that the model's provider runs, while no MCP tools are bound."`
	Orchestrator       *Orchestrator `yaml:"orchestrator" doc:"Limits if this agent starts other agents." later:"true"`
	Skills             []string      `yaml:"skills" doc:"Skills the agent may load." later:"true"`
	RequiredSkills     []string      `yaml:"required_skills" doc:"Skills that are always loaded." later:"true"`
}

// NativeTools are the tools that a model's provider runs itself.
type NativeTools struct {
	GoogleSearch  *bool `yaml:"google_search" doc:"Web search."`
	CodeExecution *bool `yaml:"code_execution" doc:"Running code."`
	URLContext    *bool `yaml:"url_context" doc:"Reading pages by address."`
}

// SubAgent is an agent that another may start. A plain string is its name.
type SubAgent struct {
	Name           string   `yaml:"name" doc:"Name of the agent." ref:"agents" required:"true" short:"true"`
	LLMProvider    string   `yaml:"llm_provider" doc:"Model for it." ref:"llm_providers"`
	LLMBackend     string   `yaml:"llm_backend" doc:"How the model is talked to." enum:"@backend"`
	MaxIterations  int      `yaml:"max_iterations" doc:"LLM calls before it has to conclude." min:"1"`
	MCPServers     []string `yaml:"mcp_servers" doc:"Servers whose tools it gets." ref:"mcp_servers"`
	RequiredSkills []string `yaml:"required_skills" doc:"Skills that are always loaded."`
	Skills         []string `yaml:"skills" doc:"Skills it may load."`
}
