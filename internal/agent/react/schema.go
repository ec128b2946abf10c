package react

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxSchemaDepth is how deep a description of arguments goes; deeper ones are described by their type alone.
const maxSchemaDepth = 3

// schemaTokens limits the description of one tool's arguments.
const schemaTokens = 500

// schema is the part of a JSON Schema that a description needs.
type schema struct {
	Type        any               `json:"type"`
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
	Items       *schema           `json:"items"`
	Enum        []any             `json:"enum"`
}

// describeSchema describes the arguments of a tool in one line, required ones first.
func describeSchema(raw json.RawMessage) string {
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		var compact bytes.Buffer
		if json.Compact(&compact, raw) != nil {
			return "unknown"
		}

		return quote.Truncate(plaintext.Clean(quote.OneLine(compact.String())), schemaTokens)
	}

	if len(s.Properties) == 0 {
		return "none"
	}

	return quote.Truncate(plaintext.Clean(quote.OneLine(s.describe(0))), schemaTokens)
}

func (s schema) describe(depth int) string {
	switch {
	case len(s.Enum) > 0:
		return "one of " + s.values()
	case len(s.Properties) > 0 && depth < maxSchemaDepth:
		return s.members(depth)
	case s.Items != nil && depth < maxSchemaDepth:
		return "array of " + s.Items.describe(depth+1)
	default:
		return s.typeName()
	}
}

// members lists an object's properties.
func (s schema) members(depth int) string {
	names := slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		if needed := slices.Contains(s.Required, b); needed != slices.Contains(s.Required, a) {
			if needed {
				return 1
			}

			return -1
		}

		return strings.Compare(a, b)
	})

	parts := make([]string, 0, len(names))

	for _, name := range names {
		property := s.Properties[name]
		part := name + ": " + property.describe(depth+1)

		if slices.Contains(s.Required, name) {
			part += ", required"
		}

		if property.Description != "" {
			part += fmt.Sprintf(" (%s)", property.Description)
		}

		parts = append(parts, part)
	}

	return "{" + strings.Join(parts, "; ") + "}"
}

func (s schema) values() string {
	values := make([]string, 0, len(s.Enum))

	for _, v := range s.Enum {
		raw, err := json.Marshal(v)
		if err != nil {
			continue
		}

		values = append(values, string(raw))
	}

	return strings.Join(values, ", ")
}

func (s schema) typeName() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		names := make([]string, 0, len(t))
		for _, n := range t {
			names = append(names, fmt.Sprint(n))
		}

		return strings.Join(names, " or ")
	default:
		return "any"
	}
}
