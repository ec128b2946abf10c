package agent

import (
	"context"
	"fmt"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

const summarySystemPrompt = "You write executive summaries of incident investigations for people who have half a minute. " +
	"Plain sentences, at most four of them, no headings, nothing that the analysis does not say."

const summaryUserPrompt = "Summarise this analysis: what happened, why, and what to do.\n\n"

// SummaryInput is one executive summary to be written.
type SummaryInput struct {
	SessionID string
	Analysis  string
	Provider  string
	Model     string
	Backend   string
	Limit     time.Duration
}

// Summarise writes the executive summary in one call without tools. The interaction is there for the trace whether
// or not the call succeeded.
func Summarise(ctx context.Context, cfg Config, in SummaryInput) (string, tarsy.LLMInteraction, error) {
	limited, cancel := withLimit(ctx, cfg.Clock, in.Limit, errIterationTimeout)
	defer cancel()

	request := &llm.Request{
		SessionID: in.SessionID, Agent: "ExecSummaryAgent", Purpose: string(tarsy.InteractionExecutiveSummary),
		Provider: in.Provider, Model: in.Model, Backend: in.Backend,
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: summarySystemPrompt},
			{Role: llm.RoleUser, Content: summaryUserPrompt + block("ANALYSIS", in.Analysis)},
		},
	}

	started := tarsy.Time(cfg.Clock.Now())
	response, err := llm.Collect(cfg.LLM.Generate(limited, request), bounded(func(llm.Chunk) error { return nil }))
	response.Text, response.Thinking = tarsy.CleanText(response.Text), tarsy.CleanText(response.Thinking)

	if err == nil && response.Text == "" {
		err = errNoSummary
	}

	if err != nil && context.Cause(limited) == errIterationTimeout { //nolint:errorlint // the very cause set above
		err = fmt.Errorf("the summary took longer than %s", in.Limit)
	}

	now := tarsy.Time(cfg.Clock.Now())
	interaction := tarsy.LLMInteraction{
		ID: tarsy.NewID(), SessionID: in.SessionID, InteractionType: tarsy.InteractionExecutiveSummary,
		Provider: in.Provider, ModelName: in.Model, MessageCount: len(request.Messages), LLMRequest: encodeMessages(request.Messages),
		LLMResponse: encodeResponse(response), ThinkingContent: response.Thinking, Usage: usageOf(response.Usage),
		DurationMs: elapsed(started, now), CreatedAt: now,
	}

	if err != nil {
		interaction.ErrorCode, interaction.ErrorMessage = CodeLLMError, tarsy.CleanText(err.Error())
	}

	return response.Text, interaction, err
}
