package config

import "time"

// Defaults is the lowest level of the hierarchy that an agent's settings are resolved from.
type Defaults struct {
	LLMProvider       string        `yaml:"llm_provider" doc:"Model that agents use. If it is not set, the first of google-default, anthropic-default, openai-default and xai-default whose API key is set, else the first entry of llm_providers whose key is set." default:"google-default" ref:"llm_providers"`
	LLMBackend        string        `yaml:"llm_backend" doc:"Backend that is sent to a gateway (type grpc); the default depends on the provider's type." enum:"@backend" only:"grpc"`
	IterationStrategy string        `yaml:"iteration_strategy" doc:"How agents work: native-thinking, langchain and function-calling all mean function calling." enum:"@strategy"`
	MaxIterations     int           `yaml:"max_iterations" doc:"LLM calls that an agent can make before it must conclude." default:"20" min:"1"`
	IterationTimeout  time.Duration `yaml:"iteration_timeout" doc:"Longest time for one LLM call." default:"120s" min:"1s"`
	RepeatedCalls     RepeatedCalls `yaml:"repeated_calls" doc:"Limits on tool calls that an agent repeats with the same arguments, also in turn with others."`
	LLMRetry          LLMRetry      `yaml:"llm_retry" doc:"Retries of an LLM call before a fallback is used; only while no response has begun."`
	SuccessPolicy     string        `yaml:"success_policy" doc:"When a stage of several agents succeeds: any of them, or all." default:"any" enum:"any,all"`
	AlertType         string        `yaml:"alert_type" doc:"Type of alerts without a type (kubernetes, if a chain accepts it)." ref:"alert_types"`
	Runbook           string        `yaml:"runbook" doc:"Runbook text for alerts without one."`
	AlertMasking      AlertMasking  `yaml:"alert_masking" doc:"Masking of secrets in alerts." reload:"now"`

	ExecutiveSummaryProvider     string                  `yaml:"executive_summary_provider" doc:"Model for executive summaries." ref:"llm_providers"`
	ExecutiveSummaryBackend      string                  `yaml:"executive_summary_backend" doc:"Backend for executive summaries." enum:"@backend" only:"grpc"`
	ExecutiveSummaryFallbackList string                  `yaml:"executive_summary_fallback_list" doc:"Fallback list for executive summaries." ref:"fallback_lists"`
	Verdict                      bool                    `yaml:"verdict" doc:"Write a verdict when an investigation ends: outcome, cause, confidence, impact and next steps. It is one call more of the model for executive summaries." default:"true"`
	PastInvestigations           PastInvestigations      `yaml:"past_investigations" doc:"What agents are shown of similar past sessions, with the verdicts and what people said about them."`
	ComposeProvider              string                  `yaml:"compose_provider" doc:"Model that composes amended reports." ref:"llm_providers" later:"true"`
	ComposeBackend               string                  `yaml:"compose_backend" doc:"Backend for composing." enum:"@backend" later:"true"`
	ComposeFallbackList          string                  `yaml:"compose_fallback_list" doc:"Fallback list for composing." ref:"fallback_lists" later:"true"`
	FallbackProviders            []FallbackProvider      `yaml:"fallback_providers" doc:"Models to try in turn when the first fails."`
	FallbackList                 string                  `yaml:"fallback_list" doc:"The same, as a named list." ref:"fallback_lists"`
	Orchestrator                 *Orchestrator           `yaml:"orchestrator" doc:"Limits of agents that start other agents." later:"true"`
	Scoring                      *Scoring                `yaml:"scoring" doc:"Scoring of finished sessions." later:"true"`
	Agents                       map[string]AgentPairing `yaml:"agents" doc:"Models by agent name."`
	Summarization                *SummaryModel           `yaml:"summarization" doc:"Model that summarizes long tool results."`
	Memory                       *Memory                 `yaml:"memory" doc:"What is remembered from earlier investigations." later:"true"`
}

// RepeatedCalls is defaults.repeated_calls.
type RepeatedCalls struct {
	Warn     int `yaml:"warn" doc:"Identical calls from which on the agent is told not to repeat them; 0 never tells it." default:"5" min:"0"`
	Conclude int `yaml:"conclude" doc:"Identical calls after which the agent must conclude; 0 sets no limit." default:"10" min:"0"`
}

// PastInvestigations is past_investigations in the defaults or a chain.
type PastInvestigations struct {
	Prompt bool `yaml:"prompt" doc:"Add the verdicts of similar past sessions to the prompt of agents that investigate." default:"false"`
	Tool   bool `yaml:"tool" doc:"Give agents the tool search_past_investigations." default:"false"`
}

// LLMRetry is defaults.llm_retry.
type LLMRetry struct {
	MaxAttempts   int           `yaml:"max_attempts" doc:"Attempts per call, including the first." default:"3" min:"1"`
	FirstWait     time.Duration `yaml:"first_wait" doc:"Longest delay before the second attempt; it doubles with each attempt. The delay is random, from zero to this." default:"500ms" min:"0s"`
	MaxWait       time.Duration `yaml:"max_wait" doc:"Longest delay." default:"8s" min:"0s"`
	MaxRetryAfter time.Duration `yaml:"max_retry_after" doc:"Longest Retry-After of a provider; with a longer one the call fails." default:"60s" min:"0s"`
}

// AlertMasking is defaults.alert_masking.
type AlertMasking struct {
	Enabled      bool   `yaml:"enabled" doc:"Mask secrets in alerts before they are stored." default:"true"`
	PatternGroup string `yaml:"pattern_group" doc:"Which secrets are masked." default:"security" enum:"@pattern_group"`
}

// FallbackProvider is one entry of a fallback_providers list.
type FallbackProvider struct {
	Provider string `yaml:"provider" doc:"Model to try." ref:"llm_providers" required:"true"`
	Backend  string `yaml:"backend" doc:"Backend that is sent to a gateway (type grpc)." enum:"@backend" only:"grpc"`
}

// FallbackEntry is one entry of a named list in fallback_lists.
type FallbackEntry struct {
	LLMProvider string `yaml:"llm_provider" doc:"Model to try." ref:"llm_providers" required:"true"`
	LLMBackend  string `yaml:"llm_backend" doc:"Backend that is sent to a gateway (type grpc)." enum:"@backend" only:"grpc"`
}

// Orchestrator limits agents that start other agents.
type Orchestrator struct {
	MaxConcurrentAgents int           `yaml:"max_concurrent_agents" doc:"Agents that run concurrently." min:"1"`
	AgentTimeout        time.Duration `yaml:"agent_timeout" doc:"Longest time for one agent." min:"0s"`
	MaxBudget           time.Duration `yaml:"max_budget" doc:"Longest time for all of them." min:"0s"`
}

// AgentPairing is the model of one agent in defaults.agents.
type AgentPairing struct {
	LLMProvider  string `yaml:"llm_provider" doc:"Model of this agent." ref:"llm_providers"`
	LLMBackend   string `yaml:"llm_backend" doc:"Backend that is sent to a gateway (type grpc)." enum:"@backend" only:"grpc"`
	FallbackList string `yaml:"fallback_list" doc:"Fallback list of this agent." ref:"fallback_lists"`
}

// SummaryModel is defaults.summarization.
type SummaryModel struct {
	LLMProvider  string `yaml:"llm_provider" doc:"Model that summarizes tool results." ref:"llm_providers"`
	LLMBackend   string `yaml:"llm_backend" doc:"Backend that is sent to a gateway (type grpc)." enum:"@backend" only:"grpc"`
	FallbackList string `yaml:"fallback_list" doc:"Fallback list for it." ref:"fallback_lists" later:"true"`
}

// Memory is defaults.memory.
type Memory struct {
	Enabled              bool       `yaml:"enabled" doc:"Remember earlier investigations."`
	MaxInject            int        `yaml:"max_inject" doc:"Memories per prompt." min:"0"`
	ReflectorMemoryLimit int        `yaml:"reflector_memory_limit" doc:"Memories that the reflector reads." min:"0"`
	Embedding            *Embedding `yaml:"embedding" doc:"Model for searching memories."`
}

// Embedding is the embedding model of memory.
type Embedding struct {
	Provider   string `yaml:"provider" doc:"Provider of the model." enum:"google,openai"`
	Model      string `yaml:"model" doc:"The model's name."`
	APIKeyEnv  string `yaml:"api_key_env" doc:"Environment variable that holds the API key." format:"env" secret:"env"`
	Dimensions int    `yaml:"dimensions" doc:"Length of the vectors." min:"1"`
	BaseURL    string `yaml:"base_url" doc:"URL of the API, if not the provider's own." format:"url" secret:"url"`
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
	Description string `yaml:"description" doc:"When it applies."`
}
