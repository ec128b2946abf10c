package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tarsy.dev/tarsy/internal/agent"
)

var errArguments = errors.New("the arguments are not JSON")

// parseArguments makes the JSON object that MCP wants of what a model wrote. The bytes are passed on as they are, so
// that no number loses a digit.
func parseArguments(written string) (json.RawMessage, error) {
	text := strings.TrimSpace(strings.ToValidUTF8(written, "\uFFFD"))
	switch {
	case text == "" || text == "null":
		return json.RawMessage(`{}`), nil
	case !json.Valid([]byte(text)):
		return nil, errArguments
	case text[0] == '{':
		return json.RawMessage(text), nil
	default:
		return json.RawMessage(`{"input":` + text + `}`), nil
	}
}

// usage tells a model how to write the arguments of tool.
func usage(tool agent.Tool, err error) string {
	return fmt.Sprintf("The call to %s was not made: %s. Write one JSON object, for example %s. The schema of the arguments is %s",
		tool.WireName(), err, example(tool.Schema), cut(string(tool.Schema), maxSchemaShown))
}

const maxSchemaShown = 4096

// example fills the required properties of a schema with values of their types.
func example(schema json.RawMessage) string {
	var shape struct {
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &shape) != nil || len(shape.Required) == 0 {
		return `{"name": "value"}`
	}
	parts := make([]string, 0, len(shape.Required))
	for _, name := range shape.Required {
		var property struct {
			Type any `json:"type"`
		}
		value := `"…"`
		if json.Unmarshal(shape.Properties[name], &property) == nil {
			value = sample(property.Type)
		}
		key, err := json.Marshal(name)
		if err != nil {
			continue
		}
		parts = append(parts, string(key)+": "+value)
	}

	return "{" + strings.Join(parts, ", ") + "}"
}

func sample(kind any) string {
	switch kind {
	case "integer", "number":
		return "1"
	case "boolean":
		return "true"
	case "array":
		return "[]"
	case "object":
		return "{}"
	default:
		return `"…"`
	}
}
