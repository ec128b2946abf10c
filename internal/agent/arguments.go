package agent

import (
	"encoding/json"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// splitName splits a name that matches no tool, for display.
func splitName(name string) (server, tool string) {
	for _, separator := range []string{"__", "."} {
		if server, tool, ok := strings.Cut(name, separator); ok {
			return server, tool
		}
	}

	return "", name
}

// maxDepth is how deeply nested arguments can be to be shown as JSON; deeper ones break later parsers.
const maxDepth = 100

// argumentsOf returns the arguments as decoded JSON, or as the text that the model wrote.
func argumentsOf(call tarsy.ToolCall) any {
	var value any
	if err := json.Unmarshal([]byte(call.Arguments), &value); err != nil || depth(value) > maxDepth {
		return call.Arguments
	}

	// Decode again with numbers that keep all their digits: approvers decide on what they see here. Valid JSON decodes.
	decoder := json.NewDecoder(strings.NewReader(call.Arguments))
	decoder.UseNumber()

	if err := decoder.Decode(&value); err != nil {
		return call.Arguments
	}

	return cleanValue(value)
}

func depth(value any) int {
	deepest := 0

	switch v := value.(type) {
	case []any:
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	case map[string]any:
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	}

	return deepest + 1
}

// cleanValue removes what PostgreSQL cannot store from the strings of a JSON value.
func cleanValue(value any) any {
	switch v := value.(type) {
	case string:
		return plaintext.Clean(v)
	case []any:
		for i := range v {
			v[i] = cleanValue(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for k, e := range v {
			clean[plaintext.Clean(k)] = cleanValue(e)
		}

		return clean
	}

	return value
}

func encodeArguments(call tarsy.ToolCall) json.RawMessage {
	raw, err := json.Marshal(argumentsOf(call))
	if err != nil {
		panic("agent: decoded JSON does not marshal: " + err.Error())
	}

	return raw
}
