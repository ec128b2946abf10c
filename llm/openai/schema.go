package openai

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"tarsy.dev/tarsy/llm"
)

// schemaName is the name of an answer's schema, which the API requires.
const schemaName = "answer"

// Names that both forms of the API use.
const (
	functionType  = "function"
	schemaType    = "json_schema"
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// answerSchema is the schema of an answer. Type is set only in Responses, where the schema itself is the format.
type answerSchema struct {
	Type   string         `json:"type,omitempty"`
	Name   string         `json:"name"`
	Schema map[string]any `json:"schema"`
	Strict bool           `json:"strict"`
}

func newAnswerSchema(schema json.RawMessage) answerSchema {
	return answerSchema{Name: schemaName, Schema: object(schema), Strict: strict(schema)}
}

// object returns a JSON object whose values are unchanged: numbers too large for a float are preserved.
func object(raw json.RawMessage) map[string]any {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return map[string]any{}
	}

	values := make(map[string]any, len(fields))
	for name, field := range fields {
		values[name] = field
	}

	return values
}

// parameters returns the parameters of a tool.
func parameters(tool llm.Tool) map[string]any { return object(llm.ObjectSchema(tool.Schema)) }

// strict reports whether the API can enforce a schema. It rejects one that leaves anything open or uses keywords that it does
// not know; the model then follows the schema as well as it can.
func strict(raw json.RawMessage) bool {
	var schema any
	if json.Unmarshal(raw, &schema) != nil {
		return false
	}

	root, ok := schema.(map[string]any)

	return ok && root["type"] == "object" && root["anyOf"] == nil && closed(schema)
}

// closed reports whether a schema has a type, uses only keywords that the API knows, and every object in it has only listed
// properties, all required.
func closed(schema any) bool {
	value, ok := schema.(map[string]any)
	if !ok || !known(value) {
		return false
	}

	if value["type"] == nil && value["anyOf"] == nil && value["$ref"] == nil {
		return false
	}

	// A reference must be the only keyword.
	if value["$ref"] != nil && len(value) > 1 {
		return false
	}

	kinds, _ := value["type"].([]any)
	if value["type"] == "array" || slices.Contains(kinds, any("array")) || value["items"] != nil {
		if !closed(value["items"]) {
			return false
		}
	}

	choices, _ := value["anyOf"].([]any)
	definitions, _ := value["$defs"].(map[string]any)

	return closedObject(value, kinds) && allClosed(slices.Values(choices)) && allClosed(maps.Values(definitions))
}

func allClosed(schemas iter.Seq[any]) bool {
	for schema := range schemas {
		if !closed(schema) {
			return false
		}
	}

	return true
}

func closedObject(schema map[string]any, kinds []any) bool {
	properties, _ := schema["properties"].(map[string]any)
	if schema["type"] != "object" && !slices.Contains(kinds, any("object")) && properties == nil {
		return true
	}

	required, _ := schema["required"].([]any)
	if schema["additionalProperties"] != false {
		return false
	}

	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}

	return allClosed(maps.Values(properties))
}

// known reports whether a schema uses only keywords that the API can enforce.
func known(schema map[string]any) bool {
	for keyword, value := range schema {
		switch keyword {
		case "type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const", "$ref", "$defs", "title", "description",
			"pattern", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems":
		case "format":
			if !slices.Contains([]any{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}, value) {
				return false
			}
		default:
			return false
		}
	}

	return true
}

// arguments returns the arguments of a call in the form that the API accepts: an object. Anything else that a model wrote is
// sent back as text in an object, so that the model can see its mistake: some servers reject conversations that they cannot
// parse.
func arguments(written string) string {
	if written == "" {
		return "{}"
	}

	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(written), &fields) == nil && fields != nil {
		return written
	}

	wrapped, err := json.Marshal(map[string]string{"invalid_arguments": written})
	if err != nil {
		return "{}"
	}

	return string(wrapped)
}
