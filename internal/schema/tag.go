package schema

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Field has the tags of one struct field; doc.go explains the tags.
type Field struct {
	Index    int
	Type     reflect.Type
	Tag      reflect.StructTag // for the format's own tags
	Key      string
	Doc      string
	Default  string
	Enum     []string // as written: a named list is a single value that starts with @
	Min      string
	Max      string
	Ref      string
	Format   string
	Secret   string
	Runtime  string
	Later    string
	Only     string
	Kinds    []string
	Nonempty bool
	Required bool
	Short    bool
	Loose    bool
	Seconds  bool
	// Restart and Reload are inherited by everything below a field; see Walk.
	Restart bool
	Reload  string
}

// fieldsOf caches the results of FieldsOf by type: reading tags took a third of a server's startup time.
var fieldsOf sync.Map

// FieldsOf returns the fields of a struct that have a key, in declaration order. The slice is shared and must not be modified.
func FieldsOf(t reflect.Type) []Field {
	if known, ok := fieldsOf.Load(t); ok {
		return known.([]Field) //nolint:forcetypeassert // nothing else is in it
	}
	fields := readFields(t)
	fieldsOf.Store(t, fields)
	return fields
}

func readFields(t reflect.Type) []Field {
	fields := make([]Field, 0, t.NumField())
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		key := tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		fields = append(fields, Field{
			Index:    i,
			Type:     t.Field(i).Type,
			Tag:      tag,
			Key:      key,
			Doc:      tag.Get("doc"),
			Default:  tag.Get("default"),
			Enum:     words(tag.Get("enum")),
			Min:      tag.Get("min"),
			Max:      tag.Get("max"),
			Ref:      tag.Get("ref"),
			Format:   tag.Get("format"),
			Secret:   tag.Get("secret"),
			Runtime:  tag.Get("runtime"),
			Later:    tag.Get("later"),
			Only:     tag.Get("only"),
			Kinds:    words(tag.Get("kinds")),
			Nonempty: tag.Get("nonempty") != "",
			Required: tag.Get("required") != "",
			Short:    tag.Get("short") != "",
			Loose:    tag.Get("loose") != "",
			Seconds:  tag.Get("seconds") != "",
			Restart:  tag.Get("restart") != "",
			Reload:   tag.Get("reload"),
		})
	}
	return fields
}

// JSONFieldsOf returns the fields of the JSON object that a struct is encoded as, with those of embedded structs inlined. All
// are required except those with omitempty, and those of embedded pointers, which can be nil.
func JSONFieldsOf(t reflect.Type) []Field {
	var fields []Field
	for f := range t.Fields() {
		if f.Anonymous {
			embedded, optional := f.Type, f.Type.Kind() == reflect.Pointer
			if optional {
				embedded = embedded.Elem()
			}
			for _, inner := range JSONFieldsOf(embedded) {
				inner.Required = inner.Required && !optional
				fields = append(fields, inner)
			}
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, Field{
			Type: f.Type, Tag: f.Tag, Key: name, Min: f.Tag.Get("minimum"), Required: options != "omitempty",
			Doc: codeQuotes.ReplaceAllString(f.Tag.Get("doc"), "$1`$2`"),
		})
	}
	return fields
}

// codeQuotes matches 'names' in documentation: a struct tag cannot contain the backquotes in which they are shown.
var codeQuotes = regexp.MustCompile(`(^|\s)'([a-z_]+)'`)

// Within returns the field with the tags that it inherits from the enclosing section.
func (f Field) Within(section Field) Field {
	if f.Reload == "" && !f.Restart {
		f.Restart, f.Reload = section.Restart, section.Reload
	}
	return f
}

func words(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}

func keysOf(fields []Field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.Key
	}
	return keys
}

// LooseKeys returns the keys with the tag loose, of a struct and of the structs in it.
func LooseKeys(root reflect.Type) []string {
	var keys []string
	seen := make(map[reflect.Type]bool)
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Map || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for _, f := range FieldsOf(t) {
			if f.Loose && !slices.Contains(keys, f.Key) {
				keys = append(keys, f.Key)
			}
			visit(t.Field(f.Index).Type)
		}
	}
	visit(root)
	slices.Sort(keys)
	return keys
}

// laterFor reports whether this value of the field has no effect yet.
func (f Field) laterFor(value string) bool {
	return f.Later == "true" || (f.Later != "" && slices.Contains(strings.Split(f.Later, ","), value))
}

func isDuration(t reflect.Type) bool { return t == reflect.TypeFor[time.Duration]() }

// IsSection reports whether values of t contain further keys.
func IsSection(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

// ApplyDefaults sets the fields of a struct, and of the structs in it, to their built-in values. Optional sections are
// pointers: they get their defaults when the section is written.
func ApplyDefaults(v reflect.Value) {
	for _, f := range FieldsOf(v.Type()) {
		fv := v.Field(f.Index)
		switch {
		case fv.Kind() == reflect.Struct:
			ApplyDefaults(fv)
		case f.Default != "":
			if err := SetText(fv, f.Default, f); err != nil {
				panic("schema: default of " + f.Key + ": " + err.Error()) // a tag of our own is invalid
			}
		}
	}
}
