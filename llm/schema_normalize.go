package llm

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// normalized is a schema without what a provider would refuse in it, at any depth: one such tool of many makes every call
// fail. Lists must say what they are lists of, and keywords must be those of today's JSON Schema. A schema that needs no
// change is returned as it is, with its properties in their order.
func normalized(raw json.RawMessage) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	// Numbers go on as they were written.
	decoder.UseNumber()

	var root any
	if decoder.Decode(&root) != nil || !normalize(root) {
		return raw
	}

	whole, err := json.Marshal(root)
	if err != nil {
		return raw
	}

	return whole
}

// normalize rewrites a schema and everything in it, and reports whether it changed anything.
func normalize(node any) bool {
	schema, ok := node.(map[string]any)
	if !ok {
		return false
	}

	changed := normalizeType(schema)
	changed = normalizeItems(schema) || changed
	changed = normalizeBounds(schema) || changed
	changed = dropMalformed(schema) || changed

	for _, keyword := range []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"} {
		changed = normalize(schema[keyword]) || changed
	}

	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		list, _ := schema[keyword].([]any)
		for _, part := range list {
			changed = normalize(part) || changed
		}
	}

	for _, keyword := range []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"} {
		named, _ := schema[keyword].(map[string]any)
		for _, part := range named {
			changed = normalize(part) || changed
		}
	}

	return changed
}

// normalizeType leaves out types that there are none of.
func normalizeType(schema map[string]any) bool {
	switch kind := schema["type"].(type) {
	case nil:
		return false
	case string:
		if isType(kind) {
			return false
		}

		if lower := strings.ToLower(kind); isType(lower) {
			schema["type"] = lower

			return true
		}
	case []any:
		known := slices.DeleteFunc(slices.Clone(kind), func(v any) bool {
			name, _ := v.(string)

			return !isType(name)
		})

		if len(known) == len(kind) && len(kind) > 0 {
			return false
		}

		if len(known) > 0 {
			schema["type"] = known

			return true
		}
	}

	delete(schema, "type")

	return true
}

func isType(name string) bool {
	return slices.Contains([]string{"string", "number", "integer", "boolean", "object", "array", "null"}, name)
}

// normalizeItems says of lists that they are of anything, unless it is said; of the older form, a schema for each place, it makes
// one of them all.
func normalizeItems(schema map[string]any) bool {
	kinds, _ := schema["type"].([]any)
	isList := schema["type"] == "array" || slices.Contains(kinds, any("array"))

	switch items := schema["items"].(type) {
	case nil:
		if !isList {
			return false
		}

		schema["items"] = map[string]any{}
	case []any:
		schema["items"] = map[string]any{}
		if len(items) > 0 {
			schema["items"] = map[string]any{"anyOf": items}
		}

		delete(schema, "additionalItems")
	case map[string]any:
		return false
	default:
		schema["items"] = map[string]any{}
	}

	return true
}

// normalizeBounds brings exclusive bounds into today's form: a number of their own, and not a word about another.
func normalizeBounds(schema map[string]any) bool {
	changed := false

	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		set, ok := schema[exclusive].(bool)
		if !ok {
			continue
		}

		delete(schema, exclusive)

		if number, there := schema[bound].(json.Number); set && there {
			schema[exclusive] = number
			delete(schema, bound)
		}

		changed = true
	}

	return changed
}

// dropMalformed leaves out keywords whose value has a form that they do not take.
func dropMalformed(schema map[string]any) bool {
	changed := false
	drop := func(keyword string, fits bool) {
		if _, there := schema[keyword]; there && !fits {
			delete(schema, keyword)

			changed = true
		}
	}

	_, isObject := schema["properties"].(map[string]any)
	drop("properties", isObject)

	required, isList := schema["required"].([]any)
	drop("required", isList && !slices.ContainsFunc(required, func(v any) bool { _, text := v.(string); return !text }))

	choices, isList := schema["enum"].([]any)
	drop("enum", isList && len(choices) > 0)

	return changed
}
