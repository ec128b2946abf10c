package mcp

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxSchemaShown limits how much of a schema a refusal shows to a model.
const maxSchemaShown = 4096

// shape is the part of a tool's schema that helps to parse its arguments. An invalid schema has no properties.
type shape struct {
	Required   []string                   `json:"required"`
	Properties map[string]json.RawMessage `json:"properties"`
}

func shapeOf(schema json.RawMessage) shape {
	var s shape
	if json.Unmarshal(schema, &s) != nil {
		return shape{}
	}

	return s
}

// textKey returns the name for a text without one: the only required property, if it is a string, and rawKey otherwise.
func (s shape) textKey() string {
	if _, taken := s.Properties[rawKey]; taken || len(s.Required) != 1 || !s.isText(s.Required[0]) {
		return rawKey
	}

	return s.Required[0]
}

// knows reports whether one of the members is a property.
func (s shape) knows(members []member) bool {
	return slices.ContainsFunc(members, func(m member) bool { return s.has(m.key) })
}

func (s shape) has(key string) bool {
	_, found := s.Properties[key]

	return found
}

// isText reports whether a property is only a string, so that 007 stays what it is.
func (s shape) isText(key string) bool { return s.kind(key) == "string" }

func (s shape) kind(key string) any {
	var property struct {
		Type any `json:"type"`
	}
	if raw, found := s.Properties[key]; !found || json.Unmarshal(raw, &property) != nil {
		return nil
	}

	return property.Type
}

// example fills the required properties with values of their types.
func (s shape) example() string {
	if len(s.Required) == 0 {
		return `{"name": "value"}`
	}
	parts := make([]string, 0, len(s.Required))
	for _, name := range s.Required {
		parts = append(parts, string(quoted(name))+": "+sample(s.kind(name)))
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
