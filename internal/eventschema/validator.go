package eventschema

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"
)

// Validator validates messages. It is safe for concurrent use; creating one is expensive.
type Validator struct {
	kinds    map[string]*jsonschema.Resolved
	metadata map[string]*jsonschema.Resolved // by type of timeline event
}

// NewValidator compiles the schema.
func NewValidator() *Validator {
	v := &Validator{kinds: map[string]*jsonschema.Resolved{}, metadata: map[string]*jsonschema.Resolved{}}
	defs := document().Defs

	for _, k := range Kinds() {
		// The metadata schema is looked up by type below: trying every rule would take longer than everything else.
		defs[k.Type].AllOf = nil
		v.kinds[k.Type] = compile(defs, k.Type)
	}

	for _, k := range Timeline() {
		if k.metadata != nil {
			v.metadata[string(k.Type)] = compile(defs, metadataDef(k.Type))
		}
	}

	return v
}

func compile(defs map[string]*jsonschema.Schema, name string) *jsonschema.Resolved {
	root := &jsonschema.Schema{Ref: "#/$defs/" + name, Defs: needed(defs, name)}

	resolved, err := root.Resolve(nil)
	if err != nil {
		panic("eventschema: the schema of " + name + ": " + err.Error()) // it is built from constants
	}

	return resolved
}

// needed returns the definitions that one of them depends on: compiling all of them for each kind takes ten times as long.
func needed(defs map[string]*jsonschema.Schema, name string) map[string]*jsonschema.Schema {
	found := map[string]*jsonschema.Schema{}

	var add func(name string)

	add = func(name string) {
		if found[name] != nil {
			return
		}

		found[name] = defs[name]

		raw, err := json.Marshal(defs[name])
		if err != nil {
			panic("eventschema: " + name + " does not marshal: " + err.Error()) // it is built from constants
		}

		for _, m := range refPattern.FindAllSubmatch(raw, -1) {
			add(string(m[1]))
		}
	}
	add(name)

	return found
}

var refPattern = regexp.MustCompile(`"\$ref":"#/\$defs/([^"]+)"`)

// Validate validates a decoded message. It uses only the definition of the message's own type: the whole document would only
// report that no kind matches.
func (v *Validator) Validate(message map[string]any) error {
	kind, ok := message["type"].(string)
	if !ok {
		return fmt.Errorf("a message has a type, which is a string, not %v", message["type"])
	}

	resolved, ok := v.kinds[kind]
	if !ok {
		return fmt.Errorf("%q is not a type of message", kind)
	}

	err := resolved.Validate(message)
	if err == nil {
		err = v.validateMetadata(message)
	}

	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}

	return nil
}

func (v *Validator) validateMetadata(message map[string]any) error {
	metadata, ok := message["metadata"]
	if !ok {
		return nil
	}

	eventType, _ := message["event_type"].(string)

	resolved, ok := v.metadata[eventType]
	if !ok {
		return fmt.Errorf("a timeline event of type %s has no metadata, but there is %v", eventType, metadata)
	}

	err := resolved.Validate(metadata)
	if err != nil {
		return fmt.Errorf("the metadata of %s: %w", eventType, err)
	}

	return nil
}
