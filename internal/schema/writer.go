package schema

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Draft is the JSON Schema version of the documents.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Format configures the schemas of structs.
type Format struct {
	// JSON means that the structs are decoded from JSON: their fields are those of JSONFieldsOf, in that order, and nested
	// structs are inlined. Otherwise they are decoded from YAML, and nested structs become definitions.
	JSON bool
	// Variables means that {{.VAR}} is allowed in place of a value.
	Variables bool
	// Enum converts the values of an enum tag; nil uses them as written.
	Enum func(written []string) []string
	// Value returns the schema of a value that the format describes itself, or nil for others; it can be nil.
	Value func(t reflect.Type, f Field) *jsonschema.Schema
	// Rules add what tags cannot express to the schemas of structs.
	Rules map[reflect.Type]func(object *jsonschema.Schema)
}

// Document returns the JSON Schema of root, a struct, with sorted keys.
func (f Format) Document(title string, root reflect.Type) []byte {
	w := f.writer()
	top := w.object(root)
	top.Schema, top.Title, top.Defs = Draft, title, w.defs
	var sorted any
	if err := json.Unmarshal(Marshal(top), &sorted); err != nil {
		panic("schema: " + err.Error()) // it was just encoded
	}
	return Marshal(sorted)
}

// Object returns the schema of an object that combines the fields of several structs. Other fields are not allowed.
func (f Format) Object(structs ...reflect.Type) *jsonschema.Schema {
	return f.writer().object(structs...)
}

func (f Format) writer() writer {
	return writer{format: f, defs: make(map[string]*jsonschema.Schema), names: make(map[reflect.Type]string)}
}

// Marshal encodes a schema as a document.
func Marshal(schema any) []byte {
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic("schema: " + err.Error()) // it is built from constants
	}
	return append(text, '\n')
}

// Ref returns a reference to a definition of the document.
func Ref(def string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + def} }

// Constant returns the schema of a single value.
func Constant(value any) *jsonschema.Schema { return &jsonschema.Schema{Const: &value} }

// Never returns the schema that matches no value; it is encoded as false.
func Never() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// Values returns the values of an enum.
func Values[S ~string](values []S) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// writer builds one document.
type writer struct {
	format Format
	defs   map[string]*jsonschema.Schema
	names  map[reflect.Type]string
}

func (w writer) object(structs ...reflect.Type) *jsonschema.Schema {
	object := &jsonschema.Schema{Type: "object", Properties: make(map[string]*jsonschema.Schema), AdditionalProperties: Never()}
	var short *Field
	for _, t := range structs {
		for _, f := range w.fields(t) {
			object.Properties[f.Key] = w.property(f)
			object.PropertyOrder = append(object.PropertyOrder, f.Key)
			if f.Required {
				object.Required = append(object.Required, f.Key)
			}
			if f.Short {
				short = &f
			}
		}
		if rule := w.format.Rules[t]; rule != nil {
			rule(object)
		}
	}
	if !w.format.JSON {
		slices.Sort(object.Required)
	}
	if short != nil {
		plain := w.scalar(short.Type, *short)
		plain.Description = short.Doc
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{plain, object}}
	}
	return object
}

func (w writer) fields(t reflect.Type) []Field {
	if w.format.JSON {
		return JSONFieldsOf(t)
	}
	return FieldsOf(t)
}

func (w writer) property(f Field) *jsonschema.Schema {
	schema := w.value(f.Type, f)
	schema.Description = f.Doc
	switch {
	case f.Later == "true":
		schema.Description += " Accepted, but has no effect yet."
	case f.Later != "":
		schema.Description += " Without effect yet: " + strings.ReplaceAll(f.Later, ",", ", ") + "."
	}
	if f.Restart {
		schema.Description += " A change needs a restart."
	}
	if f.Default != "" {
		schema.Default = defaultValue(f)
	}
	return schema
}

// value returns the schema of a type. A reference can have a sibling description since draft 2019-09.
func (w writer) value(t reflect.Type, f Field) *jsonschema.Schema {
	if w.format.Value != nil {
		if own := w.format.Value(t, f); own != nil {
			return own
		}
	}
	if own, ok := reflect.TypeAssert[Scalar](reflect.New(t)); ok {
		return own.JSONSchema()
	}
	switch {
	case isJSON(t):
		return &jsonschema.Schema{Types: f.Kinds}
	case isDuration(t):
		return w.duration(f)
	case t.Kind() == reflect.Pointer:
		return w.value(t.Elem(), f)
	case t.Kind() == reflect.Struct && w.format.JSON:
		return w.object(t)
	case t.Kind() == reflect.Struct:
		return Ref(w.define(t))
	case t.Kind() == reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: w.value(t.Elem(), f)}
	case t.Kind() == reflect.Slice:
		list := &jsonschema.Schema{Type: "array", Items: w.value(t.Elem(), f)}
		if f.Required && !w.format.JSON {
			list.MinItems = new(1)
		}
		return list
	default:
		return w.scalar(t, f)
	}
}

// define adds the definition of a struct and returns its name: that of the type, prefixed with its package if the name is
// already taken.
func (w writer) define(t reflect.Type) string {
	if name, done := w.names[t]; done {
		return name
	}
	name := t.Name()
	if _, taken := w.defs[name]; taken {
		name = path.Base(t.PkgPath()) + "." + name
	}
	w.names[t] = name
	w.defs[name] = nil // reserves the name, because the type may refer to itself
	w.defs[name] = w.object(t)
	return name
}

func (w writer) scalar(t reflect.Type, f Field) *jsonschema.Schema {
	switch kind := t.Kind(); {
	case kind == reflect.Bool:
		return w.orVariable(&jsonschema.Schema{Type: "boolean"})
	case kind == reflect.Int || kind == reflect.Int64:
		return w.orVariable(withLimits("integer", f))
	case kind == reflect.Uint64:
		return w.orVariable(withLimits("integer", Field{Min: "0"}))
	case kind == reflect.Float64:
		return w.orVariable(withLimits("number", f))
	case kind != reflect.String:
		panic("schema: " + f.Key + " is a " + t.String() + ", which has no schema")
	case w.format.JSON:
		return &jsonschema.Schema{Type: "string"}
	case f.Enum != nil:
		return w.orVariable(w.enum(f.Enum))
	default:
		// YAML parses an unquoted 8080 as a number where text is meant, and so do editors.
		schema := &jsonschema.Schema{Types: []string{"string", "number", "boolean"}}
		if f.Nonempty || f.Required {
			schema.MinLength = new(1)
		}
		return schema
	}
}

func (w writer) duration(f Field) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`}
	if f.Seconds {
		return w.orVariable(schema, withLimits("integer", Field{Min: "0"}))
	}
	return w.orVariable(schema)
}

// orVariable also allows a quoted {{.VAR}}.
func (w writer) orVariable(schemas ...*jsonschema.Schema) *jsonschema.Schema {
	if w.format.Variables {
		schemas = append(schemas, &jsonschema.Schema{Type: "string", Pattern: `\{\{[ \t]*\.[A-Za-z_][A-Za-z0-9_]*[ \t]*\}\}`})
	}
	if len(schemas) == 1 {
		return schemas[0]
	}
	return &jsonschema.Schema{AnyOf: schemas}
}

// enum also allows numeric values without quotes.
func (w writer) enum(written []string) *jsonschema.Schema {
	if w.format.Enum != nil {
		written = w.format.Enum(written)
	}
	schema := &jsonschema.Schema{}
	for _, value := range written {
		schema.Enum = append(schema.Enum, value)
		if n, err := strconv.Atoi(value); err == nil {
			schema.Enum = append(schema.Enum, n)
		}
	}
	return schema
}

func withLimits(kind string, f Field) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: kind}
	if n, err := strconv.ParseFloat(f.Min, 64); err == nil {
		schema.Minimum = &n
	}
	if n, err := strconv.ParseFloat(f.Max, 64); err == nil {
		schema.Maximum = &n
	}
	return schema
}

// defaultValue returns the default as JSON: numbers and booleans are unquoted.
func defaultValue(f Field) json.RawMessage {
	if kind := f.Type.Kind(); kind == reflect.Bool || kind == reflect.Int {
		return json.RawMessage(f.Default)
	}
	return json.RawMessage(strconv.Quote(f.Default))
}
