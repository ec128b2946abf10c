package config

import "time"

// Defaults is the lowest level of the hierarchy that an agent's settings are resolved from.
type Defaults struct {
	LLMProvider       string        `yaml:"llm_provider" doc:"Model that agents use. If it is not set, the first of google-default, anthropic-default, openai-default and xai-default whose API key is set, else the first entry of llm_providers whose key is set." default:"google-default" ref:"llm_providers"`
	LLMBackend        string        `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc); the default depends on the provider's type." enum:"@backend" only:"grpc"`
	IterationStrategy string        `yaml:"iteration_strategy" doc:"How agents use the model: native-thinking, langchain and function-calling all mean function calling." enum:"@strategy"`
	MaxIterations     int           `yaml:"max_iterations" doc:"Maximum number of LLM calls before an agent must conclude." default:"20" min:"1"`
	IterationTimeout  time.Duration `yaml:"iteration_timeout" doc:"Timeout of one LLM call." default:"120s" min:"1s"`
	RepeatedCalls     RepeatedCalls `yaml:"repeated_calls" doc:"Limits on tool calls that an agent repeats with the same arguments, alone or alternating with others."`
	LLMRetry          LLMRetry      `yaml:"llm_retry" doc:"Retries of an LLM call before a fallback is used. A call is retried only if no response has started."`
	SuccessPolicy     string        `yaml:"success_policy" doc:"Agents that must succeed for a stage of several agents to succeed: any or all." default:"any" enum:"any,all"`
	AlertType         string        `yaml:"alert_type" doc:"Alert type for alerts without one (kubernetes, if a chain accepts it)." ref:"alert_types"`
	Runbook           string        `yaml:"runbook" doc:"Runbook text for alerts without one."`
	AlertMasking      AlertMasking  `yaml:"alert_masking" doc:"Masking of secrets in alerts." reload:"now"`

	ExecutiveSummaryProvider     string                  `yaml:"executive_summary_provider" doc:"Model for executive summaries." ref:"llm_providers"`
	ExecutiveSummaryBackend      string                  `yaml:"executive_summary_backend" doc:"Backend for executive summaries." enum:"@backend" only:"grpc"`
	ExecutiveSummaryFallbackList string                  `yaml:"executive_summary_fallback_list" doc:"Fallback list for executive summaries." ref:"fallback_lists"`
	Verdict                      bool                    `yaml:"verdict" doc:"Write a verdict when an investigation ends: outcome, cause, confidence, impact and next steps. This takes one more call of the model for executive summaries." default:"true"`
	PastInvestigations           PastInvestigations      `yaml:"past_investigations" doc:"How agents use similar past sessions, with their verdicts and people's feedback on them."`
	ComposeProvider              string                  `yaml:"compose_provider" doc:"Model that composes amended reports." ref:"llm_providers" later:"true"`
	ComposeBackend               string                  `yaml:"compose_backend" doc:"Backend for composing." enum:"@backend" later:"true"`
	ComposeFallbackList          string                  `yaml:"compose_fallback_list" doc:"Fallback list for composing." ref:"fallback_lists" later:"true"`
	FallbackProviders            []FallbackProvider      `yaml:"fallback_providers" doc:"Models to try in order when the first one fails."`
	FallbackList                 string                  `yaml:"fallback_list" doc:"Named list of fallback models, instead of fallback_providers." ref:"fallback_lists"`
	Orchestrator                 *Orchestrator           `yaml:"orchestrator" doc:"Limits for agents that start other agents." later:"true"`
	Scoring                      *Scoring                `yaml:"scoring" doc:"Scoring of finished sessions." later:"true"`
	Agents                       map[string]AgentPairing `yaml:"agents" doc:"Models by agent name."`
	Summarization                *SummaryModel           `yaml:"summarization" doc:"Model that summarizes long tool results."`
	Memory                       *Memory                 `yaml:"memory" doc:"Memory of earlier investigations." later:"true"`
}

// RepeatedCalls is defaults.repeated_calls.
type RepeatedCalls struct {
	Warn     int `yaml:"warn" doc:"Number of identical calls from which the agent is warned not to repeat them; 0 never warns." default:"5" min:"0"`
	Conclude int `yaml:"conclude" doc:"Number of identical calls after which the agent must conclude; 0 means no limit." default:"10" min:"0"`
}

// PastInvestigations is past_investigations in the defaults or a chain.
type PastInvestigations struct {
	Prompt bool `yaml:"prompt" doc:"Add the verdicts of similar past sessions to the prompts of investigating agents." default:"false"`
	Tool   bool `yaml:"tool" doc:"Give agents the tool search_past_investigations." default:"false"`
}

// LLMRetry is defaults.llm_retry.
type LLMRetry struct {
	MaxAttempts   int           `yaml:"max_attempts" doc:"Maximum number of attempts per call, including the first." default:"3" min:"1"`
	FirstWait     time.Duration `yaml:"first_wait" doc:"Maximum delay before the second attempt; it doubles with each attempt. The actual delay is random, between zero and this maximum." default:"500ms" min:"0s"`
	MaxWait       time.Duration `yaml:"max_wait" doc:"Maximum delay." default:"8s" min:"0s"`
	MaxRetryAfter time.Duration `yaml:"max_retry_after" doc:"Longest Retry-After of a provider that is respected; with a longer one, the call fails." default:"60s" min:"0s"`
}

// AlertMasking is defaults.alert_masking.
type AlertMasking struct {
	Enabled      bool   `yaml:"enabled" doc:"Mask secrets in alerts before they are stored." default:"true"`
	PatternGroup string `yaml:"pattern_group" doc:"Kinds of secrets to mask." default:"security" enum:"@pattern_group"`
}

// FallbackProvider is one entry of a fallback_providers list.
type FallbackProvider struct {
	Provider string `yaml:"provider" doc:"Model to try." ref:"llm_providers" required:"true"`
	Backend  string `yaml:"backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
}

// FallbackEntry is one entry of a named list in fallback_lists.
type FallbackEntry struct {
	LLMProvider string `yaml:"llm_provider" doc:"Model to try." ref:"llm_providers" required:"true"`
	LLMBackend  string `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
}

// Orchestrator limits agents that start other agents.
type Orchestrator struct {
	MaxConcurrentAgents int           `yaml:"max_concurrent_agents" doc:"Maximum number of agents that run concurrently." min:"1"`
	AgentTimeout        time.Duration `yaml:"agent_timeout" doc:"Timeout of one agent." min:"0s"`
	MaxBudget           time.Duration `yaml:"max_budget" doc:"Timeout of all agents together." min:"0s"`
}

// AgentPairing is the model of one agent in defaults.agents.
type AgentPairing struct {
	LLMProvider  string `yaml:"llm_provider" doc:"Model of this agent." ref:"llm_providers"`
	LLMBackend   string `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
	FallbackList string `yaml:"fallback_list" doc:"Fallback list of this agent." ref:"fallback_lists"`
}

// SummaryModel is defaults.summarization.
type SummaryModel struct {
	LLMProvider  string `yaml:"llm_provider" doc:"Model that summarizes tool results." ref:"llm_providers"`
	LLMBackend   string `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
	FallbackList string `yaml:"fallback_list" doc:"Fallback list for summarization." ref:"fallback_lists" later:"true"`
}

// Memory is defaults.memory.
type Memory struct {
	Enabled              bool       `yaml:"enabled" doc:"Remember earlier investigations."`
	MaxInject            int        `yaml:"max_inject" doc:"Maximum number of memories per prompt." min:"0"`
	ReflectorMemoryLimit int        `yaml:"reflector_memory_limit" doc:"Maximum number of memories that the reflector reads." min:"0"`
	Embedding            *Embedding `yaml:"embedding" doc:"Model for searching memories."`
}

// Embedding is the embedding model of memory.
type Embedding struct {
	Provider   string `yaml:"provider" doc:"Provider of the model." enum:"google,openai"`
	Model      string `yaml:"model" doc:"Model name."`
	APIKeyEnv  string `yaml:"api_key_env" doc:"Environment variable that holds the API key." format:"env" secret:"env"`
	Dimensions int    `yaml:"dimensions" doc:"Length of the vectors." min:"1"`
	BaseURL    string `yaml:"base_url" doc:"Base URL of the API; the default is the provider's." format:"url" secret:"url"`
}

// LabelMap is one entry of label_maps.
type LabelMap struct {
	Multi        bool    `yaml:"multi" doc:"Allow more than one label."`
	Instructions string  `yaml:"instructions" doc:"Instructions for choosing labels, in plain text."`
	Labels       []Label `yaml:"labels" doc:"Labels to choose from."`
}

// Label is one label of a LabelMap.
type Label struct {
	Label       string `yaml:"label" doc:"The label." required:"true"`
	Description string `yaml:"description" doc:"When the label applies."`
}
