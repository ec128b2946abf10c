package config

import "time"

// NotePipeline is the section about notes: how they are captured and processed.
type NotePipeline struct {
	LLMProvider         string          `yaml:"llm_provider" doc:"Model that extracts and organizes; by default defaults.llm_provider." ref:"llm_providers"`
	ConfidenceThreshold float64         `yaml:"confidence_threshold" doc:"Confidence of the model below which a person decides, from 0.01 to 1." default:"0.7" min:"0.01" max:"1" restart:"true"`
	DuplicateThreshold  float64         `yaml:"duplicate_threshold" doc:"Similarity of words from which the model is asked whether two entities are the same, from 0.01 to 1." default:"0.5" min:"0.01" max:"1" restart:"true"`
	RatePerMinute       int             `yaml:"rate_per_minute" doc:"Notes that can be captured per minute and API key on one server; further ones are refused with 429 too_many_requests. 0 means no limit." default:"120" min:"0" restart:"true"`
	MaxAttempts         int             `yaml:"max_attempts" doc:"Attempts per job, including the first. An answer that does not fit the schema is not tried again." default:"5" min:"1" max:"25" restart:"true"`
	Timeout             time.Duration   `yaml:"timeout" doc:"Longest time for the model's answer in one attempt of a job, retries of the call included." default:"90s" min:"1s" restart:"true"`
	Concurrency         NoteConcurrency `yaml:"concurrency" doc:"Jobs that one server runs concurrently, per queue." restart:"true"`
}

// NoteConcurrency is notes.concurrency.
type NoteConcurrency struct {
	Extract   int `yaml:"extract" doc:"Extractions." default:"4" min:"1" max:"1000"`
	Organize  int `yaml:"organize" doc:"Organizations." default:"2" min:"1" max:"1000"`
	Reprocess int `yaml:"reprocess" doc:"Batches of notes that are queued again." default:"1" min:"1" max:"1000"`
}
