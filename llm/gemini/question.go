package gemini

import (
	"encoding/json"
	"strings"

	"google.golang.org/genai"

	"tarsy.dev/tarsy/llm"
)

// question is a request in the SDK's form.
type question struct {
	model    string
	contents []*genai.Content
	config   *genai.GenerateContentConfig
	names    llm.ToolNames
}

func (c *Client) newQuestion(req *llm.Request) (*question, error) {
	thinking, err := thinkingOf(req)
	if err != nil {
		return nil, err
	}

	q := &question{model: req.Model, names: llm.NewToolNames(req), config: &genai.GenerateContentConfig{
		MaxOutputTokens: int32(min(req.MaxOutputTokens, 1<<30)),
		StopSequences:   req.Stop,
		ThinkingConfig:  thinking,
		// The SDK must not repeat calls on its own: that is for the caller to decide.
		AutomaticContinuation: new(false),
		HTTPOptions:           &genai.HTTPOptions{ExtrasRequestProvider: nameEmptyTexts},
	}}

	if err := q.schema(req); err != nil {
		return nil, err
	}

	q.tools(req)
	q.converse(req, c.by(req))

	if len(q.contents) == 0 {
		return nil, &llm.Error{Class: llm.ClassInvalid, Message: "the conversation is empty"}
	}

	return q, nil
}

func (q *question) schema(req *llm.Request) error {
	if req.ResponseSchema == nil {
		return nil
	}

	if !json.Valid(req.ResponseSchema) || tooDeep(req.ResponseSchema) {
		return &llm.Error{Class: llm.ClassInvalid, Message: "the schema of the answer is not JSON, or too deeply nested"}
	}

	q.config.ResponseMIMEType, q.config.ResponseJsonSchema = "application/json", req.ResponseSchema

	return nil
}

// tools binds functions, or else the tools that the provider runs itself: the API accepts both together only sometimes.
func (q *question) tools(req *llm.Request) {
	if len(req.Tools) > 0 {
		functions := make([]*genai.FunctionDeclaration, len(req.Tools))

		for i, tool := range req.Tools {
			schema := tool.Schema
			if tooDeep(schema) {
				schema = nil
			}

			functions[i] = &genai.FunctionDeclaration{
				Name: q.names.Wire(tool.Name), Description: tool.Description, ParametersJsonSchema: llm.ObjectSchema(schema),
			}
		}

		q.config.Tools = []*genai.Tool{{FunctionDeclarations: functions}}

		return
	}

	native := req.NativeTools
	if native.GoogleSearch {
		q.config.Tools = append(q.config.Tools, &genai.Tool{GoogleSearch: &genai.GoogleSearch{}})
	}

	if native.CodeExecution {
		q.config.Tools = append(q.config.Tools, &genai.Tool{CodeExecution: &genai.ToolCodeExecution{}})
	}

	if native.URLContext {
		q.config.Tools = append(q.config.Tools, &genai.Tool{URLContext: &genai.URLContext{}})
	}
}

// converse converts the messages to turns.
func (q *question) converse(req *llm.Request, by string) {
	var (
		system  []string
		results *genai.Content
		names   = callNames(req)
	)

	for i := range req.Messages {
		message := &req.Messages[i]
		if message.Role != llm.RoleTool {
			results = nil
		}

		switch {
		case message.Role == llm.RoleTool:
			// All results of an answer's calls are one turn.
			if results == nil {
				results = &genai.Content{Role: genai.RoleUser}
				q.contents = append(q.contents, results)
			}

			name := message.ToolName
			if name == "" {
				name = names[message.ToolCallID]
			}

			results.Parts = append(results.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: message.ToolCallID, Name: q.names.Wire(name), Response: map[string]any{"output": message.Content},
			}})
		case message.Role == llm.RoleAssistant:
			if parts := q.answerParts(message, by, req.Model); len(parts) > 0 {
				q.contents = append(q.contents, &genai.Content{Role: genai.RoleModel, Parts: parts})
			}
		case message.Content == "":
		case message.Role == llm.RoleSystem:
			system = append(system, message.Content)
		default:
			q.contents = append(q.contents, genai.NewContentFromText(message.Content, genai.RoleUser))
		}
	}

	if len(system) == 0 {
		return
	}

	instruction := genai.NewContentFromText(strings.Join(system, "\n\n"), genai.RoleUser)
	if len(q.contents) == 0 {
		// The API requires at least one turn.
		q.contents = []*genai.Content{instruction}
	} else {
		q.config.SystemInstruction = instruction
	}
}

// callNames returns the names of the conversation's calls by their ids.
func callNames(req *llm.Request) map[string]string {
	names := map[string]string{}

	for _, message := range req.Messages {
		for _, call := range message.ToolCalls {
			names[call.ID] = call.Name
		}
	}

	return names
}

// answerParts returns an answer as the model gave it: its parts in their order, with their signatures.
func (q *question) answerParts(message *llm.Message, by, model string) []*genai.Part {
	parts := q.laidOut(message, readLayout(message, by))

	if !generation3(model) {
		return parts
	}

	// From the third generation on, an answer with calls is rejected unless its first call is signed. An answer of another
	// model has no signature; this is the value that Google defines for that case.
	for _, part := range parts {
		if part.FunctionCall != nil {
			if part.ThoughtSignature == nil {
				part.ThoughtSignature = []byte("skip_thought_signature_validator")
			}

			break
		}
	}

	return parts
}

func (q *question) call(call llm.ToolCall) *genai.FunctionCall {
	return &genai.FunctionCall{ID: call.ID, Name: q.names.Wire(call.Name), Args: arguments(call.Arguments)}
}

// arguments returns an object, whatever the model wrote.
func arguments(text string) map[string]any {
	if text == "" {
		return nil
	}

	var args map[string]any
	if tooDeep(json.RawMessage(text)) || json.Unmarshal([]byte(text), &args) != nil || args == nil {
		return map[string]any{"arguments": text}
	}

	return args
}

// tooDeep reports whether JSON is nested so deeply that the SDK, which decodes its own request again, would lose all of it.
func tooDeep(raw json.RawMessage) bool {
	const limit = 500

	depth, quoted := 0, false

	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}

	return false
}

// nameEmptyTexts restores the text field of parts that are empty texts: the SDK omits empty values, but such a part can have a
// signature.
func nameEmptyTexts(body map[string]any) map[string]any {
	contents, _ := body["contents"].([]map[string]any)

	for _, content := range contents {
		parts, _ := content["parts"].([]map[string]any)

		for _, part := range parts {
			_, signed := part["thoughtSignature"]
			_, called := part["functionCall"]
			_, text := part["text"]

			if signed && !called && !text {
				part["text"] = ""
			}
		}
	}

	return body
}
