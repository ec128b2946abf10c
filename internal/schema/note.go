package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Notes reports keys that were set but have no effect: those with the tag later, and those with the tag only for which idle
// returns a reason. Idle gets the value of the tag, the struct that contains the key, and the key's field; it returns "" for a
// key that has an effect. Nothing is reported for a section that is switched off (enabled: false).
func Notes(root any, written func(path string) bool, idle func(rule string, section reflect.Value, f Field) string, report func(path, message string)) {
	n := notes{written: written, idle: idle, report: report}
	n.section(reflect.ValueOf(root).Elem(), "")
}

type notes struct {
	written func(path string) bool
	idle    func(rule string, section reflect.Value, f Field) string
	report  func(path, message string)
}

func (n notes) section(v reflect.Value, path string) {
	if isOff(v) {
		return
	}
	for _, f := range FieldsOf(v.Type()) {
		value, at := v.Field(f.Index), Join(path, f.Key)
		if n.written(at) && !isEmpty(value) {
			if message := n.message(v, value, f); message != "" {
				n.report(at, message)
				continue
			}
		}
		n.below(value, at)
	}
}

func (n notes) message(section, value reflect.Value, f Field) string {
	switch {
	case f.Later == "true":
		return "is accepted but has no effect yet"
	case value.Kind() == reflect.String && f.laterFor(value.String()):
		return strconv.Quote(value.String()) + " is accepted but has no effect yet"
	case f.Only != "":
		if reason := n.idle(f.Only, section, f); reason != "" {
			return "has no effect: " + reason
		}
	}
	return ""
}

// below visits the sections in a value.
func (n notes) below(v reflect.Value, path string) {
	switch v.Kind() { //nolint:exhaustive // the others hold no keys
	case reflect.Pointer:
		if !v.IsNil() {
			n.below(v.Elem(), path)
		}
	case reflect.Struct:
		n.section(v, path)
	case reflect.Map:
		for _, key := range slices.Sorted(maps.Keys(KeySet(v))) {
			n.below(v.MapIndex(reflect.ValueOf(key)), Join(path, key))
		}
	case reflect.Slice:
		for i := range v.Len() {
			n.below(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

// isEmpty reports whether a value sets nothing: a list or map without entries, or a section that is missing or switched off.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Pointer:
		return v.IsNil() || isEmpty(v.Elem())
	case reflect.Struct:
		return isOff(v)
	default:
		return false
	}
}

// isOff reports whether v is a section that is switched off by its key enabled.
func isOff(v reflect.Value) bool {
	for _, f := range FieldsOf(v.Type()) {
		if enabled := v.Field(f.Index); f.Key == "enabled" && enabled.Kind() == reflect.Bool {
			return !enabled.Bool()
		}
	}
	return false
}
