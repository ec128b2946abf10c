// Package infer asks a language model what a note contains and where it belongs. It contains the prompts, the JSON Schemas of the answers,
// and the checks that an answer must pass. It knows llm.Client and the vocabulary, but not the database.
package infer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/structured"
	"tarsy.dev/tarsy/llm"
)

// The names of the two agents in llm.Request.Agent, which scripts use for routing, and of their calls in llm.Request.Purpose.
const (
	AgentExtract  = "NoteExtractor"
	AgentOrganize = "NoteOrganizer"

	PurposeExtract  = "note_extraction"
	PurposeOrganize = "note_organization"
)

// DefaultTimeout is the timeout of a call unless the configuration sets another one.
const DefaultTimeout = 2 * time.Minute

// Config selects the model.
type Config struct {
	// LLM is required.
	LLM llm.Client
	// Provider, Model and Backend are passed in llm.Request.
	Provider string
	Model    string
	Backend  string
	// Retry is for errors that resolve within seconds. The zero value means no retries; the queue retries the whole job anyway.
	Retry llm.Retry
	// Timeout limits one call including its retries; zero means DefaultTimeout.
	Timeout time.Duration
}

// Model answers questions about notes. It keeps no state between calls and is safe for concurrent use.
type Model struct{ current func() Config }

// New returns a Model that uses a fixed configuration.
func New(cfg Config) *Model { return Following(func() Config { return cfg }) }

// Following returns a Model that reads the configuration at each call.
func Following(current func() Config) *Model {
	return &Model{current: func() Config {
		cfg := current()
		cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)

		return cfg
	}}
}

// errTimeout is the error of a call that takes too long. Another attempt may be faster.
var errTimeout = &llm.Error{Class: llm.ClassTransient, Retryable: true, Message: "the model did not answer in time"}

// Call describes one call of the model: its purpose and its usage. Failed calls have one too.
type Call struct {
	Purpose, Provider, Model string
	// Without the cost.
	Usage tarsy.Usage
}

// ask makes one call and returns its text. Errors of the call are returned unchanged.
func (m *Model) ask(ctx context.Context, agentName, purpose, system, user string, schema json.RawMessage) (string, Call, error) {
	cfg := m.current()

	limited, cancel := context.WithTimeoutCause(ctx, cfg.Timeout, errTimeout)
	defer cancel()

	request := &llm.Request{
		Agent: agentName, Purpose: purpose, Provider: cfg.Provider, Model: cfg.Model, Backend: cfg.Backend, ResponseSchema: schema,
		Messages: []llm.Message{{Role: llm.RoleSystem, Content: system}, {Role: llm.RoleUser, Content: user}},
	}

	response, err := llm.Collect(cfg.Retry.Generate(limited, cfg.LLM, request, nil), nil)
	call := Call{Purpose: purpose, Provider: cfg.Provider, Model: cfg.Model, Usage: agent.UsageOf(response.Usage)}

	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			return "", call, errTimeout
		}

		return "", call, err
	}

	if response.End.Reason == llm.StopMaxTokens {
		return "", call, fmt.Errorf("%w: it was cut at the limit of output tokens; raise max_output_tokens of the provider", structured.ErrSchema)
	}

	return response.Text, call, nil
}

// today returns the date that relative dates refer to, with its weekday.
func today(now time.Time) string { return now.Format("Monday, ") + calendar.DateOf(now).String() }
