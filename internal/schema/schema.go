package schema

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Format is what Schema needs to know beside the structs.
type Format struct {
	Title string
	// Variables tells that {{.VAR}} may stand for a value.
	Variables bool
	// Enum makes values of an enum tag; nil takes them as they are written.
	Enum func(written []string) []string
	// Rules are added to the schemas of structs.
	Rules map[reflect.Type]map[string]any
}

// Schema returns a JSON Schema (2020-12) of what root, a struct, is read from.
func (f Format) Schema(root reflect.Type) []byte {
	w := schemaWriter{format: f, defs: make(map[string]any), names: make(map[reflect.Type]string)}
	schema := w.object(root)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = f.Title
	schema["$defs"] = w.defs
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic("schema: " + err.Error()) // maps, strings and numbers always marshal
	}
	return append(text, '\n')
}

type schemaWriter struct {
	format Format
	defs   map[string]any
	names  map[reflect.Type]string
}

func (w schemaWriter) object(t reflect.Type) map[string]any {
	properties := make(map[string]any)
	var required []string
	var short *Field
	for _, f := range FieldsOf(t) {
		properties[f.Key] = w.property(t.Field(f.Index).Type, f)
		if f.Required {
			required = append(required, f.Key)
		}
		if f.Short {
			short = &f
		}
	}
	object := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		slices.Sort(required)
		object["required"] = required
	}
	maps.Copy(object, w.format.Rules[t])
	if short != nil {
		plain := w.scalar(t.Field(short.Index).Type, *short)
		plain["description"] = short.Doc
		return map[string]any{"anyOf": []any{plain, object}}
	}
	return object
}

func (w schemaWriter) property(t reflect.Type, f Field) map[string]any {
	schema := w.value(t, f)
	doc := f.Doc
	switch {
	case f.Later == "true":
		doc += " Accepted, but has no effect yet."
	case f.Later != "":
		doc += " Without effect yet: " + strings.ReplaceAll(f.Later, ",", ", ") + "."
	}
	if f.Restart {
		doc += " A change needs a restart."
	}
	schema["description"] = doc
	if f.Default != "" {
		schema["default"] = defaultValue(t, f.Default)
	}
	return schema
}

// value is the schema of a type. Structs become definitions of their own; a
// reference may stand beside a description since draft 2019-09.
func (w schemaWriter) value(t reflect.Type, f Field) map[string]any {
	if own, ok := reflect.TypeAssert[Scalar](reflect.New(t)); ok {
		return own.JSONSchema()
	}
	switch {
	case isJSON(t) && f.Kinds != nil:
		return map[string]any{"type": f.Kinds}
	case isJSON(t):
		return map[string]any{}
	case isDuration(t):
		return w.duration(f)
	case t.Kind() == reflect.Pointer:
		return w.value(t.Elem(), f)
	case t.Kind() == reflect.Struct:
		return map[string]any{"$ref": "#/$defs/" + w.define(t)}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": w.value(t.Elem(), f)}
	case t.Kind() == reflect.Slice:
		list := map[string]any{"type": "array", "items": w.value(t.Elem(), f)}
		if f.Required {
			list["minItems"] = 1
		}
		return list
	default:
		return w.scalar(t, f)
	}
}

// define writes the definition of a struct and returns its name: that of the type, with
// its package where two of them have one name.
func (w schemaWriter) define(t reflect.Type) string {
	if name, done := w.names[t]; done {
		return name
	}
	name := t.Name()
	if _, taken := w.defs[name]; taken {
		name = path.Base(t.PkgPath()) + "." + name
	}
	w.names[t] = name
	w.defs[name] = nil // holds the name while a type may refer to itself
	w.defs[name] = w.object(t)
	return name
}

func (w schemaWriter) scalar(t reflect.Type, f Field) map[string]any {
	switch t.Kind() {
	case reflect.Bool:
		return w.orVariable(map[string]any{"type": "boolean"})
	case reflect.Int:
		return w.orVariable(withLimits(map[string]any{"type": "integer"}, f))
	case reflect.Uint64:
		return w.orVariable(map[string]any{"type": "integer", "minimum": 0})
	case reflect.Float64:
		return w.orVariable(withLimits(map[string]any{"type": "number"}, f))
	default:
		if f.Enum != nil {
			return w.orVariable(w.enum(f.Enum))
		}
		// YAML reads 8080 as a number where text is meant, and so do editors.
		schema := map[string]any{"type": []string{"string", "number", "boolean"}}
		if f.Nonempty || f.Required {
			schema["minLength"] = 1
		}
		return schema
	}
}

func (w schemaWriter) duration(f Field) map[string]any {
	schema := map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`}
	if f.Seconds {
		return w.orVariable(schema, map[string]any{"type": "integer", "minimum": 0})
	}
	return w.orVariable(schema)
}

// orVariable allows a quoted {{.VAR}} in place of the value.
func (w schemaWriter) orVariable(schemas ...map[string]any) map[string]any {
	if !w.format.Variables && len(schemas) == 1 {
		return schemas[0]
	}
	anyOf := make([]any, 0, len(schemas)+1)
	for _, s := range schemas {
		anyOf = append(anyOf, s)
	}
	if w.format.Variables {
		anyOf = append(anyOf, map[string]any{"type": "string", "pattern": `\{\{[ \t]*\.[A-Za-z_][A-Za-z0-9_]*[ \t]*\}\}`})
	}
	return map[string]any{"anyOf": anyOf}
}

// enum allows a value that is a number also without quotes.
func (w schemaWriter) enum(written []string) map[string]any {
	if w.format.Enum != nil {
		written = w.format.Enum(written)
	}
	var values []any
	for _, value := range written {
		values = append(values, value)
		if n, err := strconv.Atoi(value); err == nil {
			values = append(values, n)
		}
	}
	return map[string]any{"enum": values}
}

func withLimits(schema map[string]any, f Field) map[string]any {
	if n, err := strconv.ParseFloat(f.Min, 64); err == nil {
		schema["minimum"] = n
	}
	if n, err := strconv.ParseFloat(f.Max, 64); err == nil {
		schema["maximum"] = n
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
