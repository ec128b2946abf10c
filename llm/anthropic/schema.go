package anthropic

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// setSchema constrains the answer to a schema.
func setSchema(body *messageRequest, schema json.RawMessage) error {
	if len(bytes.TrimSpace(schema)) == 0 {
		return nil
	}

	decoder := json.NewDecoder(bytes.NewReader(schema))
	// Keep numbers as written.
	decoder.UseNumber()

	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return &llm.Error{Class: llm.ClassInvalid, Message: "read the schema of the answer: " + err.Error(), Err: err}
	}

	restrict(object)

	format, err := json.Marshal(map[string]any{"type": "json_schema", "schema": object})
	if err != nil {
		return &llm.Error{Class: llm.ClassInvalid, Message: "write the schema of the answer: " + err.Error(), Err: err}
	}

	body.setOutput().Format = format

	return nil
}

// restrict converts a schema, and all nested ones, to one that the API can enforce: objects have only the properties that they
// list, and keywords that the API rejects are moved into the description.
func restrict(node any) {
	schema, ok := node.(map[string]any)
	if !ok {
		return
	}

	kinds, _ := schema["type"].([]any)
	if schema["type"] == "object" || slices.Contains(kinds, any("object")) {
		schema["additionalProperties"] = false
	}

	if choices, ok := schema["oneOf"]; ok && schema["anyOf"] == nil {
		schema["anyOf"] = choices
		delete(schema, "oneOf")
	}

	delete(schema, "$schema")
	delete(schema, "$id")
	describe(schema)
	restrict(schema["items"])

	for _, keyword := range []string{"anyOf", "allOf"} {
		list, _ := schema[keyword].([]any)
		for _, part := range list {
			restrict(part)
		}
	}

	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		named, _ := schema[keyword].(map[string]any)
		for _, part := range named {
			restrict(part)
		}
	}
}

// describe moves keywords that the API rejects into the description.
func describe(schema map[string]any) {
	var words []string

	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		value := schema[keyword]
		if takes(keyword, value) {
			continue
		}

		delete(schema, keyword)

		if text, err := json.Marshal(value); err == nil {
			words = append(words, keyword+": "+string(text))
		}
	}

	if len(words) > 0 {
		description, _ := schema["description"].(string)
		schema["description"] = strings.TrimSpace(description + " (" + strings.Join(words, ", ") + ")")
	}
}

// takes reports whether the API can enforce a keyword.
func takes(keyword string, value any) bool {
	switch keyword {
	case "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "definitions",
		"title", "description", "default":
		return true
	case "format":
		return slices.Contains([]any{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}, value)
	case "minItems":
		return value == json.Number("0") || value == json.Number("1")
	default:
		return false
	}
}

// argumentName matches the names of arguments that the API accepts.
var argumentName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// newTool converts a tool to the API's form. Arguments with names that the API rejects, which would make it reject every call,
// are described in words.
func newTool(name, description string, schema json.RawMessage) tool {
	object, others := nameable(llm.ObjectSchema(schema))
	if others != "" {
		description = strings.TrimSpace(description + "\n\nIt takes further arguments: " + others)
	}

	return tool{Name: name, Description: description, InputSchema: json.RawMessage(strings.ToValidUTF8(string(object), "\uFFFD"))}
}

// nameable returns the schema of a tool without the arguments that cannot be named, and those arguments.
func nameable(schema json.RawMessage) (object json.RawMessage, others string) {
	var top struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}

	if json.Unmarshal(schema, &top) != nil {
		return schema, ""
	}

	left := map[string]json.RawMessage{}

	for name, property := range top.Properties {
		if !argumentName.MatchString(name) {
			left[name] = property
			delete(top.Properties, name)
		}
	}

	var fields map[string]any
	if len(left) == 0 || json.Unmarshal(schema, &fields) != nil {
		return schema, ""
	}

	top.Required = slices.DeleteFunc(top.Required, func(name string) bool { return left[name] != nil })
	fields["properties"], fields["required"] = top.Properties, top.Required

	if len(top.Required) == 0 {
		delete(fields, "required")
	}

	// The arguments described in words must be allowed.
	delete(fields, "additionalProperties")

	object, err := json.Marshal(fields)
	if err != nil {
		return schema, ""
	}

	words, err := json.Marshal(left)
	if err != nil {
		return schema, ""
	}

	return object, string(words)
}
