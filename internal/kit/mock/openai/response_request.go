package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// responseRequest has the supported fields of a request for a response. Values that are only echoed to the caller stay
// undecoded.
type responseRequest struct {
	Model              string          `json:"model"`
	Input              input           `json:"input"`
	Instructions       *string         `json:"instructions"`
	Tools              json.RawMessage `json:"tools"`
	MaxOutputTokens    *float64        `json:"max_output_tokens"`
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
	TopLogprobs        *float64        `json:"top_logprobs"`
	MaxToolCalls       *float64        `json:"max_tool_calls"`
	ServiceTier        string          `json:"service_tier"`
	Truncation         string          `json:"truncation"`
	Metadata           json.RawMessage `json:"metadata"`
	User               string          `json:"user"`
	PromptCacheKey     string          `json:"prompt_cache_key"`
	SafetyIdentifier   string          `json:"safety_identifier"`

	// tools are the tools that the caller declares and runs, by the names that scripts use.
	tools map[string]declaredTool
	// unknown are the tools that this server does not know.
	unknown []string
	// anyJSON means that the answer must be JSON, without a schema.
	anyJSON bool
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

// countTokens answers with the estimated number of tokens: four bytes are a token.
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

// readResponse decodes and checks a request, for a response or for counting its tokens.
func readResponse(x *exchange.Exchange) (*responseRequest, *llm.Request, *problem) {
	request := &responseRequest{}
	if p := decode(x.Body, request); p != nil {
		return nil, nil, p
	}

	switch {
	case given(request.Conversation):
		return nil, nil, invalid("conversation", "invalid_value", "Invalid value for 'conversation': this server keeps no conversations.")
	case request.Background:
		return nil, nil, invalid("background", "invalid_value", "Invalid value for 'background': this server does not support background responses.")
	}

	history, p := request.history(x)
	if p == nil {
		p = resolve(x, request.Input.items)
	}

	if p != nil {
		return nil, nil, p
	}

	asked := &llm.Request{Model: request.Model, MaxOutputTokens: whole(request.MaxOutputTokens)}

	if p := firstProblem(request.check,
		func() *problem { return request.readReasoning(asked) },
		func() *problem { return request.readFormat(asked) },
		func() *problem { return request.readTools(asked, request.Tools, "tools") },
		func() *problem { return request.readInput(asked, history) },
		func() *problem { return request.checkRead(asked) },
	); p != nil {
		return nil, nil, p
	}

	x.Entry.Error = strings.Join(request.unknown, "; ")

	return request, asked, nil
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// readAs decodes a part of the request that was kept undecoded.
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
		Effort  string `json:"effort"`
		Summary string `json:"summary"`
	}
	if p := readAs(r.Reasoning, "reasoning", &reasoning); p != nil {
		return p
	}

	asked.ReasoningEffort = reasoning.Effort

	return firstProblem(choice{"reasoning.effort", reasoning.Effort, efforts}.check,
		choice{"reasoning.summary", reasoning.Summary, []string{"auto", "concise", "detailed"}}.check)
}

func (r *responseRequest) readFormat(asked *llm.Request) *problem {
	var text struct {
		Format struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
		Verbosity string `json:"verbosity"`
	}
	if p := readAs(r.Text, "text", &text); p != nil {
		return p
	}

	if p := firstProblem(choice{"text.format.type", text.Format.Type, formats}.check,
		choice{"text.verbosity", text.Verbosity, verbosities}.check); p != nil {
		return p
	}

	switch text.Format.Type {
	case "json_schema":
		asked.ResponseSchema = text.Format.Schema

		return checkName(text.Format.Name, "text.format.name", maxFunctionName)
	case "json_object":
		asked.ResponseSchema, r.anyJSON = json.RawMessage(`{"type":"object"}`), true
	}

	return nil
}

// includes reports whether the caller requests something that is otherwise left out.
func (r *responseRequest) includes(what string) bool { return slices.Contains(r.Include, what) }
