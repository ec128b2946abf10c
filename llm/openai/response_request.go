package openai

import (
	"net/http"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// responseRequest is the body of a Responses request.
type responseRequest struct {
	MaxOutputTokens int               `json:"max_output_tokens,omitempty"`
	Store           bool              `json:"store"`
	Include         []string          `json:"include,omitempty"`
	Input           []any             `json:"input"`
	Model           string            `json:"model,omitempty"`
	Reasoning       *reasoningOptions `json:"reasoning,omitempty"`
	Text            *textOptions      `json:"text,omitempty"`
	Tools           []any             `json:"tools,omitempty"`
	Stream          bool              `json:"stream"`
}

type reasoningOptions struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary,omitempty"`
}

type textOptions struct {
	Format answerSchema `json:"format"`
}

// inputMessage, inputCall, inputResult and inputThought are the items of a conversation.
type inputMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Phase   string `json:"phase,omitempty"`
}

type inputCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type inputResult struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

type inputThought struct {
	Type             string        `json:"type"`
	ID               string        `json:"id"`
	Summary          []summaryText `json:"summary"`
	EncryptedContent string        `json:"encrypted_content"`
}

type summaryText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// functionTool is a tool of ours, nativeTool one that the provider runs itself.
type functionTool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"`
	Strict      bool           `json:"strict"`
}

type nativeTool struct {
	Type      string         `json:"type"`
	Container *toolContainer `json:"container,omitempty"`
}

type toolContainer struct {
	Type string `json:"type"`
}

// responseRequest converts a request to the form of Responses. The provider stores nothing: the whole conversation is sent each
// time, including its thinking in a form that only the provider can read.
func (c *Client) responseRequest(req *llm.Request, names llm.ToolNames) responseRequest {
	body := responseRequest{Model: req.Model, MaxOutputTokens: req.MaxOutputTokens, Input: c.responseInput(req, names), Stream: true}

	if req.ReasoningEffort != "" {
		body.Reasoning = &reasoningOptions{Effort: req.ReasoningEffort}

		if c.requestsExtra(summaries, req.Model) {
			body.Reasoning.Summary = "auto"
		}
	}

	if (req.ReasoningEffort != "" || thinks(req.Model)) && c.requestsExtra(sealed, req.Model) {
		body.Include = append(body.Include, "reasoning.encrypted_content")
	}

	if req.ResponseSchema != nil {
		format := newAnswerSchema(req.ResponseSchema)
		format.Type = schemaType
		body.Text = &textOptions{Format: format}
	}

	addTools(&body, req, names)

	return body
}

// extra is something requested in addition to the answer, which some accounts or models are refused.
type extra string

const (
	// summaries of thinking are only for verified accounts.
	summaries extra = "summaries"
	// sealed thinking is only for reasoning models, which the name of a deployment may not reveal.
	sealed extra = "sealed"
)

// requestsExtra reports whether an extra is requested from a model.
func (c *Client) requestsExtra(what extra, model string) bool {
	_, refused := c.dropped.Load(string(what) + " " + model)

	return !refused
}

// dropExtra records that an extra was refused, and reports whether a call may succeed without it.
func (c *Client) dropExtra(model string, err error) bool {
	e := llm.AsError(err)
	if e.Status != http.StatusBadRequest {
		return false
	}

	for sign, what := range map[string]extra{"generate reasoning summaries": summaries, "reasoning.summary": summaries, "Encrypted content is not supported": sealed} {
		if strings.Contains(e.Message, sign) {
			_, known := c.dropped.LoadOrStore(string(what)+" "+model, true)

			return !known
		}
	}

	return false
}

// thinks reports whether a model may think. Older ones do not, and reject a request for their thinking.
func thinks(model string) bool {
	for _, prefix := range []string{"gpt-3", "gpt-4", "chatgpt-", "grok-2"} {
		if strings.HasPrefix(model, prefix) {
			return false
		}
	}

	return !strings.Contains(model, "-chat") && !strings.Contains(model, "non-reasoning")
}

func addTools(body *responseRequest, req *llm.Request, names llm.ToolNames) {
	for _, tool := range req.Tools {
		body.Tools = append(body.Tools, functionTool{
			Type: functionType, Name: names.Wire(tool.Name), Description: tool.Description, Parameters: parameters(tool),
		})
	}

	if len(req.Tools) > 0 {
		return
	}

	if req.NativeTools.GoogleSearch {
		body.Tools = append(body.Tools, nativeTool{Type: "web_search"})
	}

	if req.NativeTools.CodeExecution {
		body.Include = append(body.Include, "code_interpreter_call.outputs")
		body.Tools = append(body.Tools, nativeTool{Type: "code_interpreter", Container: &toolContainer{Type: "auto"}})
	}
}

func (c *Client) responseInput(req *llm.Request, names llm.ToolNames) []any {
	input := make([]any, 0, len(req.Messages))

	for _, message := range req.Messages {
		switch message.Role {
		case llm.RoleSystem:
			input = append(input, inputMessage{Role: roleSystem, Content: message.Content})
		case llm.RoleTool:
			input = append(input, inputResult{Type: "function_call_output", CallID: message.ToolCallID, Output: message.Content})
		case llm.RoleAssistant:
			input = appendAnswer(input, message, readSignature(message, c.by(req.Model)), names)
		default:
			input = append(input, inputMessage{Role: roleUser, Content: message.Content})
		}
	}

	return input
}

// appendAnswer appends the thinking, text and calls of an earlier answer. Thinking precedes what it led to: the provider
// rejects it anywhere else.
func appendAnswer(input []any, message llm.Message, signed signature, names llm.ToolNames) []any {
	if message.Content != "" {
		input = signed.append(input, "")
		input = append(input, inputMessage{Role: roleAssistant, Content: message.Content, Phase: signed.Phase})
	}

	for _, call := range message.ToolCalls {
		input = signed.append(input, call.ID)
		input = append(input, inputCall{Type: functionCallType, CallID: call.ID, Name: names.Wire(call.Name), Arguments: arguments(call.Arguments)})
	}

	return input
}
