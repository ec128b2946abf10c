package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// request is the body of a call. The API accepts two spellings of each name, that of JSON and that of the protocol's
// definition, and so do the types here: the second field of each pair is the other spelling.
type request struct {
	Contents           []content `json:"contents"`
	SystemInstruction  *content  `json:"systemInstruction"`
	SystemInstruction2 *content  `json:"system_instruction"`
	Tools              []tool    `json:"tools"`
	GenerationConfig   *settings `json:"generationConfig"`
	GenerationConfig2  *settings `json:"generation_config"`
	Counted            *request  `json:"generateContentRequest"` // countTokens only
	Counted2           *request  `json:"generate_content_request"`
}

type tool struct {
	Functions       []function       `json:"functionDeclarations"`
	Functions2      []function       `json:"function_declarations"`
	GoogleSearch    *json.RawMessage `json:"googleSearch"`
	GoogleSearch2   *json.RawMessage `json:"google_search"`
	CodeExecution   *json.RawMessage `json:"codeExecution"`
	CodeExecution2  *json.RawMessage `json:"code_execution"`
	URLContext      *json.RawMessage `json:"urlContext"`
	URLContext2     *json.RawMessage `json:"url_context"`
	SearchRetrieval *json.RawMessage `json:"googleSearchRetrieval"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	JSONSchema  json.RawMessage `json:"parametersJsonSchema"`
	JSONSchema2 json.RawMessage `json:"parameters_json_schema"`
}

type settings struct {
	StopSequences       []string        `json:"stopSequences"`
	StopSequences2      []string        `json:"stop_sequences"`
	MaxOutputTokens     int             `json:"maxOutputTokens"`
	MaxOutputTokens2    int             `json:"max_output_tokens"`
	ResponseSchema      json.RawMessage `json:"responseSchema"`
	ResponseSchema2     json.RawMessage `json:"response_schema"`
	ResponseJSONSchema  json.RawMessage `json:"responseJsonSchema"`
	ResponseJSONSchema2 json.RawMessage `json:"response_json_schema"`
	Thinking            *thinking       `json:"thinkingConfig"`
	Thinking2           *thinking       `json:"thinking_config"`
}

type thinking struct {
	Include  bool   `json:"includeThoughts"`
	Include2 bool   `json:"include_thoughts"`
	Budget   *int   `json:"thinkingBudget"`
	Budget2  *int   `json:"thinking_budget"`
	Level    string `json:"thinkingLevel"`
	Level2   string `json:"thinking_level"`
}

// either returns the first of two spellings that has a value.
func either[T comparable](a, b T) T {
	var none T
	if a != none {
		return a
	}

	return b
}

func eitherList[T any](a, b []T) []T {
	if a != nil {
		return a
	}

	return b
}

// kindOf returns the API's name for a type, as used in its error messages.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "object"
	case reflect.Bool, reflect.String:
		return t.Kind().String()
	default:
		return "number"
	}
}

// decodeBody decodes a body; its error contains the position.
func decodeBody(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if err == nil {
		return nil
	}

	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("Invalid value at '%s' (%s), %s, near byte %d", //nolint:staticcheck // as the API says it
			wrong.Field, kindOf(wrong.Type), wrong.Value, wrong.Offset)
	}

	if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("Invalid JSON payload received. %w, near byte %d", err, broken.Offset) //nolint:staticcheck // as the API says it
	}

	return fmt.Errorf("Invalid JSON payload received. %w", err) //nolint:staticcheck // as the API says it
}

// readRequest decodes a request.
func readRequest(body []byte) (*request, error) {
	r := &request{}

	return r, decodeBody(body, r)
}

// decode returns the request as the script sees it.
func (r *request) decode(model string) (*llm.Request, error) {
	if model == "" {
		return nil, errors.New("* GenerateContentRequest.model: model is not specified")
	}

	messages, err := r.messages()
	if err != nil {
		return nil, err
	}

	decoded := &llm.Request{Model: model, Messages: messages}
	if err := r.bind(decoded); err != nil {
		return nil, err
	}

	if s := either(r.GenerationConfig, r.GenerationConfig2); s != nil {
		decoded.Stop = eitherList(s.StopSequences, s.StopSequences2)
		decoded.MaxOutputTokens = either(s.MaxOutputTokens, s.MaxOutputTokens2)
		decoded.ReasoningEffort = s.effort()
		decoded.ResponseSchema = present(s.ResponseJSONSchema, s.ResponseJSONSchema2, s.ResponseSchema, s.ResponseSchema2)
	}

	return decoded, nil
}

// bind adds the tools to decoded.
func (r *request) bind(decoded *llm.Request) error {
	for i, t := range r.Tools {
		for j, f := range eitherList(t.Functions, t.Functions2) {
			if f.Name == "" {
				return fmt.Errorf("* GenerateContentRequest.tools[%d].function_declarations[%d].name: Invalid function name. It must not be empty.", i, j) //nolint:staticcheck // as the API says it
			}

			decoded.Tools = append(decoded.Tools, llm.Tool{
				Name: f.Name, Description: f.Description, Schema: present(f.JSONSchema, f.JSONSchema2, f.Parameters),
			})
		}

		native := &decoded.NativeTools
		native.GoogleSearch = native.GoogleSearch || t.GoogleSearch != nil || t.GoogleSearch2 != nil || t.SearchRetrieval != nil
		native.CodeExecution = native.CodeExecution || t.CodeExecution != nil || t.CodeExecution2 != nil
		native.URLContext = native.URLContext || t.URLContext != nil || t.URLContext2 != nil
	}

	return nil
}

// present returns the first value that is neither missing nor null.
func present(values ...json.RawMessage) json.RawMessage {
	for _, value := range values {
		if value = bytes.TrimSpace(value); len(value) > 0 && string(value) != "null" {
			return value
		}
	}

	return nil
}

// wantsThoughts reports whether thoughts are part of the answer: the API only returns them on request.
func (r *request) wantsThoughts() bool {
	s := either(r.GenerationConfig, r.GenerationConfig2)
	if s == nil {
		return false
	}

	t := either(s.Thinking, s.Thinking2)

	return t != nil && (t.Include || t.Include2)
}

// effort returns how hard the model should think, in words.
func (s *settings) effort() string {
	t := either(s.Thinking, s.Thinking2)
	if t == nil {
		return ""
	}

	if level := either(t.Level, t.Level2); level != "" {
		return strings.ToLower(level)
	}

	budget := either(t.Budget, t.Budget2)

	switch {
	case budget == nil || *budget < 0: // The model decides by itself.
		return ""
	case *budget == 0:
		return "none"
	case *budget <= 512:
		return "minimal"
	case *budget <= 1024:
		return "low"
	case *budget <= 8192:
		return "medium"
	default:
		return "high"
	}
}
