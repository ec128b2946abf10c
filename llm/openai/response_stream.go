package openai

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3/responses"

	"tarsy.dev/tarsy/llm"
)

// responseStream puts one answer of Responses together.
type responseStream struct {
	client *Client
	ctx    context.Context //nolint:containedctx // it lives as long as the call
	sender

	model string
	names llm.ToolNames
	// items are the whole items that came.
	items   []outputItem
	calls   int
	thought bool
	refusal strings.Builder
	found   llm.GroundingChunk
	// response is the last thing that came.
	response *finished
}

// outputItem is what matters of an item beside its text, which came piece by piece. The library's type would keep several
// copies of that.
type outputItem struct {
	Type             string `json:"type"`
	ID               string `json:"id"`
	CallID           string `json:"call_id"`
	Phase            string `json:"phase"`
	EncryptedContent string `json:"encrypted_content"`
	Summary          []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Content []struct {
		Annotations []llm.Source `json:"annotations"`
	} `json:"content"`
}

// finished is what matters of a response that is over.
type finished struct {
	Status            responses.ResponseStatus `json:"status"`
	Error             responses.ResponseError  `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []outputItem            `json:"output"`
	Usage  responses.ResponseUsage `json:"usage"`
}

// respond makes a call by Responses.
func (c *Client) respond(ctx context.Context, req *llm.Request, yield sender) error {
	names := llm.NewToolNames(req)
	s := &responseStream{client: c, ctx: ctx, sender: yield, model: req.Model, names: names}

	_, err := c.post(ctx, "responses", c.responseParams(req, names), s.event)
	for err != nil && ctx.Err() == nil && c.dropExtra(req.Model, err) {
		_, err = c.post(ctx, "responses", c.responseParams(req, names), s.event)
	}

	if err != nil {
		return err
	}

	if s.response == nil {
		return cut(ctx)
	}

	return s.ends()
}

// event takes one event of the stream.
func (s *responseStream) event(data []byte) error {
	var event struct {
		Type string `json:"type"`
	}

	if err := json.Unmarshal(data, &event); err != nil {
		return malformed(s.ctx, err)
	}

	switch event.Type {
	case "response.output_text.delta":
		return read(s.ctx, data, func(e *responses.ResponseTextDeltaEvent) error { return s.text(e.Delta) })
	case "response.reasoning_summary_text.delta":
		return read(s.ctx, data, func(e *responses.ResponseReasoningSummaryTextDeltaEvent) error { return s.think(e.Delta) })
	case "response.reasoning_text.delta":
		return read(s.ctx, data, func(e *responses.ResponseReasoningTextDeltaEvent) error { return s.think(e.Delta) })
	case "response.reasoning_summary_part.added":
		// Parts are paragraphs.
		if s.thought {
			return s.thinking("\n\n")
		}
	case "response.refusal.delta":
		return read(s.ctx, data, func(e *responses.ResponseRefusalDeltaEvent) error {
			s.refusal.WriteString(e.Delta)

			return nil
		})
	case "response.output_item.done":
		return read(s.ctx, data, func(e *struct {
			Item json.RawMessage `json:"item"`
		},
		) error {
			return s.item(e.Item)
		})
	case "response.completed", "response.incomplete", "response.failed":
		return read(s.ctx, data, func(e *struct {
			Response finished `json:"response"`
		},
		) error {
			s.response = &e.Response

			return errDone
		})
	case "error":
		return s.client.streamError(readError(data))
	}

	return nil
}

// read decodes an event, or a part of one, and does something with it.
func read[E any](ctx context.Context, data []byte, do func(event *E) error) error {
	var event E
	if err := json.Unmarshal(data, &event); err != nil {
		return malformed(ctx, err)
	}

	return do(&event)
}

func (s *responseStream) think(text string) error {
	s.thought = s.thought || text != ""

	return s.thinking(text)
}

// item takes a whole item.
func (s *responseStream) item(data []byte) error {
	var item outputItem
	if err := json.Unmarshal(data, &item); err != nil {
		return malformed(s.ctx, err)
	}

	s.items = append(s.items, item)

	switch item.Type {
	case "function_call":
		return read(s.ctx, data, s.call)
	case "code_interpreter_call":
		return read(s.ctx, data, s.ran)
	case "web_search_call":
		return read(s.ctx, data, s.searched)
	case "message":
		for _, content := range item.Content {
			for _, source := range content.Annotations {
				s.found.Sources = addSource(s.found.Sources, source)
			}
		}
	}

	return nil
}

func (s *responseStream) call(call *responses.ResponseFunctionToolCall) error {
	// A call that was cut must not be made.
	if call.Status == responses.ResponseFunctionToolCallStatusIncomplete {
		return nil
	}

	s.calls++

	written := call.Arguments
	if strings.TrimSpace(written) == "" {
		written = "{}"
	}

	return s.send(llm.ToolCallChunk{Call: llm.ToolCall{ID: call.CallID, Name: s.names.Name(call.Name), Arguments: written}})
}

// ran passes on code that the provider ran.
func (s *responseStream) ran(run *responses.ResponseCodeInterpreterToolCall) error {
	var result strings.Builder

	for _, output := range run.Outputs {
		switch output.Type {
		case "logs":
			result.WriteString(output.Logs)
		case "image":
			result.WriteString(output.URL + "\n")
		}
	}

	return s.send(llm.CodeExecutionChunk{Code: run.Code, Result: result.String()})
}

func (s *responseStream) searched(search *responses.ResponseFunctionWebSearch) error {
	queries := search.Action.Queries
	if len(queries) == 0 && search.Action.Query != "" {
		queries = []string{search.Action.Query}
	}

	s.found.Queries = append(s.found.Queries, queries...)

	return nil
}

// ends passes on what is known only when the answer is whole.
func (s *responseStream) ends() error {
	end := llm.EndChunk{Reason: llm.StopEnd}
	if s.calls > 0 {
		end.Reason = llm.StopToolCalls
	}

	switch reason := s.response.IncompleteDetails.Reason; {
	case s.response.Status == responses.ResponseStatusFailed || s.response.Status == responses.ResponseStatusCancelled:
		said := s.response.Error

		return s.client.streamError(report{code: string(said.Code), kind: said.Type, message: said.Message})
	case s.refusal.Len() > 0:
		return s.client.refused("refusal", s.refusal.String())
	case reason == "content_filter":
		return s.client.refused(reason, "the answer was withheld by the provider's content filter")
	case s.response.Status == responses.ResponseStatusIncomplete:
		end.Reason = llm.StopMaxTokens
	}

	if len(s.found.Queries) > 0 || len(s.found.Sources) > 0 {
		s.found.Kind = "google_search"
		if err := s.send(s.found); err != nil {
			return err
		}
	}

	end.Signature = sign(s.output(), s.client.by(s.model))

	return s.end(responseUsage(s.response.Usage), end)
}

// output is all that was answered: the last event has it, but with some servers not.
func (s *responseStream) output() []outputItem {
	if len(s.response.Output) > 0 {
		return s.response.Output
	}

	return s.items
}

// responseUsage is the usage as we count it.
func responseUsage(usage responses.ResponseUsage) llm.UsageChunk {
	thinking := usage.OutputTokensDetails.ReasoningTokens

	return llm.UsageChunk{
		InputTokens: int(usage.InputTokens), CachedTokens: int(usage.InputTokensDetails.CachedTokens),
		OutputTokens: int(max(usage.OutputTokens-thinking, 0)), ThinkingTokens: int(thinking),
	}
}
