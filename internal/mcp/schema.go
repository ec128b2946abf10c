package mcp

import (
	"encoding/json"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// shortestMasked is the length below which no pattern takes a text of a schema for a secret.
const shortestMasked = 4

// schemaOf returns the input schema of a tool, with the secrets in its texts masked: descriptions, defaults, examples, names.
func (f *Factory) schemaOf(serverID string, tool *mcpsdk.Tool) json.RawMessage {
	none := json.RawMessage(`{"type":"object"}`)
	schema, ok := tool.InputSchema.(map[string]any)
	if !ok || len(schema) == 0 {
		return none
	}
	data, err := json.Marshal(f.maskSchema(serverID, "", schema))
	if err != nil {
		return none
	}

	return data
}

// maskSchema masks the texts of a schema one by one, so that it stays a schema. The name is that of the property that the schema
// describes: it identifies a default as a password.
func (f *Factory) maskSchema(serverID, name string, part any) any {
	switch part := part.(type) {
	case string:
		return f.maskNamed(serverID, name, part)
	case []any:
		masked := make([]any, len(part))
		for i, item := range part {
			masked[i] = f.maskSchema(serverID, name, item)
		}

		return masked
	case map[string]any:
		masked := make(map[string]any, len(part))
		for key, value := range part {
			masked[f.maskNamed(serverID, "", key)] = f.maskSchema(serverID, innerName(name, key), value)
		}

		return masked
	default:
		return part
	}
}

// innerName returns the property that a part of a schema belongs to. Keywords with values do not change it.
func innerName(name, key string) string {
	switch key {
	case "default", "const", "enum", "example", "examples":
		return name
	case "description", "title", "type", "format", "pattern", "required", "$ref", "$schema", "$id", "$comment":
		return ""
	default:
		return key
	}
}

func (f *Factory) maskNamed(serverID, name, text string) string {
	if len(text) < shortestMasked {
		return text
	}
	masked := f.received(serverID, text)
	if masked != text || name == "" {
		return masked
	}
	pair, err := json.Marshal(map[string]string{name: text})
	if err != nil {
		return withheld
	}
	var read map[string]string
	if shown := f.received(serverID, string(pair)); shown == string(pair) {
		return masked
	} else if json.Unmarshal([]byte(shown), &read) != nil || read[name] == text {
		return withheld
	}

	return read[name]
}
