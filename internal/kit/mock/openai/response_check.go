package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"tarsy.dev/tarsy/llm"
)

// minOutputTokens is the lowest limit of output tokens that the API accepts.
const minOutputTokens = 16

// includable are the extras that a caller can request.
var includable = []string{
	"file_search_call.results", "web_search_call.results", "web_search_call.action.sources", "message.input_image.image_url",
	"computer_call_output.output.image_url", "code_interpreter_call.outputs", "reasoning.encrypted_content", "message.output_text.logprobs",
}

// check checks everything except input, tools and nested values.
func (r *responseRequest) check() *problem {
	return firstProblem(r.checkNumbers, r.checkWords,
		func() *problem { return checkMetadata(r.Metadata) },
		func() *problem { return checkLength("safety_identifier", r.SafetyIdentifier, maxIdentifier) })
}

func (r *responseRequest) checkNumbers() *problem {
	var temperature, topP *float64

	if p := readAs(r.Temperature, "temperature", &temperature); p != nil {
		return p
	}

	if p := readAs(r.TopP, "top_p", &topP); p != nil {
		return p
	}

	for _, n := range []number{
		{param: "temperature", value: temperature, most: 2},
		{param: "top_p", value: topP, most: 1},
		{param: "top_logprobs", value: r.TopLogprobs, most: 20, whole: true},
		{param: "max_output_tokens", value: r.MaxOutputTokens, least: minOutputTokens, most: unlimited, whole: true},
		{param: "max_tool_calls", value: r.MaxToolCalls, least: 1, most: unlimited, whole: true},
	} {
		if p := n.check(); p != nil {
			return p
		}
	}

	return nil
}

func (r *responseRequest) checkWords() *problem {
	words := []choice{{"service_tier", r.ServiceTier, tiers}, {"truncation", r.Truncation, []string{"auto", "disabled"}}}
	for i, extra := range r.Include {
		words = append(words, choice{fmt.Sprintf("include[%d]", i), extra, includable})
	}

	for _, word := range words {
		if p := word.check(); p != nil {
			return p
		}
	}

	return nil
}

// checkRead checks what requires the whole request to be decoded.
func (r *responseRequest) checkRead(asked *llm.Request) *problem {
	if r.anyJSON && !slices.ContainsFunc(asked.Messages, func(m llm.Message) bool { return mentionsJSON(m.Content) }) {
		return invalid("input", "", "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.")
	}

	var tools []json.RawMessage

	_ = json.Unmarshal(r.Tools, &tools) // it has already been decoded

	names := make([]string, 0, len(r.tools))
	for name := range r.tools {
		names = append(names, name)
	}

	return checkToolChoice(r.ToolChoice, names, len(tools) > 0 || len(r.tools) > 0)
}
