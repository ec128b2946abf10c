package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ObjectSchema converts a tool's schema to the form that every provider accepts: an object with properties, and no alternatives
// at the top level. Schemas of MCP servers can be missing, null, a boolean or a reference, or have no type; nested arrays can
// lack items, and keywords can be those of older drafts. The result describes at least the arguments that raw describes, but
// may allow more.
func ObjectSchema(raw json.RawMessage) json.RawMessage {
	const empty = `{"type":"object","properties":{}}`

	var top schema
	if json.Unmarshal(bytes.ToValidUTF8(raw, []byte("\uFFFD")), &top) != nil || top == nil {
		return json.RawMessage(empty)
	}

	(&flattener{root: top, left: maxParts}).flatten(top)

	// Providers reject anything but an object at the top level, even a list of types that includes it.
	top["type"] = json.RawMessage(`"object"`)
	if !isJSON(top["properties"], '{') {
		top["properties"] = json.RawMessage(`{}`)
	}

	if _, ok := top["required"]; ok && !isJSON(top["required"], '[') {
		delete(top, "required")
	}

	delete(top, "$schema")
	delete(top, "$id")

	object, err := json.Marshal(top)
	if err != nil {
		return json.RawMessage(empty)
	}

	return normalized(object)
}

// schema is a JSON Schema that is an object.
type schema map[string]json.RawMessage

// maxParts bounds how many parts one schema is composed of: references can be cyclic, and each part can lead to many others.
const maxParts = 200

// flattener makes plain objects of schemas. root is where references start, left how many parts can still be visited.
type flattener struct {
	root schema
	left int
}

// flatten merges into s what it references and its alternatives, so that it is a plain object.
func (f *flattener) flatten(s schema) {
	parts := s.take("$ref", "allOf", "anyOf", "oneOf")

	for _, keyword := range []string{"enum", "const", "not", "if", "then", "else"} {
		delete(s, keyword)
	}

	for _, part := range parts["$ref"] {
		f.merge(s, f.root.at(part), true)
	}

	for _, part := range parts["allOf"] {
		f.merge(s, part, true)
	}

	// Properties of alternatives are not required.
	for _, part := range slices.Concat(parts["anyOf"], parts["oneOf"]) {
		f.merge(s, part, false)
	}
}

// merge adds the properties of part to s, and its required list if required is set. What s itself defines has precedence.
func (f *flattener) merge(s schema, part json.RawMessage, required bool) {
	var other schema
	if f.left == 0 || json.Unmarshal(part, &other) != nil || other == nil {
		return
	}

	f.left--
	f.flatten(other)
	s.addProperties(other["properties"])

	if required {
		s.require(other["required"])
	}

	if _, ok := s["description"]; !ok && other["description"] != nil {
		s["description"] = other["description"]
	}
}

// take removes keywords and returns the list in each; a value that is not a list becomes a list of one.
func (s schema) take(keywords ...string) map[string][]json.RawMessage {
	taken := map[string][]json.RawMessage{}

	for _, keyword := range keywords {
		value, ok := s[keyword]
		if !ok {
			continue
		}

		delete(s, keyword)

		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			list = []json.RawMessage{value}
		}

		taken[keyword] = list
	}

	return taken
}

func (s schema) addProperties(raw json.RawMessage) {
	own, its := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	_, _ = json.Unmarshal(s["properties"], &own), json.Unmarshal(raw, &its)

	if len(its) == 0 {
		return
	}

	maps.Copy(its, own)

	if properties, err := json.Marshal(its); err == nil {
		s["properties"] = properties
	}
}

func (s schema) require(raw json.RawMessage) {
	var own, its []string
	if json.Unmarshal(raw, &its) != nil || len(its) == 0 {
		return
	}

	_ = json.Unmarshal(s["required"], &own)

	for _, name := range its {
		if !slices.Contains(own, name) {
			own = append(own, name)
		}
	}

	if required, err := json.Marshal(own); err == nil {
		s["required"] = required
	}
}

// at returns the part that a reference within the schema, such as "#/$defs/Pod", leads to; nil if there is none.
func (s schema) at(reference json.RawMessage) json.RawMessage {
	var path string
	if json.Unmarshal(reference, &path) != nil || !strings.HasPrefix(path, "#/") {
		return nil
	}

	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	here := s

	steps := strings.Split(strings.TrimPrefix(path, "#/"), "/")
	for i, step := range steps {
		value := here[unescape.Replace(step)]
		if i == len(steps)-1 {
			return value
		}

		here = nil
		if json.Unmarshal(value, &here) != nil {
			return nil
		}
	}

	return nil
}

func isJSON(raw json.RawMessage, begins byte) bool {
	raw = bytes.TrimSpace(raw)

	return len(raw) > 0 && raw[0] == begins
}
