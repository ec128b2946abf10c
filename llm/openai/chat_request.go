package openai

import (
	"tarsy.dev/tarsy/llm"
)

// chatRequest is the body of a Chat Completions request.
type chatRequest struct {
	Messages            []chatMessage   `json:"messages"`
	Model               string          `json:"model,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	ReasoningEffort     string          `json:"reasoning_effort,omitempty"`
	StreamOptions       streamOptions   `json:"stream_options"`
	Stop                []string        `json:"stop,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []chatTool      `json:"tools,omitempty"`
	Stream              bool            `json:"stream"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// chatMessage is a turn of the conversation. Content is nil in an answer that only calls tools.
type chatMessage struct {
	Role       string         `json:"role"`
	Content    *string        `json:"content,omitempty"`
	ToolCallID *string        `json:"tool_call_id,omitempty"`
	ToolCalls  []chatToolCall `json:"tool_calls,omitempty"`
}

type chatToolCall struct {
	ID       string           `json:"id"`
	Type     string           `json:"type"`
	Function chatFunctionCall `json:"function"`
}

type chatFunctionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"`
}

type responseFormat struct {
	Type       string       `json:"type"`
	JSONSchema answerSchema `json:"json_schema"`
}

// chatRequest converts a request to the form of Chat Completions.
func (c *Client) chatRequest(req *llm.Request, names llm.ToolNames) chatRequest {
	body := chatRequest{
		Model: req.Model, Messages: chatMessages(req, names), ReasoningEffort: req.ReasoningEffort,
		StreamOptions: streamOptions{IncludeUsage: true}, Stream: true,
	}

	// Reasoning models reject stop sequences.
	if c.stops || !thinks(req.Model) {
		body.Stop = req.Stop
	}

	if c.own {
		body.MaxCompletionTokens = req.MaxOutputTokens
	} else {
		// Compatible servers support the older name, but not all of them the newer one.
		body.MaxTokens = req.MaxOutputTokens
	}

	for _, tool := range req.Tools {
		body.Tools = append(body.Tools, chatTool{Type: functionType, Function: chatFunction{
			Name: names.Wire(tool.Name), Description: tool.Description, Parameters: parameters(tool),
		}})
	}

	if req.ResponseSchema != nil {
		body.ResponseFormat = &responseFormat{Type: schemaType, JSONSchema: newAnswerSchema(req.ResponseSchema)}
	}

	return body
}

func chatMessages(req *llm.Request, names llm.ToolNames) []chatMessage {
	messages := make([]chatMessage, 0, len(req.Messages))

	for _, message := range req.Messages {
		switch message.Role {
		case llm.RoleSystem:
			messages = append(messages, chatMessage{Role: roleSystem, Content: &message.Content})
		case llm.RoleTool:
			messages = append(messages, chatMessage{Role: roleTool, Content: &message.Content, ToolCallID: &message.ToolCallID})
		case llm.RoleAssistant:
			if message.Content != "" || len(message.ToolCalls) > 0 {
				messages = append(messages, chatAnswer(message, names))
			}
		default:
			messages = append(messages, chatMessage{Role: roleUser, Content: &message.Content})
		}
	}

	return messages
}

// chatAnswer returns an earlier answer of the assistant, with its calls.
func chatAnswer(message llm.Message, names llm.ToolNames) chatMessage {
	answer := chatMessage{Role: roleAssistant}
	if message.Content != "" {
		answer.Content = &message.Content
	}

	for _, call := range message.ToolCalls {
		answer.ToolCalls = append(answer.ToolCalls, chatToolCall{
			ID: call.ID, Type: functionType, Function: chatFunctionCall{Name: names.Wire(call.Name), Arguments: arguments(call.Arguments)},
		})
	}

	return answer
}
