package anthropic

import (
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"tarsy.dev/tarsy/llm"
)

// newParams is a request in the API's form. Prefix stands for all of it that comes before the answer.
func newParams(req *llm.Request, names llm.ToolNames) (params sdk.MessageNewParams, prefix string, err error) {
	params = sdk.MessageNewParams{Model: req.Model, StopSequences: req.Stop}

	if err := setLimits(&params, req); err != nil {
		return params, "", err
	}

	if err := setSchema(&params, req.ResponseSchema); err != nil {
		return params, "", err
	}

	params.System = systemTexts(req)
	setTools(&params, req, names)

	c := conversation{by: signer(req.Model), names: names, bound: familyOf(req.Model).bound}
	if c.bound {
		c.digest(params.System)
		c.digest(params.Tools)
	}

	for _, message := range req.Messages {
		c.add(message)
	}

	params.Messages = c.messages

	if c.bound {
		prefix = c.prefix()
	}

	// Marks are no part of what came before.
	if req.CachePrompt {
		markCache(&params)
	}

	return params, prefix, nil
}

// setTools sets the tools that are bound, or those that the API runs itself.
func setTools(params *sdk.MessageNewParams, req *llm.Request, names llm.ToolNames) {
	for _, tool := range req.Tools {
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: newTool(names.Wire(tool.Name), tool.Description, tool.Schema)})
	}

	if len(req.Tools) > 0 {
		return
	}

	if req.NativeTools.GoogleSearch {
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfWebSearchTool20250305: &sdk.WebSearchTool20250305Param{}})
	}

	if req.NativeTools.URLContext && !familyOf(req.Model).noFetch {
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfWebFetchTool20250910: &sdk.WebFetchTool20250910Param{}})
	}

	if req.NativeTools.CodeExecution {
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfCodeExecutionTool20250825: &sdk.CodeExecutionTool20250825Param{}})
	}

	if len(params.Tools) == 0 {
		setCalledTools(params, req, names)
	}
}

// setCalledTools names the tools that a conversation has called, and forbids to call them: where there are calls, the API
// may want to know of what, and nothing is bound.
func setCalledTools(params *sdk.MessageNewParams, req *llm.Request, names llm.ToolNames) {
	named := map[string]bool{}

	for _, message := range req.Messages {
		for _, call := range message.ToolCalls {
			name := names.Wire(call.Name)
			if !named[name] {
				named[name] = true
				params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: newTool(name, "", nil)})
			}
		}
	}

	if len(params.Tools) > 0 {
		params.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	}
}

// markCache marks how far the prompt is to be cached: the tools, the system texts, and all of the conversation. The API takes
// four marks.
func markCache(params *sdk.MessageNewParams) {
	mark := sdk.NewCacheControlEphemeralParam()

	if n := len(params.System); n > 0 {
		params.System[n-1].CacheControl = mark
	}

	if n := len(params.Tools); n > 0 {
		if at := params.Tools[n-1].GetCacheControl(); at != nil {
			*at = mark
		}
	}

	for _, message := range slices.Backward(params.Messages) {
		for _, block := range slices.Backward(message.Content) {
			// Thinking cannot be marked.
			if at := block.GetCacheControl(); at != nil {
				*at = mark

				return
			}
		}
	}
}
