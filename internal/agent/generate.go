package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/react"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// answer is the outcome of an LLM call: the response, the step that records it, and the step that keeps the text so far if the call is
// abandoned.
type answer struct {
	llm.Response

	// reply is the parsed text if the strategy is the text protocol.
	reply   react.Reply
	step    progress.Step
	partial progress.Step
}

// generate makes one LLM call within the iteration's time limit, and streams its text.
func (r *run) generate(ctx context.Context, purpose tarsy.InteractionType) (answer, error) {
	limit, cause := r.callLimit(purpose)

	limited, cancel := withLimit(ctx, r.Clock, limit, cause)
	defer cancel()

	// A cancelled call only has to be repeated, so an execution that should yield does not wait for it.
	defer context.AfterFunc(r.Yield, cancel)()

	live := &liveText{execution: &r.execution}
	defer live.end()

	started := r.now()
	request := newRequest(&r.Input, r.tools.list, purpose)
	response, attempts, err := r.collect(limited, request, live.add)
	interaction := r.interaction(purpose, request, response, started)
	interaction.MessageCount, interaction.ShortenedThrough = len(r.Messages), r.Execution.ShortenedThrough
	interaction.Attempts = attempts

	a := answer{Response: response, partial: live.partial()}

	if err == nil && r.Spec.Strategy == React {
		a.reply = react.Parse(response.Text)
		if purpose == tarsy.InteractionIteration {
			// Text that a model invented after its action must not be taken for a finding, by people or by other models.
			live.rewrite(tarsy.EventResponse, a.reply.Kept)
		}
	}

	a.step = live.finish(noteFailure(&interaction, err))
	a.step.LLMInteractions = append(a.step.LLMInteractions, interaction)
	a.step.Prompts = map[string]progress.Prompt{interaction.ID: request.Messages}
	r.nativeEvents(&a.step, response)
	r.abandonSummaries(&a.step)

	return a, err
}

// errPanicked is the error of a call that panicked; the log has the details.
var errPanicked = errors.New("something went wrong in the server")

// collectContained is collect for calls whose failure must not affect anything else: a panic becomes an error.
func (c Config) collectContained(limited context.Context, req *llm.Request, each func(llm.Chunk) error) (response llm.Response, attempts int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			c.Logger.Error("an LLM call panicked", "session_id", req.SessionID, "purpose", req.Purpose, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))

			response, attempts, err = llm.Response{}, 1, errPanicked
		}
	}()

	return c.collect(limited, req, each)
}

// collect reads the answer to a request and counts the attempts. A call that its limit ended returns errIterationTimeout or
// errDeadline; if the limit ended the wait for another attempt, the error is that of the previous attempt.
func (c Config) collect(limited context.Context, req *llm.Request, each func(llm.Chunk) error) (response llm.Response, attempts int, err error) {
	calls := &attempted{Client: c.LLM}
	again := func(attempt int, err error) {
		calls.failed = c.failure(err)

		c.Logger.Warn("an LLM call failed; retrying", "session_id", req.SessionID, "provider", req.Provider, "attempt", attempt, "error", calls.failed)
	}

	response, err = llm.Collect(c.Retry.Generate(limited, calls, req, again), bounded(each))
	response.Text, response.Thinking = plaintext.Clean(response.Text), plaintext.Clean(response.Thinking)

	cause := context.Cause(limited)
	timedOut := cause == errIterationTimeout || cause == errDeadline //nolint:errorlint // the very cause of withLimit

	switch {
	case err == nil:
	case timedOut && calls.failed != nil:
		err = calls.failed
	case timedOut:
		err = cause
	default:
		err = c.failure(err)
	}

	return response, calls.made, err
}

// attempted counts the attempts of a call.
type attempted struct {
	llm.Client

	made int
	// failed is the error of the last attempt while the next one is pending.
	failed error
}

// Generate implements llm.Client.
func (a *attempted) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	a.made++
	a.failed = nil

	return a.Client.Generate(ctx, req)
}

// maxAnswer is how many bytes of an answer are accepted: far more than a model needs, and little enough to be stored and shown several
// times.
const maxAnswer = 8 << 20

var errAnswerTooLong = fmt.Errorf("the model's answer is longer than %d bytes", maxAnswer)

// bounded ends an answer that exceeds maxAnswer, which otherwise would continue until its time is up.
func bounded(each func(llm.Chunk) error) func(llm.Chunk) error {
	size := 0

	return func(chunk llm.Chunk) error {
		switch c := chunk.(type) {
		case llm.TextChunk:
			size += len(c.Text)
		case llm.ThinkingChunk:
			size += len(c.Text)
		case llm.ToolCallChunk:
			size += len(c.Call.ID) + len(c.Call.Name) + len(c.Call.Arguments)
		case llm.CodeExecutionChunk:
			size += len(c.Code) + len(c.Result)
		case llm.EndChunk:
			if c.Signature != nil {
				size += len(c.Signature.Data)
			}
		default:
		}

		if size > maxAnswer {
			return errAnswerTooLong
		}

		return each(chunk)
	}
}

// newRequest builds the request for the provider.
func newRequest(in *Input, tools []Tool, purpose tarsy.InteractionType) *llm.Request {
	req := &llm.Request{
		SessionID: in.Session.ID, ExecutionID: in.Execution.ID, Agent: in.Execution.AgentName, Purpose: string(purpose),
		Provider: in.Spec.Provider, Model: in.Spec.Model, Backend: in.Spec.Backend,
	}

	numbers := callNumbers(in)

	for _, m := range in.Messages {
		req.Messages = append(req.Messages, wireMessage(in, m, numbers[m.ToolCallID]))
	}

	if purpose == tarsy.InteractionIteration && in.Spec.Strategy != React {
		for _, t := range tools {
			req.Tools = append(req.Tools, llm.Tool{Name: t.WireName(), Description: t.Description, Schema: t.Schema})
		}
	}

	if purpose == tarsy.InteractionIteration && in.Spec.Strategy == React {
		req.Stop = []string{react.StopSequence}
	}

	// A model that must conclude was told that there are no more tools, and a synthesis has none.
	if len(req.Tools) == 0 && purpose == tarsy.InteractionIteration {
		req.NativeTools = in.Spec.NativeTools
	}

	return req
}

// wireMessage converts a message for the provider; a result has the number of its call. A model without functions gets only text.
func wireMessage(in *Input, m tarsy.Message, number string) llm.Message {
	message := llm.Message{Role: string(m.Role), Content: m.ContentFor(in.Execution.ShortenedThrough), Signature: readSignature(m.Signature)}

	if m.ToolCallID != "" {
		// A result that was kept whole to be summarised, and was not, is still too long for any model.
		message.Content = in.Spec.cutResult(number, message.Content)
	}

	if in.Spec.Strategy == React {
		return message
	}

	message.ToolCallID, message.ToolName = m.ToolCallID, m.ToolName
	for _, c := range m.ToolCalls {
		message.ToolCalls = append(message.ToolCalls, llm.ToolCall(c))
	}

	return message
}

// interaction builds the record of a finished call of this execution.
func (x *execution) interaction(purpose tarsy.InteractionType, req *llm.Request, response llm.Response, started time.Time) tarsy.LLMInteraction {
	interaction := x.Config.interaction(purpose, req, response, started)
	interaction.StageID, interaction.ExecutionID = &x.Stage.ID, &x.Execution.ID

	return interaction
}

// maxStopReason is how many bytes of a stop reason are kept; the known ones are short, but a gateway may have its own.
const maxStopReason = 100

// interaction builds the record of a finished call that began at started.
func (c Config) interaction(purpose tarsy.InteractionType, req *llm.Request, response llm.Response, started time.Time) tarsy.LLMInteraction {
	now := calendar.Time(c.Clock.Now())

	usage := UsageOf(response.Usage)
	if c.Price != nil {
		usage = c.Price(req.Model, now, usage)
	}

	return tarsy.LLMInteraction{
		ID: ident.New(), SessionID: req.SessionID, InteractionType: purpose, Provider: req.Provider, ModelName: req.Model,
		LLMResponse: encodeResponse(response), ThinkingContent: response.Thinking, Usage: usage,
		StopReason: plaintext.Cut(plaintext.Clean(string(response.End.Reason)), maxStopReason), Attempts: 1, DurationMs: elapsed(started, now), CreatedAt: now,
	}
}

// encodeResponse encodes what the model answered. Strings are cleaned one by one, because JSON hides a NUL as an escape.
func encodeResponse(response llm.Response) json.RawMessage {
	calls := make([]llm.ToolCall, 0, len(response.ToolCalls))
	for _, c := range response.ToolCalls {
		calls = append(calls, llm.ToolCall{
			ID: plaintext.Clean(c.ID), Name: plaintext.Clean(c.Name), Arguments: plaintext.Clean(c.Arguments),
		})
	}

	raw, err := json.Marshal(map[string]any{"text": response.Text, "tool_calls": calls})
	if err != nil {
		panic("agent: a response of strings does not marshal: " + err.Error())
	}

	return raw
}

// nativeEvents adds events for what the provider did itself: code that it ran, pages that it searched or read.
func (x *execution) nativeEvents(step *progress.Step, response llm.Response) {
	var events []tarsy.TimelineEvent

	for _, c := range response.CodeExecutions {
		e := x.newEvent(tarsy.EventCodeExecution, tarsy.EventCompleted, plaintext.Clean(c.Result))
		e.Metadata = tarsy.NewMetadata(tarsy.CodeExecutionMetadata{Code: plaintext.Clean(c.Code)})
		events = append(events, e)
	}

	for _, g := range response.Groundings {
		kind := tarsy.EventGoogleSearch
		if g.Kind == "url_context" {
			kind = tarsy.EventURLContext
		}

		sources := make([]tarsy.GroundingSource, 0, len(g.Sources))
		lines := make([]string, 0, len(g.Sources))

		for _, s := range g.Sources {
			title, url := plaintext.Clean(s.Title), plaintext.Clean(s.URL)
			sources = append(sources, tarsy.GroundingSource{Title: title, URL: url})
			lines = append(lines, title+" "+url)
		}

		e := x.newEvent(kind, tarsy.EventCompleted, strings.Join(lines, "\n"))
		e.Metadata = tarsy.NewMetadata(tarsy.GroundingMetadata{Queries: cleanAll(g.Queries), Sources: sources})
		events = append(events, e)
	}

	for _, e := range events {
		create(step, e)
	}
}

func cleanAll(texts []string) []string {
	clean := make([]string, 0, len(texts))
	for _, t := range texts {
		clean = append(clean, plaintext.Clean(t))
	}

	return clean
}
