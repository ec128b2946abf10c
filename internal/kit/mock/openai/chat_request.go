package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// chatRequest has the supported fields of a request for a chat completion.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Tools               []chatTool      `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	ParallelToolCalls   *bool           `json:"parallel_tool_calls"`
	MaxTokens           *float64        `json:"max_tokens"`
	MaxCompletionTokens *float64        `json:"max_completion_tokens"`
	Stop                texts           `json:"stop"`
	ReasoningEffort     string          `json:"reasoning_effort"`
	Verbosity           string          `json:"verbosity"`
	ServiceTier         string          `json:"service_tier"`
	ResponseFormat      chatFormat      `json:"response_format"`
	WebSearch           json.RawMessage `json:"web_search_options"`
	N                   *float64        `json:"n"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	FrequencyPenalty    *float64        `json:"frequency_penalty"`
	PresencePenalty     *float64        `json:"presence_penalty"`
	Logprobs            bool            `json:"logprobs"`
	TopLogprobs         *float64        `json:"top_logprobs"`
	LogitBias           json.RawMessage `json:"logit_bias"`
	Metadata            json.RawMessage `json:"metadata"`
	SafetyIdentifier    string          `json:"safety_identifier"`
	Modalities          []string        `json:"modalities"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Name       string     `json:"name"`
	Content    content    `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Custom struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
	// Custom is a tool whose input is text.
	Custom function `json:"custom"`
}

// function is a tool that the caller runs.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type chatFormat struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

func chat(x *exchange.Exchange) {
	name(x)

	var request chatRequest

	p := decode(x.Body, &request)
	if p == nil {
		p = request.check()
	}

	var asked *llm.Request
	if p == nil {
		asked, p = request.request()
	}

	if p != nil {
		refuse(x, p)

		return
	}

	x.Answer(exchange.Call{
		Request: asked, Stream: request.Stream, ContentType: eventStream,
		Encoder: &chatEncoder{
			exchange: x, model: request.Model, custom: request.custom(),
			usage: request.StreamOptions != nil && request.StreamOptions.IncludeUsage,
		},
	})
}

func (r *chatRequest) request() (*llm.Request, *problem) {
	asked := &llm.Request{
		Model: r.Model, Messages: make([]llm.Message, 0, len(r.Messages)),
		MaxOutputTokens: max(whole(r.MaxTokens), whole(r.MaxCompletionTokens)), Stop: r.Stop, ReasoningEffort: r.ReasoningEffort,
		NativeTools: llm.NativeTools{GoogleSearch: len(r.WebSearch) > 0 && r.WebSearch[0] == '{'},
	}

	switch r.ResponseFormat.Type {
	case "json_schema":
		asked.ResponseSchema = r.ResponseFormat.JSONSchema.Schema
	case "json_object":
		asked.ResponseSchema = json.RawMessage(`{"type":"object"}`)
	}

	for i := range r.Tools {
		if p := r.Tools[i].check(fmt.Sprintf("tools[%d]", i)); p != nil {
			return nil, p
		}

		asked.Tools = append(asked.Tools, r.Tools[i].described().tool())
	}

	open := calls{}

	for i := range r.Messages {
		if p := r.Messages[i].add(asked, open, i); p != nil {
			return nil, p
		}
	}

	if len(open) > 0 {
		return nil, open.check(place(len(r.Messages)).role())
	}

	return asked, nil
}

// calls are the tool calls of the last assistant message without a result: names by ID.
type calls map[string]string

// check reports the calls without a result.
func (c calls) check(param string) *problem {
	if len(c) == 0 {
		return nil
	}

	ids := make([]string, 0, len(c))
	for id := range c {
		ids = append(ids, id)
	}

	slices.Sort(ids)

	return invalid(param, "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each "+
		"'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
}

// place is the position of a message in the request. It is only formatted for errors.
type place int

func (p place) String() string { return "messages[" + strconv.Itoa(int(p)) + "]" }

// role returns the API's spelling of the position of a message that is out of order.
func (p place) role() string { return "messages.[" + strconv.Itoa(int(p)) + "].role" }

// add converts the i-th message and adds it to the request.
func (m *chatMessage) add(asked *llm.Request, open calls, i int) *problem {
	where := place(i)

	if m.Content.wrong != "" {
		return m.Content.check(where.String() + ".content")
	}

	if m.Name != "" && !participant.MatchString(m.Name) {
		return invalid(where.String()+".name", "invalid_value",
			"Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '%s'.", where, participant)
	}

	if m.Role != "tool" && len(open) > 0 {
		return open.check(where.role())
	}

	message := llm.Message{Content: m.Content.text}

	switch m.Role {
	case "system", "developer":
		message.Role = llm.RoleSystem
	case "user":
		message.Role = llm.RoleUser
	case "assistant":
		message.Role = llm.RoleAssistant
	case "tool":
		name, ok := open[m.ToolCallID]
		if !ok {
			return invalid(where.role(), "",
				"Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'; "+
					"'%s.tool_call_id' is '%s'.", where, m.ToolCallID)
		}

		delete(open, m.ToolCallID)
		message.Role, message.ToolCallID, message.ToolName = llm.RoleTool, m.ToolCallID, name
	default:
		return invalid(where.String()+".role", "invalid_value",
			"Invalid value: '%s' for '%s.role'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'.", m.Role, where)
	}

	if m.Role != "assistant" && !m.Content.set {
		return invalid(where.String()+".content", "invalid_type", "Invalid value for '%s.content': expected a string, got null.", where)
	}

	return m.addCalls(asked, message, open, where)
}

func (m *chatMessage) addCalls(asked *llm.Request, message llm.Message, open calls, where place) *problem {
	for i, call := range m.ToolCalls {
		made := llm.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments}
		if call.Type == "custom" {
			made.Name, made.Arguments = call.Custom.Name, call.Custom.Input
		}

		known := call.Type == "function" || call.Type == "custom" || call.Type == ""
		if m.Role != "assistant" || !known || made.ID == "" || made.Name == "" {
			return invalid(where.String()+".tool_calls", "invalid_value",
				"Invalid value for '%s.tool_calls[%d]': expected a function call with id and name, from the assistant.", where, i)
		}

		open[made.ID] = made.Name
		message.ToolCalls = append(message.ToolCalls, made)
	}

	if m.Role == "assistant" && !m.Content.set && len(m.ToolCalls) == 0 {
		return invalid(where.String()+".content", "invalid_type",
			"Invalid value for '%s.content': expected a string, got null, and there are no tool calls.", where)
	}

	asked.Messages = append(asked.Messages, message)

	return nil
}
