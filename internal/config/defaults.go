package config

import "time"

// Defaults is the lowest level of the hierarchy that an agent's settings are
// resolved by.
type Defaults struct {
	LLMProvider       string        `yaml:"llm_provider" doc:"Model that agents use." default:"google-default" ref:"llm_providers"`
	LLMBackend        string        `yaml:"llm_backend" doc:"Backend that a gateway (type grpc) is told; follows from the provider's type if unset." enum:"@backend" only:"grpc"`
	IterationStrategy string        `yaml:"iteration_strategy" doc:"How agents work: native-thinking, langchain and function-calling all mean function calling." enum:"@strategy"`
	MaxIterations     int           `yaml:"max_iterations" doc:"LLM calls an agent may make before it is told to conclude." default:"20" min:"1"`
	IterationTimeout  time.Duration `yaml:"iteration_timeout" doc:"Longest time for one LLM call." default:"120s" min:"1s"`
	LLMRetry          LLMRetry      `yaml:"llm_retry" doc:"How often an LLM call is made again before a fallback is tried; only as long as no answer has begun."`
	SuccessPolicy     string        `yaml:"success_policy" doc:"When a stage of several agents succeeds: any of them, or all." default:"any" enum:"any,all"`
	AlertType         string        `yaml:"alert_type" doc:"Type of an alert that names none (kubernetes, as long as a chain takes it)." ref:"alert_types"`
	Runbook           string        `yaml:"runbook" doc:"Runbook text for alerts that bring none."`
	AlertMasking      AlertMasking  `yaml:"alert_masking" doc:"Hiding of secrets in alerts."`

	ExecutiveSummaryProvider     string                  `yaml:"executive_summary_provider" doc:"Model for executive summaries." ref:"llm_providers"`
	ExecutiveSummaryBackend      string                  `yaml:"executive_summary_backend" doc:"Backend for executive summaries." enum:"@backend" only:"grpc"`
	ExecutiveSummaryFallbackList string                  `yaml:"executive_summary_fallback_list" doc:"Fallback list for executive summaries." ref:"fallback_lists"`
	ComposeProvider              string                  `yaml:"compose_provider" doc:"Model that composes amended reports." ref:"llm_providers" later:"true"`
	ComposeBackend               string                  `yaml:"compose_backend" doc:"Backend for composing." enum:"@backend" later:"true"`
	ComposeFallbackList          string                  `yaml:"compose_fallback_list" doc:"Fallback list for composing." ref:"fallback_lists" later:"true"`
	FallbackProviders            []FallbackProvider      `yaml:"fallback_providers" doc:"Models to try in turn when the first fails."`
	FallbackList                 string                  `yaml:"fallback_list" doc:"The same, as a named list." ref:"fallback_lists"`
	Orchestrator                 *Orchestrator           `yaml:"orchestrator" doc:"Limits of agents that start other agents." later:"true"`
	Scoring                      *Scoring                `yaml:"scoring" doc:"Scoring of finished sessions." later:"true"`
	Agents                       map[string]AgentPairing `yaml:"agents" doc:"Models by agent name."`
	Summarization                *SummaryModel           `yaml:"summarization" doc:"Model that shortens long tool results."`
	Memory                       *Memory                 `yaml:"memory" doc:"What is remembered from earlier investigations." later:"true"`
}

// LLMRetry is defaults.llm_retry.
type LLMRetry struct {
	MaxAttempts   int           `yaml:"max_attempts" doc:"How often a call is made, the first time included." default:"3" min:"1"`
	FirstWait     time.Duration `yaml:"first_wait" doc:"Longest wait before the second attempt; it doubles with each. The wait is random, from nothing to this." default:"500ms" min:"0s"`
	MaxWait       time.Duration `yaml:"max_wait" doc:"Longest wait that it doubles to." default:"8s" min:"0s"`
	MaxRetryAfter time.Duration `yaml:"max_retry_after" doc:"Longest wait that a provider may ask for; a call that should wait longer fails." default:"60s" min:"0s"`
}

// AlertMasking is defaults.alert_masking.
type AlertMasking struct {
	Enabled      bool   `yaml:"enabled" doc:"Hide secrets in alerts before they are stored." default:"true"`
	PatternGroup string `yaml:"pattern_group" doc:"Which secrets are looked for." default:"security" enum:"@pattern_group"`
}

// FallbackProvider is one entry of a fallback_providers list.
type FallbackProvider struct {
	Provider string `yaml:"provider" doc:"Model to try." ref:"llm_providers" required:"true"`
	Backend  string `yaml:"backend" doc:"Backend that a gateway (type grpc) is told." enum:"@backend" only:"grpc"`
}

// FallbackEntry is one entry of a named list in fallback_lists.
type FallbackEntry struct {
	LLMProvider string `yaml:"llm_provider" doc:"Model to try." ref:"llm_providers" required:"true"`
	LLMBackend  string `yaml:"llm_backend" doc:"Backend that a gateway (type grpc) is told." enum:"@backend" only:"grpc"`
}

// Orchestrator limits agents that start other agents.
type Orchestrator struct {
	MaxConcurrentAgents int           `yaml:"max_concurrent_agents" doc:"Agents that run at once." min:"1"`
	AgentTimeout        time.Duration `yaml:"agent_timeout" doc:"Longest time for one agent." min:"0s"`
	MaxBudget           time.Duration `yaml:"max_budget" doc:"Longest time for all of them." min:"0s"`
}

// AgentPairing is the model of one agent in defaults.agents.
type AgentPairing struct {
	LLMProvider  string `yaml:"llm_provider" doc:"Model of this agent." ref:"llm_providers"`
	LLMBackend   string `yaml:"llm_backend" doc:"Backend that a gateway (type grpc) is told." enum:"@backend" only:"grpc"`
	FallbackList string `yaml:"fallback_list" doc:"Fallback list of this agent." ref:"fallback_lists"`
}

// SummaryModel is defaults.summarization.
type SummaryModel struct {
	LLMProvider  string `yaml:"llm_provider" doc:"Model that shortens tool results." ref:"llm_providers"`
	LLMBackend   string `yaml:"llm_backend" doc:"Backend that a gateway (type grpc) is told." enum:"@backend" only:"grpc"`
	FallbackList string `yaml:"fallback_list" doc:"Fallback list for it." ref:"fallback_lists" later:"true"`
}

// Memory is defaults.memory.
type Memory struct {
	Enabled              bool       `yaml:"enabled" doc:"Remember earlier investigations."`
	MaxInject            int        `yaml:"max_inject" doc:"Memories that one prompt may get." min:"0"`
	ReflectorMemoryLimit int        `yaml:"reflector_memory_limit" doc:"Memories that the reflector looks at." min:"0"`
	Embedding            *Embedding `yaml:"embedding" doc:"Model that memories are found by."`
}

// Embedding is the embedding model of memory.
type Embedding struct {
	Provider   string `yaml:"provider" doc:"Who runs the model." enum:"google,openai"`
	Model      string `yaml:"model" doc:"The model's name."`
	APIKeyEnv  string `yaml:"api_key_env" doc:"Environment variable that holds the API key." format:"env" secret:"env"`
	Dimensions int    `yaml:"dimensions" doc:"Length of the vectors." min:"1"`
	BaseURL    string `yaml:"base_url" doc:"Address of the API, if not the provider's own." format:"url" secret:"url"`
}

// LabelMap is one entry of label_maps.
type LabelMap struct {
	Multi        bool    `yaml:"multi" doc:"More than one label may be given."`
	Instructions string  `yaml:"instructions" doc:"Plain text: how to choose."`
	Labels       []Label `yaml:"labels" doc:"The labels to choose from."`
}

// Label is one label of a LabelMap.
type Label struct {
	Label       string `yaml:"label" doc:"The label." required:"true"`
	Description string `yaml:"description" doc:"When it fits."`
}
