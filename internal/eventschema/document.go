package eventschema

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
)

// Document returns the JSON Schema (2020-12) of everything that a reader can receive.
func Document() []byte {
	raw, err := json.MarshalIndent(document(), "", "  ")
	if err != nil {
		panic("eventschema: the document does not marshal: " + err.Error()) // it is made of constants
	}

	return append(raw, '\n')
}

// document has a definition for each kind under its type, and allows exactly one of them.
func document() *jsonschema.Schema {
	root := &jsonschema.Schema{
		Schema:      "https://json-schema.org/draft/2020-12/schema",
		Title:       "TARSy events",
		Description: "A message of the server, over WebSocket or as the data of a server-sent event.",
		Type:        "object",
		Required:    []string{"type"},
		Defs:        sharedDefs(),
	}

	for _, k := range Timeline() {
		if k.metadata != nil {
			root.Defs[metadataDef(k.Type)] = object("The metadata of "+string(k.Type)+".", k.metadata)
		}
	}

	for _, k := range Kinds() {
		root.Defs[k.Type] = k.schema()
		root.OneOf = append(root.OneOf, ref(k.Type))
	}

	return root
}

// schema is the definition of the kind.
func (k Kind) schema() *jsonschema.Schema {
	structs := []reflect.Type{k.payload}
	if k.envelope != nil {
		structs = append(structs, k.envelope)
	}

	schema := object(k.When, structs...)
	schema.Required = append(schema.Required, k.always...)

	if k.statuses != nil {
		schema.Properties["status"].Enum = k.statuses
	}

	schema.Properties["type"].Type, schema.Properties["type"].Const = "", constant(k.Type).Const

	switch k.Type {
	case tarsy.TypeTimelineCreated, tarsy.TypeTimelineCompleted:
		schema.AllOf = metadataRules()
	case tarsy.TypeSessionChanged:
		schema.OneOf = []*jsonschema.Schema{{Required: []string{"session_id", "version"}}, {Required: []string{"behind"}}}
	}

	return schema
}
