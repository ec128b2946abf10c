package eventschema

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/schema"
)

// Document returns the JSON Schema (2020-12) of all messages.
func Document() []byte { return schema.Marshal(document()) }

// document has one definition per kind, named by its type, and allows exactly one of them.
func document() *jsonschema.Schema {
	root := &jsonschema.Schema{
		Schema:      schema.Draft,
		Title:       "TARSy events",
		Description: "A message of the server, over WebSocket or as the data of a server-sent event.",
		Type:        "object",
		Required:    []string{"type"},
		Defs:        map[string]*jsonschema.Schema{},
	}

	for _, d := range definitions() {
		root.Defs[d.name] = d.schema
	}

	for _, k := range Timeline() {
		if k.metadata != nil {
			root.Defs[metadataDef(k.Type)] = object("The metadata of "+string(k.Type)+".", k.metadata)
		}
	}

	for _, k := range Kinds() {
		root.Defs[k.Type] = k.schema()
		root.OneOf = append(root.OneOf, schema.Ref(k.Type))
	}

	return root
}

// schema returns the schema of the kind.
func (k Kind) schema() *jsonschema.Schema {
	structs := []reflect.Type{k.payload}
	if k.envelope != nil {
		structs = append(structs, k.envelope)
	}

	message := object(k.When, structs...)
	message.Required = append(message.Required, k.always...)

	if k.statuses != nil {
		message.Properties["status"].Enum = k.statuses
	}

	message.Properties["type"].Type, message.Properties["type"].Const = "", schema.Constant(k.Type).Const

	switch k.Type {
	case tarsy.TypeTimelineCreated, tarsy.TypeTimelineCompleted:
		message.AllOf = metadataRules()
	case tarsy.TypeSessionChanged:
		message.OneOf = []*jsonschema.Schema{{Required: []string{"session_id", "version"}}, {Required: []string{"behind"}}}
	}

	return message
}
