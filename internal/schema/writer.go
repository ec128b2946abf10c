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

// Draft is the version of JSON Schema that documents are written in.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Format is what the schemas of structs need to know beside the structs.
type Format struct {
	// JSON means that the structs are read from JSON: their fields are those of JSONFieldsOf, in their order, and structs within
	// them stand where they are used. Otherwise they are read from YAML, and structs become definitions.
	JSON bool
	// Variables tells that {{.VAR}} may stand for a value.
	Variables bool
	// Enum makes values of an enum tag; nil takes them as they are written.
	Enum func(written []string) []string
	// Value returns the schema of a value that the format describes itself, nil for others; it may be nil.
	Value func(t reflect.Type, f Field) *jsonschema.Schema
	// Rules add to the schemas of structs what tags cannot express.
	Rules map[reflect.Type]func(object *jsonschema.Schema)
}

// Document returns a JSON Schema of what root, a struct, is read from. Its keys are sorted.
func (f Format) Document(title string, root reflect.Type) []byte {
	w := f.writer()
	top := w.object(root)
	top.Schema, top.Title, top.Defs = Draft, title, w.defs
	var sorted any
	if err := json.Unmarshal(Marshal(top), &sorted); err != nil {
		panic("schema: " + err.Error()) // it was just written
	}
	return Marshal(sorted)
}

// Object returns the schema of structs whose fields stand beside each other in one object. Nothing else may be in it.
func (f Format) Object(structs ...reflect.Type) *jsonschema.Schema {
	return f.writer().object(structs...)
}

func (f Format) writer() writer {
	return writer{format: f, defs: make(map[string]*jsonschema.Schema), names: make(map[reflect.Type]string)}
}

// Marshal writes a schema as a document.
func Marshal(schema any) []byte {
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic("schema: " + err.Error()) // it is made of constants
	}
	return append(text, '\n')
}

// Ref refers to a definition of the document.
func Ref(def string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + def} }

// Constant is the schema of one value.
func Constant(value any) *jsonschema.Schema { return &jsonschema.Schema{Const: &value} }

// Never is the schema that no value fits; it is written as false.
func Never() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// Values are the values of an enum.
func Values[S ~string](values []S) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// writer writes one document.
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

// value is the schema of a type. A reference may stand beside a description since draft 2019-09.
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

// define writes the definition of a struct and returns its name: that of the type, with
// its package where two of them have one name.
func (w writer) define(t reflect.Type) string {
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
		// YAML reads 8080 as a number where text is meant, and so do editors.
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

// orVariable allows a quoted {{.VAR}} in place of the value.
func (w writer) orVariable(schemas ...*jsonschema.Schema) *jsonschema.Schema {
	if w.format.Variables {
		schemas = append(schemas, &jsonschema.Schema{Type: "string", Pattern: `\{\{[ \t]*\.[A-Za-z_][A-Za-z0-9_]*[ \t]*\}\}`})
	}
	if len(schemas) == 1 {
		return schemas[0]
	}
	return &jsonschema.Schema{AnyOf: schemas}
}

// enum allows a value that is a number also without quotes.
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

// defaultValue is the default as JSON: numbers and booleans are written as they are.
func defaultValue(f Field) json.RawMessage {
	if kind := f.Type.Kind(); kind == reflect.Bool || kind == reflect.Int {
		return json.RawMessage(f.Default)
	}
	return json.RawMessage(strconv.Quote(f.Default))
}
