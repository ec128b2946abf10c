package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Leaf is a value without further keys: a scalar, or a list of scalars.
type Leaf struct {
	Path  string
	Field Field
	Value reflect.Value
}

// Walk visits every leaf of the struct that root points to, sections in declaration order and entries by name. The field of a
// leaf inherits the tags restart and reload from the enclosing sections, unless it has its own.
func Walk(root any, visit func(Leaf)) {
	walkSection(reflect.ValueOf(root).Elem(), "", Field{}, visit)
}

func walkSection(v reflect.Value, path string, around Field, visit func(Leaf)) {
	for _, f := range FieldsOf(v.Type()) {
		walkValue(v.Field(f.Index), Join(path, f.Key), f.Within(around), visit)
	}
}

func walkValue(v reflect.Value, path string, f Field, visit func(Leaf)) {
	if isJSON(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walkValue(v.Elem(), path, f, visit)
		}
	case reflect.Struct:
		walkSection(v, path, f, visit)
	case reflect.Map:
		keys := slices.Sorted(maps.Keys(KeySet(v)))
		for _, key := range keys {
			walkValue(v.MapIndex(reflect.ValueOf(key)), Join(path, key), f, visit)
		}
	case reflect.Slice:
		if !IsSection(v.Type().Elem()) {
			visit(Leaf{Path: path, Field: f, Value: v})
			return
		}
		for i := range v.Len() {
			walkValue(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f, visit)
		}
	default:
		visit(Leaf{Path: path, Field: f, Value: v})
	}
}

// KeySet returns the keys of a map.
func KeySet(v reflect.Value) map[string]struct{} {
	keys := make(map[string]struct{}, v.Len())
	for _, k := range v.MapKeys() {
		keys[k.String()] = struct{}{}
	}
	return keys
}

// Texts returns the paths of a leaf's scalars and their values, unredacted.
func (l Leaf) Texts() ([]string, []string) {
	if l.Value.Kind() != reflect.Slice {
		return []string{l.Path}, []string{text(l.Value)}
	}
	var paths, values []string
	for i := range l.Value.Len() {
		paths = append(paths, fmt.Sprintf("%s[%d]", l.Path, i))
		values = append(values, text(l.Value.Index(i)))
	}
	return paths, values
}

func text(v reflect.Value) string {
	switch {
	case isDuration(v.Type()):
		return FormatDuration(time.Duration(v.Int()))
	case v.Kind() == reflect.String:
		return v.String() // not the type's String(): a Secret would redact itself
	default:
		return fmt.Sprint(v.Interface())
	}
}

// FormatDuration formats durations like 40m instead of Go's 40m0s.
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
