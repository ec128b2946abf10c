package anthropic

import (
	"slices"

	"tarsy.dev/tarsy/llm"
)

// newRequest converts a request to the API's form. prefix is a digest of everything that precedes the answer, and empty for
// models that are not bound.
func newRequest(req *llm.Request, names llm.ToolNames) (body *messageRequest, prefix string, err error) {
	body = &messageRequest{Model: req.Model, StopSequences: req.Stop, Stream: true}

	if err := setLimits(body, req); err != nil {
		return nil, "", err
	}

	if err := setSchema(body, req.ResponseSchema); err != nil {
		return nil, "", err
	}

	body.System = systemTexts(req)
	setTools(body, req, names)

	c := conversation{by: signer(req.Model), names: names, bound: familyOf(req.Model).bound}
	if c.bound {
		c.digest(body.System)
		c.digest(body.Tools)
	}

	for _, message := range req.Messages {
		c.add(message)
	}

	body.Messages = c.messages

	if c.bound {
		prefix = c.prefix()
	}

	// Cache marks are not part of the prefix.
	if req.CachePrompt {
		markCache(body)
	}

	return body, prefix, nil
}

// setOutput returns the output configuration, creating it if necessary.
func (r *messageRequest) setOutput() *outputConfig {
	if r.OutputConfig == nil {
		r.OutputConfig = &outputConfig{}
	}

	return r.OutputConfig
}

// setTools sets the bound tools, or those that the API runs itself.
func setTools(body *messageRequest, req *llm.Request, names llm.ToolNames) {
	for _, tool := range req.Tools {
		body.Tools = append(body.Tools, newTool(names.Wire(tool.Name), tool.Description, tool.Schema))
	}

	if len(req.Tools) > 0 {
		return
	}

	if req.NativeTools.GoogleSearch {
		body.Tools = append(body.Tools, tool{Name: "web_search", Type: "web_search_20250305"})
	}

	if req.NativeTools.URLContext && !familyOf(req.Model).noFetch {
		body.Tools = append(body.Tools, tool{Name: "web_fetch", Type: "web_fetch_20250910"})
	}

	if req.NativeTools.CodeExecution {
		body.Tools = append(body.Tools, tool{Name: "code_execution", Type: "code_execution_20250825"})
	}

	if len(body.Tools) == 0 {
		setCalledTools(body, req, names)
	}
}

// setCalledTools declares the tools that a conversation has called, and forbids calling them: the API may require the
// declaration of a called tool even if no tools are bound.
func setCalledTools(body *messageRequest, req *llm.Request, names llm.ToolNames) {
	named := map[string]bool{}

	for _, message := range req.Messages {
		for _, call := range message.ToolCalls {
			name := names.Wire(call.Name)
			if !named[name] {
				named[name] = true
				body.Tools = append(body.Tools, newTool(name, "", nil))
			}
		}
	}

	if len(body.Tools) > 0 {
		body.ToolChoice = &toolChoice{Type: "none"}
	}
}

// markCache marks how far the prompt is to be cached: the tools, the system texts, and the whole conversation. The API accepts
// four marks.
func markCache(body *messageRequest) {
	mark := &cacheControl{Type: "ephemeral"}

	if n := len(body.System); n > 0 {
		body.System[n-1].CacheControl = mark
	}

	if n := len(body.Tools); n > 0 {
		body.Tools[n-1].CacheControl = mark
	}

	for _, message := range slices.Backward(body.Messages) {
		for i := range slices.Backward(message.Content) {
			if block := &message.Content[i]; block.markable() {
				block.CacheControl = mark

				return
			}
		}
	}
}
