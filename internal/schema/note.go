package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Notes reports keys that were written and have no effect: those that the tag later names, and those that the tag only
// names where idle gives a reason. Idle gets the value of the tag, the struct that the key stands in, and the key's field; it returns
// "" for a key that has its effect. Of a section that is switched off (enabled: false) nothing is reported.
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

// below looks at the sections in a value.
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

// isEmpty says whether a value sets nothing: a list or map without entries, a section that is not there or switched off.
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

// isOff says whether v is a section that its key enabled switches off.
func isOff(v reflect.Value) bool {
	for _, f := range FieldsOf(v.Type()) {
		if enabled := v.Field(f.Index); f.Key == "enabled" && enabled.Kind() == reflect.Bool {
			return !enabled.Bool()
		}
	}
	return false
}
