package openai

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"

	"tarsy.dev/tarsy/llm"
)

// chatStream puts one answer of Chat Completions together.
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

// chat makes a call by Chat Completions.
func (c *Client) chat(ctx context.Context, req *llm.Request, yield sender) error {
	names := llm.NewToolNames(req)
	s := &chatStream{client: c, ctx: ctx, sender: yield}

	complete, err := c.post(ctx, "chat/completions", c.chatParams(req, names), s.event)

	switch {
	case err == nil && (complete || s.finish != ""):
	case err == nil:
		return cut(ctx)
	case s.finish == "" || ctx.Err() != nil || !llm.AsError(err).Retryable:
		return err
	}

	return s.ends(len(req.Messages), names)
}

// event takes one chunk of the stream.
func (s *chatStream) event(data []byte) error {
	var chunk sdk.ChatCompletionChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return malformed(s.ctx, err)
	}

	if chunk.JSON.Usage.Valid() {
		s.usage = chatUsage(chunk.Usage)
	}

	for i := range chunk.Choices {
		// There is one choice; a server that counts it otherwise has no other.
		if err := s.choice(&chunk.Choices[i]); err != nil {
			return err
		}
	}

	return nil
}

func (s *chatStream) choice(choice *sdk.ChatCompletionChunkChoice) error {
	delta := &choice.Delta

	if extra := delta.JSON.ExtraFields; len(extra) > 0 {
		s.cite(extra["annotations"])

		if err := s.thinking(reasoning(extra)); err != nil {
			return err
		}
	}

	if err := s.text(delta.Content); err != nil {
		return err
	}

	s.refusal.WriteString(delta.Refusal)

	for i := range delta.ToolCalls {
		s.calls.add(&delta.ToolCalls[i])
	}

	if choice.FinishReason != "" {
		s.finish = choice.FinishReason
	}

	return nil
}

// reasoning is the thinking that compatible servers show; some say it twice, under both names.
func reasoning(extra map[string]respjson.Field) string {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var text string
		if field := extra[name]; json.Unmarshal([]byte(field.Raw()), &text) == nil && text != "" {
			return text
		}
	}

	return ""
}

// cite keeps the pages that a model which searches by itself names.
func (s *chatStream) cite(field respjson.Field) {
	var annotations []struct {
		Citation llm.Source `json:"url_citation"`
	}

	if json.Unmarshal([]byte(field.Raw()), &annotations) != nil {
		return
	}

	for _, annotation := range annotations {
		s.sources = addSource(s.sources, annotation.Citation)
	}
}

// ends passes on what is known only when the answer is whole.
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

// chatUsage is the usage as we count it.
func chatUsage(usage sdk.CompletionUsage) llm.UsageChunk {
	thinking := usage.CompletionTokensDetails.ReasoningTokens
	output := usage.CompletionTokens

	// xAI counts thinking beside the output, everybody else within it.
	if usage.TotalTokens != usage.PromptTokens+output+thinking {
		output = max(output-thinking, 0)
	}

	return llm.UsageChunk{
		InputTokens: int(usage.PromptTokens), CachedTokens: int(usage.PromptTokensDetails.CachedTokens),
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
