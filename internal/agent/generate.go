package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

// answer is what an LLM call came to: the response, the step that records it, and, should the call be abandoned,
// the step that keeps the text so far.
type answer struct {
	llm.Response

	// reply is the text understood, where the strategy is the text protocol.
	reply   reply
	step    tarsy.Step
	partial tarsy.Step
}

// generate makes one LLM call within the iteration's time limit, showing its text while it comes.
func (r *run) generate(ctx context.Context, purpose tarsy.InteractionType) (answer, error) {
	limited, cancel := withLimit(ctx, r.Clock, r.Spec.IterationTimeout, errIterationTimeout)
	defer cancel()

	// A call that is cut off costs only its repetition, so an execution that should yield does not wait for it.
	defer context.AfterFunc(r.Yield, cancel)()

	live := &liveText{run: r}
	defer live.end()

	started := r.now()
	response, err := collect(limited, r.LLM, r.request(purpose), live.add)
	interaction := r.interaction(purpose, response, started)
	interaction.Provider, interaction.ModelName, interaction.MessageCount = r.Spec.Provider, r.Spec.Model, len(r.Messages)

	a := answer{Response: response, partial: live.partial()}

	if err == nil && r.Spec.Strategy == React {
		a.reply = parseReply(response.Text)
		if purpose == tarsy.InteractionIteration {
			// What a model invented after its action is nothing that people, or other models, should take for a finding.
			live.rewrite(tarsy.EventResponse, a.reply.kept)
		}
	}

	a.step = live.finish(noteFailure(&interaction, err))
	a.step.LLMInteractions = append(a.step.LLMInteractions, interaction)
	r.nativeEvents(&a.step, response)
	r.abandonSummaries(&a.step)

	return a, err
}

// collect reads the answer to a request. A call that the iteration's limit ended returns errIterationTimeout.
func collect(limited context.Context, client llm.Client, req *llm.Request, each func(llm.Chunk) error) (llm.Response, error) {
	response, err := llm.Collect(client.Generate(limited, req), bounded(each))
	response.Text, response.Thinking = tarsy.CleanText(response.Text), tarsy.CleanText(response.Thinking)

	if err != nil && context.Cause(limited) == errIterationTimeout { //nolint:errorlint // the very cause of withLimit
		err = errIterationTimeout
	}

	return response, err
}

// maxAnswer is how many bytes of an answer are taken: far more than a model has to say, and little enough to be stored
// and shown several times over.
const maxAnswer = 8 << 20

var errAnswerTooLong = fmt.Errorf("the model's answer is longer than %d bytes", maxAnswer)

// bounded ends an answer that would not end by itself before its time is up.
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
		default:
		}

		if size > maxAnswer {
			return errAnswerTooLong
		}

		return each(chunk)
	}
}

// noteFailure writes an error into the record of its call, and returns what becomes of the call's events.
func noteFailure(interaction *tarsy.LLMInteraction, err error) tarsy.EventStatus {
	switch {
	case errors.Is(err, errIterationTimeout):
		interaction.ErrorCode, interaction.ErrorMessage = CodeIterationTimeout, err.Error()

		return tarsy.EventTimedOut
	case err != nil:
		interaction.ErrorCode, interaction.ErrorMessage = CodeLLMError, tarsy.CleanText(err.Error())

		return tarsy.EventFailed
	default:
		return tarsy.EventCompleted
	}
}

// request is the call as the provider gets it.
func (r *run) request(purpose tarsy.InteractionType) *llm.Request {
	req := &llm.Request{
		SessionID: r.Session.ID, ExecutionID: r.Execution.ID, Agent: r.Execution.AgentName, Purpose: string(purpose),
		Provider: r.Spec.Provider, Model: r.Spec.Model, Backend: r.Spec.Backend,
	}

	for _, m := range r.Messages {
		req.Messages = append(req.Messages, r.wireMessage(m))
	}

	if purpose == tarsy.InteractionIteration && r.Spec.Strategy != React {
		for _, t := range r.toolList {
			req.Tools = append(req.Tools, llm.Tool{Name: t.WireName(), Description: t.Description, Schema: t.Schema})
		}
	}

	// Whoever is told to conclude is told that there are no tools any more, and a synthesis has none.
	if len(req.Tools) == 0 && purpose == tarsy.InteractionIteration {
		req.NativeTools = r.Spec.NativeTools
	}

	return req
}

// wireMessage is a message as the provider gets it. A model without functions sees text alone.
func (r *run) wireMessage(m tarsy.Message) llm.Message {
	message := llm.Message{Role: string(m.Role), Content: m.Content}

	if m.ToolCallID != "" {
		// A result that was kept whole to be summarised, and was not, is still too long for any model.
		message.Content = truncate(m.Content, r.Spec.resultTokens())
	}

	if r.Spec.Strategy == React {
		return message
	}

	message.ToolCallID, message.ToolName = m.ToolCallID, m.ToolName
	for _, c := range m.ToolCalls {
		message.ToolCalls = append(message.ToolCalls, llm.ToolCall(c))
	}

	return message
}

// interaction is the record of a call that began at started and is over now.
func (r *run) interaction(purpose tarsy.InteractionType, response llm.Response, started time.Time) tarsy.LLMInteraction {
	now := r.now()

	return tarsy.LLMInteraction{
		ID: tarsy.NewID(), SessionID: r.Session.ID, StageID: &r.Stage.ID, ExecutionID: &r.Execution.ID,
		InteractionType: purpose, LLMResponse: encodeResponse(response), ThinkingContent: response.Thinking, Usage: usageOf(response.Usage),
		DurationMs: elapsed(started, now), CreatedAt: now,
	}
}

// encodeResponse keeps what the model answered. Strings are cleaned one by one, for JSON hides a NUL as an escape.
func encodeResponse(response llm.Response) json.RawMessage {
	calls := make([]llm.ToolCall, 0, len(response.ToolCalls))
	for _, c := range response.ToolCalls {
		calls = append(calls, llm.ToolCall{
			ID: tarsy.CleanText(c.ID), Name: tarsy.CleanText(c.Name), Arguments: tarsy.CleanText(c.Arguments),
		})
	}

	raw, err := json.Marshal(map[string]any{"text": response.Text, "tool_calls": calls})
	if err != nil {
		panic("agent: a response of strings does not marshal: " + err.Error())
	}

	return raw
}

func usageOf(u llm.UsageChunk) tarsy.Usage {
	return tarsy.Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, ThinkingTokens: u.ThinkingTokens, CachedTokens: u.CachedTokens,
		TotalTokens: u.InputTokens + u.OutputTokens + u.ThinkingTokens,
	}
}

// nativeEvents shows what the provider did on its own: code that it ran, pages that it searched or read.
func (r *run) nativeEvents(step *tarsy.Step, response llm.Response) {
	var events []tarsy.TimelineEvent

	for _, c := range response.CodeExecutions {
		e := r.event(tarsy.EventCodeExecution, tarsy.EventCompleted, tarsy.CleanText(c.Result))
		e.Metadata = map[string]any{"code": tarsy.CleanText(c.Code)}
		events = append(events, e)
	}

	for _, g := range response.Groundings {
		kind := tarsy.EventGoogleSearch
		if g.Kind == "url_context" {
			kind = tarsy.EventURLContext
		}

		sources := make([]any, 0, len(g.Sources))
		lines := make([]string, 0, len(g.Sources))

		for _, s := range g.Sources {
			title, url := tarsy.CleanText(s.Title), tarsy.CleanText(s.URL)
			sources = append(sources, map[string]any{"title": title, "url": url})
			lines = append(lines, title+" "+url)
		}

		e := r.event(kind, tarsy.EventCompleted, strings.Join(lines, "\n"))
		e.Metadata = map[string]any{"queries": cleanAll(g.Queries), "sources": sources}
		events = append(events, e)
	}

	for _, e := range events {
		create(step, e)
	}
}

func cleanAll(texts []string) []any {
	clean := make([]any, 0, len(texts))
	for _, t := range texts {
		clean = append(clean, tarsy.CleanText(t))
	}

	return clean
}
