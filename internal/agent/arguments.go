package agent

import (
	"encoding/json"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// splitName takes a name apart that means no tool, for people to read.
func splitName(name string) (server, tool string) {
	for _, separator := range []string{"__", "."} {
		if server, tool, ok := strings.Cut(name, separator); ok {
			return server, tool
		}
	}

	return "", name
}

// maxDepth is how deeply nested arguments may be to be shown as JSON; deeper ones break parsers further on.
const maxDepth = 100

// argumentsOf shows arguments as the JSON they are, or as the text that the model wrote.
func argumentsOf(call tarsy.ToolCall) any {
	var value any
	if err := json.Unmarshal([]byte(call.Arguments), &value); err != nil || depth(value) > maxDepth {
		return call.Arguments
	}

	// Once more, so that numbers keep all their digits: people decide about calls by what they see here. What is valid decodes.
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

// cleanValue drops what PostgreSQL cannot hold from the strings of a JSON value.
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
