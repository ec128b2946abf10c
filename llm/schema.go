package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ObjectSchema is a tool's schema in the form that every provider takes: an object with properties, and nothing at the top
// that is a choice between several. What MCP servers send is sometimes missing, null, a boolean, a reference, or says
// nothing of its type; within, lists say not what of, or keywords are those of old. The result describes no fewer arguments
// than raw does, but may allow more.
func ObjectSchema(raw json.RawMessage) json.RawMessage {
	const empty = `{"type":"object","properties":{}}`

	var top schema
	if json.Unmarshal(bytes.ToValidUTF8(raw, []byte("\uFFFD")), &top) != nil || top == nil {
		return json.RawMessage(empty)
	}

	(&flattener{root: top, left: maxParts}).flatten(top)

	// Providers refuse what is not an object at the top, also when a list of types says that it may be one.
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

// schema is one JSON Schema that is an object.
type schema map[string]json.RawMessage

// maxParts bounds what one schema is put together of: references may lead in circles, and each part to many others.
const maxParts = 200

// flattener makes objects of schemas. Root is where references begin, left how many parts may still be looked at.
type flattener struct {
	root schema
	left int
}

// flatten takes into s what it refers to and chooses between, so that it is an object by itself.
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

	// Of alternatives none is required.
	for _, part := range slices.Concat(parts["anyOf"], parts["oneOf"]) {
		f.merge(s, part, false)
	}
}

// merge adds the properties of part to s, and what it requires if required is set. What s says itself stays.
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

// take removes keywords, and returns the list that each holds; what is no list is one of one.
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

// at is what a reference within the schema, such as "#/$defs/Pod", leads to; nil if nowhere.
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
