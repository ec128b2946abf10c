package grpc

import (
	"strconv"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc/llmpb"
)

// chunk converts a response. It returns nil if there is nothing to pass on, as for a kind that is not known yet.
func (a *answer) chunk(response *llmpb.GenerateResponse) (llm.Chunk, error) {
	switch c := response.GetChunk().(type) {
	case *llmpb.GenerateResponse_Text:
		if text := c.Text.GetContent(); text != "" {
			return llm.TextChunk{Text: text}, nil
		}
	case *llmpb.GenerateResponse_Thinking:
		if text := c.Thinking.GetContent(); text != "" {
			return llm.ThinkingChunk{Text: text}, nil
		}
	case *llmpb.GenerateResponse_ToolCall:
		return llm.ToolCallChunk{Call: a.call(c.ToolCall)}, nil
	case *llmpb.GenerateResponse_CodeExecution:
		return llm.CodeExecutionChunk{Code: c.CodeExecution.GetCode(), Result: c.CodeExecution.GetResult()}, nil
	case *llmpb.GenerateResponse_Grounding:
		return grounding(c.Grounding), nil
	case *llmpb.GenerateResponse_Usage:
		return llm.UsageChunk{
			InputTokens: int(c.Usage.GetInputTokens()), OutputTokens: int(c.Usage.GetOutputTokens()),
			ThinkingTokens: int(c.Usage.GetThinkingTokens()), CachedTokens: int(c.Usage.GetCachedTokens()),
		}, nil
	case *llmpb.GenerateResponse_End:
		return a.end(c.End), nil
	case *llmpb.GenerateResponse_Error:
		return nil, a.errorOf(c.Error)
	}

	return nil, nil //nolint:nilnil // nothing to pass on is neither
}

// call converts a call. It adds an id if the gateway did not, so that the result can refer to the call.
func (a *answer) call(wire *llmpb.ToolCall) llm.ToolCall {
	a.calls++

	call := llm.ToolCall{ID: wire.GetId(), Name: a.names.Name(wire.GetName()), Arguments: wire.GetArguments()}
	if call.ID == "" {
		call.ID = "call_" + strconv.Itoa(a.calls)
	}

	if call.Arguments == "" {
		call.Arguments = "{}"
	}

	return call
}

func grounding(wire *llmpb.Grounding) llm.GroundingChunk {
	chunk := llm.GroundingChunk{Kind: wire.GetKind(), Queries: wire.GetQueries()}
	for _, source := range wire.GetSources() {
		chunk.Sources = append(chunk.Sources, llm.Source{Title: source.GetTitle(), URL: source.GetUrl()})
	}

	return chunk
}

func (a *answer) end(wire *llmpb.End) llm.EndChunk {
	chunk := llm.EndChunk{Reason: llm.StopReason(wire.GetStopReason())}
	if chunk.Reason == "" {
		chunk.Reason = llm.StopEnd
	}

	if wire.GetSignature() != nil {
		chunk.Signature = wrapSignature(a.by, wire.GetSignature())
	}

	return chunk
}

// wireChunk converts a chunk to the protocol; nil if the protocol has no such chunk.
func wireChunk(chunk llm.Chunk) *llmpb.GenerateResponse {
	switch c := chunk.(type) {
	case llm.TextChunk:
		return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_Text{Text: &llmpb.Text{Content: valid(c.Text)}}}
	case llm.ThinkingChunk:
		return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_Thinking{Thinking: &llmpb.Thinking{Content: valid(c.Text)}}}
	case llm.ToolCallChunk:
		return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_ToolCall{ToolCall: wireCall(c.Call)}}
	case llm.CodeExecutionChunk:
		return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_CodeExecution{
			CodeExecution: &llmpb.CodeExecution{Code: valid(c.Code), Result: valid(c.Result)},
		}}
	case llm.GroundingChunk:
		return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_Grounding{Grounding: wireGrounding(c)}}
	case llm.UsageChunk:
		return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_Usage{Usage: &llmpb.Usage{
			InputTokens: int32(c.InputTokens), OutputTokens: int32(c.OutputTokens),
			ThinkingTokens: int32(c.ThinkingTokens), CachedTokens: int32(c.CachedTokens),
		}}}
	case llm.EndChunk:
		return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_End{End: wireEnd(c)}}
	}

	return nil
}

func wireGrounding(chunk llm.GroundingChunk) *llmpb.Grounding {
	wire := &llmpb.Grounding{Kind: valid(chunk.Kind)}
	for _, query := range chunk.Queries {
		wire.Queries = append(wire.Queries, valid(query))
	}

	for _, source := range chunk.Sources {
		wire.Sources = append(wire.Sources, &llmpb.Source{Title: valid(source.Title), Url: valid(source.URL)})
	}

	return wire
}

func wireEnd(chunk llm.EndChunk) *llmpb.End {
	end := &llmpb.End{StopReason: string(chunk.Reason)}
	if chunk.Signature != nil {
		end.Signature = &llmpb.Signature{By: valid(chunk.Signature.By), Data: valid(string(chunk.Signature.Data))}
	}

	return end
}
