package openai

import (
	"context"
	"encoding/json"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// The types of items.
const (
	messageType      = "message"
	reasoningType    = "reasoning"
	functionCallType = "function_call"
)

// incompleteStatus is the status of an answer, or a call, that was cut off.
const incompleteStatus = "incomplete"

// responseStream assembles one answer of Responses.
type responseStream struct {
	client *Client
	ctx    context.Context //nolint:containedctx // it lives as long as the call
	sender

	model string
	names llm.ToolNames
	// items are the complete items received so far.
	items   []outputItem
	calls   int
	thought bool
	refusal strings.Builder
	found   llm.GroundingChunk
	// response is the last event of the stream.
	response *finished
}

// outputItem is the relevant part of an item except its text, which arrives piece by piece.
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

// finished is the relevant part of a finished response.
type finished struct {
	Status string `json:"status"`
	Error  struct {
		Code    wire.Text `json:"code"`
		Type    wire.Text `json:"type"`
		Message wire.Text `json:"message"`
	} `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []outputItem  `json:"output"`
	Usage  responseUsage `json:"usage"`
}

type responseUsage struct {
	InputTokens        wire.Count `json:"input_tokens"`
	OutputTokens       wire.Count `json:"output_tokens"`
	InputTokensDetails struct {
		CachedTokens wire.Count `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputTokensDetails struct {
		ReasoningTokens wire.Count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// textDelta is a piece of a text: of the answer, its thinking or a refusal.
type textDelta struct {
	Delta wire.Text `json:"delta"`
}

// functionCall, codeRun and webSearch are complete items.
type functionCall struct {
	Status    wire.Text `json:"status"`
	CallID    wire.Text `json:"call_id"`
	Name      wire.Text `json:"name"`
	Arguments wire.Text `json:"arguments"`
}

type codeRun struct {
	Code    wire.Text `json:"code"`
	Outputs []struct {
		Type wire.Text `json:"type"`
		Logs wire.Text `json:"logs"`
		URL  wire.Text `json:"url"`
	} `json:"outputs"`
}

type webSearch struct {
	Action struct {
		Query   wire.Text   `json:"query"`
		Queries []wire.Text `json:"queries"`
	} `json:"action"`
}

// respond makes a call with Responses.
func (c *Client) respond(ctx context.Context, req *llm.Request, yield sender) error {
	names := llm.NewToolNames(req)
	s := &responseStream{client: c, ctx: ctx, sender: yield, model: req.Model, names: names}

	_, err := c.post(ctx, "responses", c.responseRequest(req, names), s.event)
	for err != nil && ctx.Err() == nil && c.dropExtra(req.Model, err) {
		_, err = c.post(ctx, "responses", c.responseRequest(req, names), s.event)
	}

	if err != nil {
		return err
	}

	if s.response == nil {
		return cut(ctx)
	}

	return s.ends()
}

// event handles one event of the stream.
func (s *responseStream) event(data []byte) error {
	var event struct {
		Type string `json:"type"`
	}

	if err := json.Unmarshal(data, &event); err != nil {
		return malformed(s.ctx, err)
	}

	switch event.Type {
	case "response.output_text.delta":
		return read(s.ctx, data, func(e *textDelta) error { return s.text(string(e.Delta)) })
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return read(s.ctx, data, func(e *textDelta) error { return s.think(string(e.Delta)) })
	case "response.reasoning_summary_part.added":
		// Parts are paragraphs.
		if s.thought {
			return s.thinking("\n\n")
		}
	case "response.refusal.delta":
		return read(s.ctx, data, func(e *textDelta) error {
			s.refusal.WriteString(string(e.Delta))

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

// read decodes an event, or a part of one, and passes it to do.
func read[E any](ctx context.Context, data []byte, do func(event *E) error) error {
	var event E
	if err := wire.Unmarshal(data, &event); err != nil {
		return malformed(ctx, err)
	}

	return do(&event)
}

func (s *responseStream) think(text string) error {
	s.thought = s.thought || text != ""

	return s.thinking(text)
}

// item handles a complete item.
func (s *responseStream) item(data []byte) error {
	var item outputItem
	if err := json.Unmarshal(data, &item); err != nil {
		return malformed(s.ctx, err)
	}

	s.items = append(s.items, item)

	switch item.Type {
	case functionCallType:
		return read(s.ctx, data, s.call)
	case "code_interpreter_call":
		return read(s.ctx, data, s.ran)
	case "web_search_call":
		return read(s.ctx, data, s.searched)
	case messageType:
		for _, content := range item.Content {
			for _, source := range content.Annotations {
				s.found.Sources = addSource(s.found.Sources, source)
			}
		}
	}

	return nil
}

func (s *responseStream) call(call *functionCall) error {
	// A call that was cut off must not be made.
	if call.Status == incompleteStatus {
		return nil
	}

	s.calls++

	written := string(call.Arguments)
	if strings.TrimSpace(written) == "" {
		written = "{}"
	}

	return s.send(llm.ToolCallChunk{Call: llm.ToolCall{ID: string(call.CallID), Name: s.names.Name(string(call.Name)), Arguments: written}})
}

// ran passes on code that the provider ran.
func (s *responseStream) ran(run *codeRun) error {
	var result strings.Builder

	for _, output := range run.Outputs {
		switch output.Type {
		case "logs":
			result.WriteString(string(output.Logs))
		case "image":
			result.WriteString(string(output.URL) + "\n")
		}
	}

	return s.send(llm.CodeExecutionChunk{Code: string(run.Code), Result: result.String()})
}

func (s *responseStream) searched(search *webSearch) error {
	queries := search.Action.Queries
	if len(queries) == 0 && search.Action.Query != "" {
		queries = []wire.Text{search.Action.Query}
	}

	for _, query := range queries {
		s.found.Queries = append(s.found.Queries, string(query))
	}

	return nil
}

// ends passes on what is known only when the answer is complete.
func (s *responseStream) ends() error {
	end := llm.EndChunk{Reason: llm.StopEnd}
	if s.calls > 0 {
		end.Reason = llm.StopToolCalls
	}

	switch reason := s.response.IncompleteDetails.Reason; {
	case s.response.Status == "failed" || s.response.Status == "cancelled":
		failure := s.response.Error

		return s.client.streamError(report{code: string(failure.Code), kind: string(failure.Type), message: string(failure.Message)})
	case s.refusal.Len() > 0:
		return s.client.refused("refusal", s.refusal.String())
	case reason == "content_filter":
		return s.client.refused(reason, "the answer was withheld by the provider's content filter")
	case s.response.Status == incompleteStatus:
		end.Reason = llm.StopMaxTokens
	}

	if len(s.found.Queries) > 0 || len(s.found.Sources) > 0 {
		s.found.Kind = "google_search"
		if err := s.send(s.found); err != nil {
			return err
		}
	}

	end.Signature = sign(s.output(), s.client.by(s.model))

	return s.end(s.response.Usage.chunk(), end)
}

// output returns the items of the answer: from the last event, or as received if a server omits them there.
func (s *responseStream) output() []outputItem {
	if len(s.response.Output) > 0 {
		return s.response.Output
	}

	return s.items
}

// chunk converts the usage to the way llm counts it.
func (u *responseUsage) chunk() llm.UsageChunk {
	thinking := u.OutputTokensDetails.ReasoningTokens

	return llm.UsageChunk{
		InputTokens: int(u.InputTokens), CachedTokens: int(u.InputTokensDetails.CachedTokens),
		OutputTokens: int(max(u.OutputTokens-thinking, 0)), ThinkingTokens: int(thinking),
	}
}
