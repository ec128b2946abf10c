package eventschema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// object makes the schema of structs whose fields stand beside each other in one JSON object. Nothing else may be in it.
func object(description string, structs ...reflect.Type) *jsonschema.Schema {
	schema := &jsonschema.Schema{
		Type: "object", Description: description, Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: nothing(),
	}

	for _, t := range structs {
		addFields(schema, t, false)
	}

	return schema
}

// addFields adds the fields of a struct. Those of an embedded pointer are optional, for it may be nil.
func addFields(schema *jsonschema.Schema, t reflect.Type, optional bool) {
	for f := range t.Fields() {
		if f.Anonymous {
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}

			addFields(schema, embedded, optional || f.Type.Kind() == reflect.Pointer)

			continue
		}

		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		omitted := options == "omitempty"

		property := fieldSchema(f, omitted)
		property.Description = codeQuotes.ReplaceAllString(f.Tag.Get("doc"), "$1`$2`")
		schema.Properties[name] = property
		schema.PropertyOrder = append(schema.PropertyOrder, name)

		if !optional && !omitted {
			schema.Required = append(schema.Required, name)
		}
	}
}

// codeQuotes finds 'names' in documentation: a struct's tag cannot hold the backquotes that they are shown in.
var codeQuotes = regexp.MustCompile(`(^|\s)'([a-z_]+)'`)

// fieldSchema makes the schema of a field's value from its tags and its type.
func fieldSchema(f reflect.StructField, omitted bool) *jsonschema.Schema {
	if value, ok := f.Tag.Lookup("const"); ok {
		return constant(value)
	}

	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	if t.Kind() == reflect.Bool && omitted {
		return constant(true) // false is left out
	}

	if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		return &jsonschema.Schema{Type: "array", Items: valueSchema(f, t.Elem())}
	}

	return valueSchema(f, t)
}

func valueSchema(f reflect.StructField, t reflect.Type) *jsonschema.Schema {
	if name, ok := f.Tag.Lookup("schema"); ok {
		return schemaOfTag(name)
	}

	if schema, ok := schemaOfType(t); ok {
		return schema
	}

	if t == reflect.TypeFor[json.RawMessage]() {
		return &jsonschema.Schema{}
	}

	switch t.Kind() {
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &jsonschema.Schema{Type: "integer", Minimum: minimum(f)}
	case reflect.Struct:
		return object("", t)
	default:
		panic(fmt.Sprintf("eventschema: %s is a %s, which has no schema", f.Name, t))
	}
}

// minimum is the least value of a number; every number of a message has one.
func minimum(f reflect.StructField) *float64 {
	least, err := strconv.ParseFloat(f.Tag.Get("minimum"), 64)
	if err != nil {
		panic("eventschema: the number " + f.Name + " needs the tag minimum")
	}

	return &least
}
