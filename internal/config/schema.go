package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Schema returns a JSON Schema (2020-12) of the files, for editors. Every section
// may stand in any file, so no section is required.
func Schema() []byte {
	w := schemaWriter{defs: make(map[string]any)}
	root := w.object(reflect.TypeFor[Config]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "TARSy configuration"
	root["$defs"] = w.defs
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("config: schema: " + err.Error()) // maps, strings and numbers always marshal
	}
	return append(text, '\n')
}

type schemaWriter struct {
	defs map[string]any
}

func (w schemaWriter) object(t reflect.Type) map[string]any {
	properties := make(map[string]any)
	var required []string
	var short *field
	for _, f := range fieldsOf(t) {
		properties[f.key] = w.property(t.Field(f.index).Type, f)
		if f.required {
			required = append(required, f.key)
		}
		if f.short {
			short = &f
		}
	}
	object := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		slices.Sort(required)
		object["required"] = required
	}
	if short != nil {
		return map[string]any{"anyOf": []any{map[string]any{"type": "string", "description": short.doc}, object}}
	}
	return object
}

func (w schemaWriter) property(t reflect.Type, f field) map[string]any {
	schema := w.value(t, f)
	doc := f.doc
	switch {
	case f.later == "true":
		doc += " Accepted, but has no effect yet."
	case f.later != "":
		doc += " Without effect yet: " + strings.ReplaceAll(f.later, ",", ", ") + "."
	}
	schema["description"] = doc
	if f.def != "" {
		schema["default"] = defaultValue(t, f.def)
	}
	return schema
}

// value is the schema of a type. Structs become definitions of their own; a
// reference may stand beside a description since draft 2019-09.
func (w schemaWriter) value(t reflect.Type, f field) map[string]any {
	switch {
	case isDuration(t):
		return durationSchema(f)
	case t.Kind() == reflect.Pointer:
		return w.value(t.Elem(), f)
	case t.Kind() == reflect.Struct:
		if _, done := w.defs[t.Name()]; !done {
			w.defs[t.Name()] = nil // holds the name while a type may refer to itself
			w.defs[t.Name()] = w.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": w.value(t.Elem(), f)}
	case t.Kind() == reflect.Slice:
		list := map[string]any{"type": "array", "items": w.value(t.Elem(), f)}
		if f.required {
			list["minItems"] = 1
		}
		return list
	default:
		return scalarSchema(t, f)
	}
}

func scalarSchema(t reflect.Type, f field) map[string]any {
	switch t.Kind() {
	case reflect.Bool:
		return orVariable(map[string]any{"type": "boolean"})
	case reflect.Int:
		return orVariable(withMin(map[string]any{"type": "integer"}, f))
	case reflect.Float64:
		return orVariable(withMin(map[string]any{"type": "number"}, f))
	default:
		if f.enum != nil {
			return orVariable(map[string]any{"type": "string", "enum": f.enum})
		}
		// YAML reads 8080 as a number where text is meant, and so do editors.
		return map[string]any{"type": []string{"string", "number", "boolean"}}
	}
}

func durationSchema(f field) map[string]any {
	schema := map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`}
	if f.seconds {
		return orVariable(schema, map[string]any{"type": "integer", "minimum": 0})
	}
	return orVariable(schema)
}

// orVariable allows a quoted {{.VAR}} in place of the value.
func orVariable(schemas ...map[string]any) map[string]any {
	anyOf := make([]any, 0, len(schemas)+1)
	for _, s := range schemas {
		anyOf = append(anyOf, s)
	}
	variable := map[string]any{"type": "string", "pattern": `\{\{[ \t]*\.[A-Za-z_][A-Za-z0-9_]*[ \t]*\}\}`}
	return map[string]any{"anyOf": append(anyOf, variable)}
}

func withMin(schema map[string]any, f field) map[string]any {
	if n, err := strconv.ParseFloat(f.min, 64); err == nil {
		schema["minimum"] = n
	}
	return schema
}

func defaultValue(t reflect.Type, def string) any {
	switch {
	case isDuration(t):
		return def
	case t.Kind() == reflect.Bool:
		return def == "true"
	case t.Kind() == reflect.Int:
		n, err := strconv.Atoi(def)
		if err == nil {
			return n
		}
	}
	return def
}
