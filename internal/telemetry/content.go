package telemetry

import (
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// maxText is the maximum length of an exported text in bytes.
const maxText = 32 << 10

// message is a message in the format of the conventions.
type message struct {
	Role         string `json:"role"`
	Parts        []part `json:"parts"`
	FinishReason string `json:"finish_reason,omitempty"`
}

// part is a part of a message: text, reasoning, tool_call or tool_call_response.
type part struct {
	Type      string          `json:"type"`
	Content   string          `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  string          `json:"response,omitempty"`
}

// conversation returns the input and the output of a model.
func conversation(call *tarsy.LLMInteraction, prompt progress.Prompt) []attribute.KeyValue {
	if len(call.LLMRequest) > 0 {
		// A row that cannot be decoded is no reason to lose the span.
		_ = json.Unmarshal(call.LLMRequest, &prompt)
	}

	input := make([]message, 0, len(prompt))
	for _, m := range prompt {
		input = append(input, inputMessage(m))
	}

	var response struct {
		Text      string         `json:"text"`
		ToolCalls []llm.ToolCall `json:"tool_calls"`
	}

	_ = json.Unmarshal(call.LLMResponse, &response)

	output := message{Role: llm.RoleAssistant, FinishReason: finishReason(call.StopReason), Parts: []part{}}
	if call.ThinkingContent != "" {
		output.Parts = append(output.Parts, part{Type: "reasoning", Content: cut(call.ThinkingContent)})
	}

	output.Parts = append(output.Parts, textAndCalls(response.Text, response.ToolCalls)...)

	return []attribute.KeyValue{
		semconv.GenAIInputMessagesKey.String(encode(input)), semconv.GenAIOutputMessagesKey.String(encode([]message{output})),
	}
}

func inputMessage(m llm.Message) message {
	if m.Role == llm.RoleTool {
		return message{Role: m.Role, Parts: []part{{Type: "tool_call_response", ID: m.ToolCallID, Response: cut(m.Content)}}}
	}

	return message{Role: m.Role, Parts: textAndCalls(m.Content, m.ToolCalls)}
}

func textAndCalls(text string, calls []llm.ToolCall) []part {
	parts := []part{}
	if text != "" {
		parts = append(parts, part{Type: "text", Content: cut(text)})
	}

	for _, c := range calls {
		arguments := json.RawMessage(c.Arguments)
		if !json.Valid(arguments) || len(arguments) > maxText {
			arguments = json.RawMessage(encode(cut(c.Arguments)))
		}

		parts = append(parts, part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: arguments})
	}

	return parts
}

func cut(text string) string { return plaintext.Cut(text, maxText) }

func encode(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("telemetry: texts do not marshal: " + err.Error())
	}

	return string(raw)
}
