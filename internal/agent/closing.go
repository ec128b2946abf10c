package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/llm"
)

// ClosingInput is the input of a call that concludes a session: the executive summary, or the verdict.
type ClosingInput struct {
	SessionID string
	Analysis  string
	// Models are asked in this order, until one answers.
	Models []Fallback
	// Limit is how long one call may take.
	Limit time.Duration
	// Deadline is when the session's time is up. Zero means never.
	Deadline time.Time
	// Instructions are appended to ours; they may be empty.
	Instructions string
}

// Closing is the outcome of the concluding calls.
type Closing struct {
	// Err is why there is no result; nil if there is one.
	Err error
	// Interactions are all calls that were made, including failed ones, for the trace.
	Interactions []tarsy.LLMInteraction
	// Fallbacks are timeline events that report where another model took over; they have no sequence numbers yet.
	Fallbacks []tarsy.TimelineEvent
}

// closingCall describes a call. read parses the answer of a model, or returns why it is invalid; the last one read counts.
type closingCall struct {
	agent        string
	purpose      tarsy.InteractionType
	what         string // for users
	system, user string
	schema       json.RawMessage
	late         error
	read         func(llm.Response) error
}

// left returns how long a call can take.
func (in ClosingInput) left(now time.Time) time.Duration {
	if in.Deadline.IsZero() {
		return in.Limit
	}

	return min(in.Limit, in.Deadline.Sub(now))
}

// ask asks one model after the other until one answers. A model for which the analysis is too long gets less of it.
func (in ClosingInput) ask(ctx context.Context, cfg Config, call closingCall) Closing {
	var closing Closing

	for i, model := range in.Models {
		if in.left(cfg.Clock.Now()) <= 0 {
			closing.Err = call.late

			break
		}

		asked := call
		room := Spec{MaxResultTokens: model.MaxResultTokens}.contextTokens()
		interaction, err := in.askModel(ctx, cfg, asked, model, room)
		closing.Interactions = append(closing.Interactions, interaction)

		if err != nil && call.schema != nil && llm.AsError(err).Class == llm.ClassInvalid {
			// The provider may not support schemas: put the schema into the prompt.
			asked = call.inWords()
			interaction, err = in.askModel(ctx, cfg, asked, model, room)
			closing.Interactions = append(closing.Interactions, interaction)
		}

		if tight := room / tightShare; interaction.ErrorCode == CodeContextTooLong && quote.Tokens(in.Analysis) > tight {
			interaction, err = in.askModel(ctx, cfg, asked, model, tight)
			closing.Interactions = append(closing.Interactions, interaction)
		}

		closing.Err = err

		if err == nil || ctx.Err() != nil {
			break
		}

		if i+1 < len(in.Models) {
			to := in.Models[i+1].Provider
			closing.Fallbacks = append(closing.Fallbacks, tarsy.TimelineEvent{
				EventType: tarsy.EventProviderFallback, Content: fallbackText(model.Provider, to, err.Error()),
				Metadata: fallbackMetadata(model.Provider, to, interaction.ErrorCode),
			})
		}
	}

	return closing
}

// inWords returns the call for a provider without schemas: the schema is part of the prompt.
func (c closingCall) inWords() closingCall {
	c.system += "\n\nRespond with one JSON object and nothing else. It must fit this JSON Schema:\n" + string(c.schema)
	c.schema = nil

	return c
}

// askModel asks one model, with at most the given number of tokens of the analysis.
func (in ClosingInput) askModel(ctx context.Context, cfg Config, call closingCall, model Fallback, tokens int) (tarsy.LLMInteraction, error) {
	limit := in.left(cfg.Clock.Now())

	limited, cancel := withLimit(ctx, cfg.Clock, limit, errIterationTimeout)
	defer cancel()

	request := &llm.Request{
		SessionID: in.SessionID, Agent: call.agent, Purpose: string(call.purpose),
		Provider: model.Provider, Model: model.Model, Backend: model.Backend, ResponseSchema: call.schema,
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: call.system},
			{Role: llm.RoleUser, Content: call.user + quote.Block("ANALYSIS", quote.Truncate(in.Analysis, tokens))},
		},
	}

	started := calendar.Time(cfg.Clock.Now())
	response, attempts, err := cfg.collectContained(limited, request, func(llm.Chunk) error { return nil })

	// Text before an error is read too: it is shown with the error.
	if wrong := call.read(response); err == nil {
		err = wrong
	}

	interaction := cfg.interaction(call.purpose, request, response, started)
	interaction.Attempts, interaction.MessageCount, interaction.LLMRequest = attempts, len(request.Messages), encodeMessages(request.Messages)
	noteFailure(&interaction, err)

	if errors.Is(err, errIterationTimeout) {
		err = fmt.Errorf("the %s took longer than %s", call.what, limit.Round(time.Second))
		interaction.ErrorMessage = err.Error()
	}

	return interaction, err
}
