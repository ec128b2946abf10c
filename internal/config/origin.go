package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// originBuiltin is the origin of what nobody set.
const originBuiltin = "built-in"

// mark is where one value came from.
type mark struct {
	place  place  // the zero place for what was not in a file
	origin string // for people: tarsy.yaml:12, env TARSY_X, flag --workers
	hidden bool   // came through {{.VAR}}, or was marked secret by its origin
}

// Value is one setting and where it came from.
type Value struct {
	Path   string
	Value  string // secrets are Hidden
	Origin string
}

// Origins lists every setting that has a value, in the order of the sections.
func (c *Config) Origins() []Value {
	var values []Value
	c.walk(func(leaf leaf) {
		m, set := c.marks[leaf.path]
		if !set && leaf.value.IsZero() && leaf.field.def == "" {
			return
		}
		origin := originBuiltin
		if set {
			origin = m.origin
		}
		values = append(values, Value{Path: leaf.path, Value: c.show(leaf), Origin: origin})
	})
	return values
}

// placeOf finds where in the files a path, or what it is part of, was written.
func (c *Config) placeOf(path string) place {
	for path != "" {
		if m, ok := c.marks[path]; ok {
			return m.place
		}
		path = parentPath(path)
	}
	return place{}
}

// parentPath cuts the last key or index off a path.
func parentPath(path string) string {
	if strings.HasSuffix(path, "]") {
		if open := strings.LastIndex(path, "["); open >= 0 {
			return path[:open]
		}
	}
	if dot := strings.LastIndex(path, "."); dot >= 0 {
		return path[:dot]
	}
	return ""
}

// leaf is a value that holds no further keys: a scalar, or a list of scalars.
type leaf struct {
	path  string
	field field
	value reflect.Value
}

// walk visits every leaf, sections in declaration order and entries by name.
func (c *Config) walk(visit func(leaf)) {
	walkSection(reflect.ValueOf(c).Elem(), "", visit)
}

func walkSection(v reflect.Value, path string, visit func(leaf)) {
	for _, f := range fieldsOf(v.Type()) {
		walkValue(v.Field(f.index), joinPath(path, f.key), f, visit)
	}
}

func walkValue(v reflect.Value, path string, f field, visit func(leaf)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walkValue(v.Elem(), path, f, visit)
		}
	case reflect.Struct:
		walkSection(v, path, visit)
	case reflect.Map:
		keys := slices.Sorted(maps.Keys(keySet(v)))
		for _, key := range keys {
			walkValue(v.MapIndex(reflect.ValueOf(key)), joinPath(path, key), f, visit)
		}
	case reflect.Slice:
		if !isSection(v.Type().Elem()) {
			visit(leaf{path: path, field: f, value: v})
			return
		}
		for i := range v.Len() {
			walkValue(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f, visit)
		}
	default:
		visit(leaf{path: path, field: f, value: v})
	}
}

func keySet(v reflect.Value) map[string]struct{} {
	keys := make(map[string]struct{}, v.Len())
	for _, k := range v.MapKeys() {
		keys[k.String()] = struct{}{}
	}
	return keys
}

// texts returns the paths of a leaf's scalars and their values, in the clear.
func (l leaf) texts() ([]string, []string) {
	if l.value.Kind() != reflect.Slice {
		return []string{l.path}, []string{text(l.value)}
	}
	var paths, values []string
	for i := range l.value.Len() {
		paths = append(paths, fmt.Sprintf("%s[%d]", l.path, i))
		values = append(values, text(l.value.Index(i)))
	}
	return paths, values
}

// show renders a leaf with its secrets hidden.
func (c *Config) show(l leaf) string {
	paths, values := l.texts()
	if l.field.secret == "args" {
		safe := shownArgs(values)
		for i, path := range paths {
			safe[i] = shown(safe[i], "", c.marks[path].hidden)
		}
		return "[" + strings.Join(safe, ", ") + "]"
	}
	whole := c.marks[l.path].hidden
	for i, path := range paths {
		values[i] = shown(values[i], l.field.secret, whole || c.marks[path].hidden)
	}
	if l.value.Kind() == reflect.Slice {
		return "[" + strings.Join(values, ", ") + "]"
	}
	return values[0]
}

func text(v reflect.Value) string {
	switch {
	case isDuration(v.Type()):
		return formatDuration(time.Duration(v.Int()))
	case v.Kind() == reflect.String:
		return v.String() // not String() of the type: a Secret would hide itself
	default:
		return fmt.Sprint(v.Interface())
	}
}

// formatDuration writes 40m where Go writes 40m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
