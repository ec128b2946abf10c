package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"tarsy.dev/tarsy/internal/mock/exchange"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// responseRequest is what is read of a request for a response. What is only told back to the caller stays as it came.
type responseRequest struct {
	Model              string          `json:"model"`
	Input              input           `json:"input"`
	Instructions       *string         `json:"instructions"`
	Tools              json.RawMessage `json:"tools"`
	MaxOutputTokens    *int            `json:"max_output_tokens"`
	Include            []string        `json:"include"`
	Stream             bool            `json:"stream"`
	Background         bool            `json:"background"`
	Store              *bool           `json:"store"`
	PreviousResponseID string          `json:"previous_response_id"`
	Conversation       json.RawMessage `json:"conversation"`
	Reasoning          json.RawMessage `json:"reasoning"`
	Text               json.RawMessage `json:"text"`
	ToolChoice         json.RawMessage `json:"tool_choice"`
	ParallelToolCalls  *bool           `json:"parallel_tool_calls"`
	Temperature        json.RawMessage `json:"temperature"`
	TopP               json.RawMessage `json:"top_p"`
	Truncation         string          `json:"truncation"`
	Metadata           json.RawMessage `json:"metadata"`
	User               string          `json:"user"`
	PromptCacheKey     string          `json:"prompt_cache_key"`
	SafetyIdentifier   string          `json:"safety_identifier"`
}

// responseTool is a tool of a response: a function, or one that the provider runs.
type responseTool struct {
	function

	Type string `json:"type"`
}

func respond(x *exchange.Exchange) {
	name(x)

	request, asked, p := readResponse(x)
	if p == nil && request.Model == "" {
		p = missing("model")
	}

	if p == nil && !request.Input.set {
		p = missing("input")
	}

	if p != nil {
		refuse(x, p)

		return
	}

	x.Answer(exchange.Call{
		Request: asked, Stream: request.Stream, ContentType: eventStream, Encoder: newResponseEncoder(x, request),
	})
}

// countTokens counts as people guess: four bytes are a token.
func countTokens(x *exchange.Exchange) {
	_, asked, p := readResponse(x)
	if p != nil {
		refuse(x, p)

		return
	}

	x.Entry.Model = asked.Model
	x.JSON(struct {
		Object      string `json:"object"`
		InputTokens int    `json:"input_tokens"`
	}{"response.input_tokens", script.InputTokens(asked)})
}

// readResponse reads a request as far as asking for a response and counting its tokens have it in common.
func readResponse(x *exchange.Exchange) (*responseRequest, *llm.Request, *problem) {
	request := &responseRequest{}
	if p := decode(x.Body, request); p != nil {
		return nil, nil, p
	}

	switch {
	case given(request.Conversation):
		return nil, nil, invalid("conversation", "invalid_value", "Invalid value for 'conversation': this server keeps no conversations.")
	case request.Background:
		return nil, nil, invalid("background", "invalid_value", "Invalid value for 'background': this server answers at once only.")
	}

	history, p := request.history(x)
	if p == nil {
		p = resolve(x, request.Input.items)
	}

	if p != nil {
		return nil, nil, p
	}

	asked := &llm.Request{Model: request.Model}
	if request.MaxOutputTokens != nil {
		asked.MaxOutputTokens = *request.MaxOutputTokens
	}

	for _, read := range []func(*llm.Request) *problem{request.readReasoning, request.readFormat, request.readTools} {
		if p := read(asked); p != nil {
			return nil, nil, p
		}
	}

	if p := request.readInput(asked, history); p != nil {
		return nil, nil, p
	}

	return request, asked, nil
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// readAs decodes a part of the request that was kept as it came.
func readAs(raw json.RawMessage, param string, into any) *problem {
	if !given(raw) {
		return nil
	}

	p := decode(raw, into)
	if p != nil {
		p.param = param
		p.message = fmt.Sprintf("Invalid value for '%s': %s", param, p.message)
	}

	return p
}

func (r *responseRequest) readReasoning(asked *llm.Request) *problem {
	var reasoning struct {
		Effort string `json:"effort"`
	}

	p := readAs(r.Reasoning, "reasoning", &reasoning)
	asked.ReasoningEffort = reasoning.Effort

	return p
}

func (r *responseRequest) readFormat(asked *llm.Request) *problem {
	var text struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	}

	p := readAs(r.Text, "text", &text)

	switch text.Format.Type {
	case "json_schema":
		asked.ResponseSchema = text.Format.Schema
	case "json_object":
		asked.ResponseSchema = json.RawMessage(`{"type":"object"}`)
	}

	return p
}

func (r *responseRequest) readTools(asked *llm.Request) *problem {
	var tools []responseTool
	if p := readAs(r.Tools, "tools", &tools); p != nil {
		return p
	}

	for i, tool := range tools {
		switch tool.Type {
		case "function":
			if tool.Name == "" {
				return missing(fmt.Sprintf("tools[%d].name", i))
			}

			asked.Tools = append(asked.Tools, tool.tool())
		case "web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11":
			asked.NativeTools.GoogleSearch = true
		case "code_interpreter":
			asked.NativeTools.CodeExecution = true
		default:
			return invalid(fmt.Sprintf("tools[%d].type", i), "invalid_value",
				"Invalid value: '%s' for 'tools[%d].type'. This server knows 'function', 'web_search' and 'code_interpreter'.", tool.Type, i)
		}
	}

	return nil
}

// includes reports whether the caller asks for something that is left out otherwise.
func (r *responseRequest) includes(what string) bool { return slices.Contains(r.Include, what) }
