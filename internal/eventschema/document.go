package eventschema

import (
	"encoding/json"
	"slices"
	"strings"

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
		if metadata := k.metadataSchema(); metadata != nil {
			root.Defs[metadataDef(k.Type)] = metadata
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
	object := &jsonschema.Schema{
		Type: "object", Description: k.When, Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: nothing(),
	}

	for _, name := range k.names() {
		name, optional := strings.CutSuffix(name, "?")

		f, ok := fieldOf(k, name)
		if !ok {
			panic("eventschema: " + k.Type + "." + name + " has no description: add it to commonFields or ownField")
		}

		schema := f.schema
		schema.Description = f.doc
		object.Properties[name] = schema
		object.PropertyOrder = append(object.PropertyOrder, name)

		if !optional {
			object.Required = append(object.Required, name)
		}
	}

	switch k.Type {
	case tarsy.TypeTimelineCreated, tarsy.TypeTimelineCompleted:
		object.AllOf = metadataRules()
	case tarsy.TypeSessionChanged:
		object.OneOf = []*jsonschema.Schema{{Required: []string{"session_id", "version"}}, {Required: []string{"behind"}}}
	}

	return object
}

// names are the kind's fields; optional ones end in "?". Events have those of their payload, and where they came from.
func (k Kind) names() []string {
	if k.payload == nil {
		return k.fields
	}

	inferred, err := jsonschema.ForType(k.payload, &jsonschema.ForOptions{})
	if err != nil {
		panic("eventschema: the payload of " + k.Type + ": " + err.Error())
	}

	names := slices.Clone(inferred.PropertyOrder)
	for i, name := range names {
		if !slices.Contains(inferred.Required, name) {
			names[i] += "?"
		}
	}

	if k.Delivery == Journal {
		names = append(names, "db_event_id")
	}

	return append(names, "channel")
}

// nothing is the schema that no value fits; it is written as false.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

func sentence(phrase string) string { return strings.ToUpper(phrase[:1]) + phrase[1:] + "." }
