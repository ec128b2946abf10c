package openai

import (
	"context"
	"encoding/json"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// chatChunk is an event of the stream.
type chatChunk struct {
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage"`
}

type chatChoice struct {
	Delta        chatDelta `json:"delta"`
	FinishReason wire.Text `json:"finish_reason"`
}

// chatDelta is a piece of the answer. The last three fields are not part of OpenAI's own API.
type chatDelta struct {
	Content          wire.Text       `json:"content"`
	Refusal          wire.Text       `json:"refusal"`
	ToolCalls        []callPiece     `json:"tool_calls"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	Annotations      json.RawMessage `json:"annotations"`
}

type chatUsage struct {
	PromptTokens        wire.Count `json:"prompt_tokens"`
	CompletionTokens    wire.Count `json:"completion_tokens"`
	TotalTokens         wire.Count `json:"total_tokens"`
	PromptTokensDetails struct {
		CachedTokens wire.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// chatStream assembles one answer of Chat Completions.
type chatStream struct {
	client *Client
	ctx    context.Context //nolint:containedctx // it lives as long as the call
	sender

	calls   callList
	finish  string
	refusal strings.Builder
	usage   llm.UsageChunk
	sources []llm.Source
}

// chat makes a call with Chat Completions.
func (c *Client) chat(ctx context.Context, req *llm.Request, yield sender) error {
	names := llm.NewToolNames(req)
	s := &chatStream{client: c, ctx: ctx, sender: yield}

	complete, err := c.post(ctx, "chat/completions", c.chatRequest(req, names), s.event)

	switch {
	case err == nil && (complete || s.finish != ""):
	case err == nil:
		return cut(ctx)
	case s.finish == "" || ctx.Err() != nil || !llm.AsError(err).Retryable:
		return err
	}

	return s.ends(len(req.Messages), names)
}

// event handles one chunk of the stream.
func (s *chatStream) event(data []byte) error {
	var chunk chatChunk
	if err := wire.Unmarshal(data, &chunk); err != nil {
		return malformed(s.ctx, err)
	}

	if chunk.Usage != nil {
		s.usage = chunk.Usage.chunk()
	}

	for i := range chunk.Choices {
		// There is only one choice, even if a server gives it another index.
		if err := s.choice(&chunk.Choices[i]); err != nil {
			return err
		}
	}

	return nil
}

func (s *chatStream) choice(choice *chatChoice) error {
	delta := &choice.Delta

	s.cite(delta.Annotations)

	if err := s.thinking(delta.thinking()); err != nil {
		return err
	}

	if err := s.text(string(delta.Content)); err != nil {
		return err
	}

	s.refusal.WriteString(string(delta.Refusal))

	for i := range delta.ToolCalls {
		s.calls.add(&delta.ToolCalls[i])
	}

	if choice.FinishReason != "" {
		s.finish = string(choice.FinishReason)
	}

	return nil
}

// thinking returns the thinking that compatible servers send; some send it twice, under both names.
func (d *chatDelta) thinking() string {
	for _, field := range []json.RawMessage{d.ReasoningContent, d.Reasoning} {
		var text string
		if json.Unmarshal(field, &text) == nil && text != "" {
			return text
		}
	}

	return ""
}

// cite records the pages cited by a model that searches on its own.
func (s *chatStream) cite(field json.RawMessage) {
	var annotations []struct {
		Citation llm.Source `json:"url_citation"`
	}

	if len(field) == 0 || json.Unmarshal(field, &annotations) != nil {
		return
	}

	for _, annotation := range annotations {
		s.sources = addSource(s.sources, annotation.Citation)
	}
}

// ends passes on what is known only when the answer is complete.
func (s *chatStream) ends(turn int, names llm.ToolNames) error {
	switch {
	case s.refusal.Len() > 0:
		return s.client.refused("refusal", s.refusal.String())
	case s.finish == "content_filter":
		return s.client.refused("content_filter", "the answer was withheld by the provider's content filter")
	}

	end := llm.EndChunk{Reason: llm.StopEnd}
	calls := s.calls.whole(turn, names)

	if s.finish == "length" {
		end.Reason = llm.StopMaxTokens
		calls = complete(calls)
	} else if len(calls) > 0 {
		end.Reason = llm.StopToolCalls
	}

	for _, call := range calls {
		if err := s.send(llm.ToolCallChunk{Call: call}); err != nil {
			return err
		}
	}

	if len(s.sources) > 0 {
		if err := s.send(llm.GroundingChunk{Kind: "google_search", Sources: s.sources}); err != nil {
			return err
		}
	}

	return s.end(s.usage, end)
}

// chunk converts the usage to the way llm counts it.
func (u *chatUsage) chunk() llm.UsageChunk {
	thinking := u.CompletionTokensDetails.ReasoningTokens
	output := u.CompletionTokens

	// xAI counts thinking separately from the output, all others as part of it.
	if u.TotalTokens != u.PromptTokens+output+thinking {
		output = max(output-thinking, 0)
	}

	return llm.UsageChunk{
		InputTokens: int(u.PromptTokens), CachedTokens: int(u.PromptTokensDetails.CachedTokens),
		OutputTokens: int(output), ThinkingTokens: int(thinking),
	}
}

func addSource(sources []llm.Source, source llm.Source) []llm.Source {
	if source.URL == "" {
		return sources
	}

	for i := range sources {
		if sources[i].URL != source.URL {
			continue
		}

		if sources[i].Title == "" {
			sources[i].Title = source.Title
		}

		return sources
	}

	return append(sources, source)
}
