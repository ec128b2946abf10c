package config

import (
	"fmt"
	"reflect"
	"strings"

	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/schema"
)

// Override sets one value from a flag or an environment variable. origin is reported by Origins, for example "flag --workers". Lists are
// separated by commas. It checks only this value: call Validate after the last Override.
func (c *Config) Override(path, value, origin string) error {
	if c.marks == nil {
		c.marks = make(map[string]mark)
	}
	fail := func(message, hint string) error {
		return newError([]Problem{{Path: path, Message: message + " in " + origin, Hint: hint}})
	}
	known := make([]string, 0)
	found := false
	var failure error
	c.walk(func(l leaf) { known = append(known, l.Path) })
	set := func(v reflect.Value, f schema.Field) {
		found = true
		if err := schema.SetText(v, value, f); err != nil {
			failure = fail(err.Error(), "")
			return
		}
		c.forget(path)
		c.marks[path] = mark{origin: origin}
	}
	overrideIn(reflect.ValueOf(c).Elem(), "", path, set)
	switch {
	case failure != nil:
		return failure
	case !found:
		return fail("unknown key", nearest.Hint(path, known, "keys"))
	}
	var problems []Problem
	c.walk(func(l leaf) {
		if l.Path == path {
			problems = c.checkLeaf(l)
		}
	})
	if len(problems) > 0 {
		return newError(problems)
	}
	return nil
}

// forget drops the marks of a value and of its items.
func (c *Config) forget(path string) {
	for marked := range c.marks {
		if marked == path || strings.HasPrefix(marked, path+"[") {
			delete(c.marks, marked)
		}
	}
}

// overrideIn finds the value at a path and passes it to set. Map entries are copied out and back, because they cannot be changed in place.
func overrideIn(v reflect.Value, at, path string, set func(reflect.Value, schema.Field)) {
	for _, f := range schema.FieldsOf(v.Type()) {
		here := joinPath(at, f.Key)
		if here == path || isBelow(path, here) {
			overrideAt(v.Field(f.Index), here, path, f, set)
			return
		}
	}
}

func overrideAt(v reflect.Value, at, path string, f schema.Field, set func(reflect.Value, schema.Field)) {
	switch {
	case at == path && !schema.IsSection(v.Type()) && v.Kind() != reflect.Map:
		set(v, f)
	case v.Kind() == reflect.Pointer && schema.IsSection(v.Type()):
		if !v.IsNil() {
			overrideIn(v.Elem(), at, path, set)
		}
	case v.Kind() == reflect.Struct:
		overrideIn(v, at, path, set)
	case v.Kind() == reflect.Map:
		for key := range schema.KeySet(v) {
			here := joinPath(at, key)
			if here != path && !isBelow(path, here) {
				continue
			}
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(v.MapIndex(reflect.ValueOf(key)))
			overrideAt(elem, here, path, f, set)
			v.SetMapIndex(reflect.ValueOf(key), elem)
		}
	case v.Kind() == reflect.Slice && schema.IsSection(v.Type().Elem()):
		for i := range v.Len() {
			here := fmt.Sprintf("%s[%d]", at, i)
			if isBelow(path, here) {
				overrideAt(v.Index(i), here, path, f, set)
			}
		}
	}
}

func isBelow(path, section string) bool {
	rest, ok := strings.CutPrefix(path, section)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}
