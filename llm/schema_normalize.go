package llm

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// normalized returns a schema without anything that a provider would reject, at any depth: one such tool among many makes every
// call fail. Arrays must define their items, and keywords must be those of current JSON Schema. A schema that needs no change
// is returned unchanged, with its properties in their order.
func normalized(raw json.RawMessage) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	// Keep numbers as written.
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

// normalize rewrites a schema and all nested schemas, and reports whether it changed anything.
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

// normalizeType lower-cases the name of a type, and removes types that do not exist.
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

// normalizeItems lets arrays without items contain anything. It converts the older form, a schema for each position, to one
// schema for all positions.
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

// normalizeBounds converts exclusive bounds to the current form: a number, instead of a boolean that modifies another bound.
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

// dropMalformed removes keywords whose values have the wrong form.
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
