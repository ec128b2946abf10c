package openai

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// participant matches valid names of a message's author.
var participant = regexp.MustCompile(`^[^\s<|\\/>]+$`)

// check checks everything except messages and tools.
func (r *chatRequest) check() *problem {
	switch {
	case r.Model == "":
		return missing("model")
	case r.Messages == nil:
		return missing("messages")
	case len(r.Messages) == 0:
		return invalid("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1.")
	}

	return firstProblem(r.checkNumbers, r.checkWords, r.checkTogether, r.checkFormat,
		func() *problem { return checkMetadata(r.Metadata) },
		func() *problem { return checkLength("safety_identifier", r.SafetyIdentifier, maxIdentifier) },
		func() *problem { return checkToolChoice(r.ToolChoice, r.toolNames(), len(r.Tools) > 0) },
		r.checkServed)
}

func (r *chatRequest) checkNumbers() *problem {
	for _, n := range []number{
		{param: "temperature", value: r.Temperature, most: 2},
		{param: "top_p", value: r.TopP, most: 1},
		{param: "frequency_penalty", value: r.FrequencyPenalty, least: -2, most: 2},
		{param: "presence_penalty", value: r.PresencePenalty, least: -2, most: 2},
		{param: "top_logprobs", value: r.TopLogprobs, most: 20, whole: true},
		{param: "n", value: r.N, least: 1, most: 128, whole: true},
		{param: "max_tokens", value: r.MaxTokens, least: 1, most: unlimited, whole: true},
		{param: "max_completion_tokens", value: r.MaxCompletionTokens, least: 1, most: unlimited, whole: true},
	} {
		if p := n.check(); p != nil {
			return p
		}
	}

	return r.checkBias()
}

// checkBias checks the biases of tokens.
func (r *chatRequest) checkBias() *problem {
	var bias map[string]float64
	if p := readAs(r.LogitBias, "logit_bias", &bias); p != nil {
		return p
	}

	for token, value := range bias {
		if p := (number{param: "logit_bias." + token, value: &value, least: -100, most: 100}).check(); p != nil {
			return p
		}
	}

	return nil
}

func (r *chatRequest) checkWords() *problem {
	words := []choice{
		{"reasoning_effort", r.ReasoningEffort, efforts},
		{"verbosity", r.Verbosity, verbosities},
		{"service_tier", r.ServiceTier, tiers},
		{"response_format.type", r.ResponseFormat.Type, formats},
	}
	for i, modality := range r.Modalities {
		words = append(words, choice{fmt.Sprintf("modalities[%d]", i), modality, []string{"text", "audio"}})
	}

	for _, word := range words {
		if p := word.check(); p != nil {
			return p
		}
	}

	return nil
}

// checkTogether checks parameters that depend on others.
func (r *chatRequest) checkTogether() *problem {
	switch {
	case len(r.Stop) > maxStops:
		return invalid("stop", "array_above_max_length",
			"Invalid 'stop': array too long. Expected an array with maximum length %d, but got an array with length %d instead.", maxStops, len(r.Stop))
	case r.MaxTokens != nil && r.MaxCompletionTokens != nil:
		return invalid("max_tokens", "invalid_parameter_combination",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case r.TopLogprobs != nil && !r.Logprobs:
		return invalid("top_logprobs", "", "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.")
	case r.StreamOptions != nil && !r.Stream:
		return invalid("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case r.ParallelToolCalls != nil && len(r.Tools) == 0:
		return invalid("parallel_tool_calls", "",
			"Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
	default:
		return nil
	}
}

func (r *chatRequest) checkFormat() *problem {
	switch r.ResponseFormat.Type {
	case "json_schema":
		return checkName(r.ResponseFormat.JSONSchema.Name, "response_format.json_schema.name", maxFunctionName)
	case "json_object":
		mentioned := slices.ContainsFunc(r.Messages, func(m chatMessage) bool { return mentionsJSON(m.Content.text) })
		if !mentioned {
			return invalid("messages", "",
				"'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
		}
	}

	return nil
}

func mentionsJSON(text string) bool { return strings.Contains(strings.ToLower(text), "json") }

// checkServed rejects what the API supports and this server does not.
func (r *chatRequest) checkServed() *problem {
	switch {
	case r.N != nil && *r.N > 1:
		return invalid("n", "invalid_value", "Invalid value for 'n': this server answers one choice only.")
	case slices.Contains(r.Modalities, "audio"):
		return invalid("modalities", "invalid_value", "Invalid value for 'modalities': this server answers text only.")
	default:
		return nil
	}
}

// described returns the caller's description of the tool.
func (t *chatTool) described() function {
	if t.Type == "custom" {
		return t.Custom
	}

	return t.Function
}

func (t *chatTool) check(where string) *problem {
	if t.Type != "function" && t.Type != "custom" {
		return invalid(where+".type", "invalid_value", "Invalid value: '%s'. Supported values are: 'function' and 'custom'.", t.Type)
	}

	return checkName(t.described().Name, where+"."+t.Type+".name", maxFunctionName)
}

func (r *chatRequest) toolNames() []string {
	names := make([]string, len(r.Tools))
	for i := range r.Tools {
		names[i] = r.Tools[i].described().Name
	}

	return names
}

// custom returns the names of the tools whose input is text.
func (r *chatRequest) custom() map[string]bool {
	var names map[string]bool

	for i := range r.Tools {
		if r.Tools[i].Type == "custom" {
			if names == nil {
				names = map[string]bool{}
			}

			names[r.Tools[i].Custom.Name] = true
		}
	}

	return names
}

// whole converts a number that is known to be an integer; nil becomes zero.
func whole(n *float64) int {
	if n == nil {
		return 0
	}

	return int(*n)
}

func (f function) tool() llm.Tool {
	return llm.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters}
}
