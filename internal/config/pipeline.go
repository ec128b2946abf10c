package config

import "time"

// NotePipeline is the section about notes: how they are captured and processed.
type NotePipeline struct {
	LLMProvider         string          `yaml:"llm_provider" doc:"Model that extracts and organizes; the default is defaults.llm_provider." ref:"llm_providers"`
	ConfidenceThreshold float64         `yaml:"confidence_threshold" doc:"Confidence of the model, from 0.01 to 1, below which a person decides." default:"0.7" min:"0.01" max:"1" restart:"true"`
	DuplicateThreshold  float64         `yaml:"duplicate_threshold" doc:"Word similarity, from 0.01 to 1, from which the model is asked whether two entities are the same." default:"0.5" min:"0.01" max:"1" restart:"true"`
	RatePerMinute       int             `yaml:"rate_per_minute" doc:"Maximum number of notes captured per minute and API key on one server; further ones get 429 too_many_requests. 0 means no limit." default:"120" min:"0" restart:"true"`
	MaxAttempts         int             `yaml:"max_attempts" doc:"Maximum number of attempts per job, including the first. A response that violates the schema is not retried." default:"5" min:"1" max:"25" restart:"true"`
	Timeout             time.Duration   `yaml:"timeout" doc:"Timeout of the model's response in one attempt of a job, including retries of the call." default:"90s" min:"1s" restart:"true"`
	Concurrency         NoteConcurrency `yaml:"concurrency" doc:"Maximum number of concurrent jobs on one server, per queue." restart:"true"`
}

// NoteConcurrency is notes.concurrency.
type NoteConcurrency struct {
	Extract   int `yaml:"extract" doc:"Extraction jobs." default:"4" min:"1" max:"1000"`
	Organize  int `yaml:"organize" doc:"Organization jobs." default:"2" min:"1" max:"1000"`
	Reprocess int `yaml:"reprocess" doc:"Reprocessing jobs, each of which queues a batch of notes again." default:"1" min:"1" max:"1000"`
}
