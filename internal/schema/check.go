package schema

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/nearest"
)

// Check reports values that violate the tags min, max, enum, required, nonempty and format:"regexp". Formats with further rules
// have their own checks.
func Check(root any, marks map[string]Mark, report func(path, message, hint string)) {
	Walk(root, func(l Leaf) {
		if _, set := marks[l.Path]; !set {
			return
		}
		if message := l.OutOfRange(); message != "" {
			report(l.Path, message, "")
		}
		paths, values := l.Texts()
		for i, path := range paths {
			if message, hint := checkText(values[i], l.Field); message != "" {
				report(path, message, hint)
			}
		}
	})
	Required(root, func(path, hint string) { report(path, "is required", hint) })
}

func checkText(value string, f Field) (string, string) {
	if f.Nonempty && value == "" {
		return "is empty", "leave it out"
	}
	if f.Enum != nil && !slices.Contains(f.Enum, value) {
		return "unknown value " + strconv.Quote(value), nearest.HintWithList(value, f.Enum, "values")
	}
	if f.Format == "regexp" {
		if _, err := regexp.Compile(value); err != nil {
			return "not a regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: "),
				"see https://github.com/google/re2/wiki/Syntax"
		}
	}
	return "", ""
}

// OutOfRange describes how a value violates its min or max; "" if it does not.
func (l Leaf) OutOfRange() string {
	switch {
	case l.Field.Min != "" && l.compare(l.Field.Min) < 0:
		return "must be at least " + l.Field.Min
	case l.Field.Max != "" && l.compare(l.Field.Max) > 0:
		return "must be at most " + l.Field.Max
	default:
		return ""
	}
}

// compare reports whether the value is below (-1) or above (1) a limit in its tag.
func (l Leaf) compare(limit string) int {
	if isDuration(l.Value.Type()) {
		bound, err := time.ParseDuration(limit)
		if err != nil {
			panic("schema: limit of " + l.Field.Key + ": " + err.Error()) // a tag of our own is invalid
		}
		return compare(l.Value.Int(), int64(bound))
	}
	bound, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		panic("schema: limit of " + l.Field.Key + ": " + err.Error()) // as above
	}
	switch l.Value.Kind() {
	case reflect.Int:
		return compare(float64(l.Value.Int()), bound)
	case reflect.Float64:
		return compare(l.Value.Float(), bound)
	default:
		return 0
	}
}

func compare[N int64 | float64](a, b N) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// Required finds entries that lack a required key.
func Required(root any, report func(path, hint string)) {
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		switch v.Kind() { //nolint:exhaustive // the others have nothing below them
		case reflect.Pointer:
			if !v.IsNil() {
				visit(v.Elem(), path)
			}
		case reflect.Struct:
			for _, f := range FieldsOf(v.Type()) {
				fv, at := v.Field(f.Index), Join(path, f.Key)
				empty := fv.IsZero() || (fv.Kind() == reflect.Slice && fv.Len() == 0)
				if f.Required && empty && !IsSection(fv.Type()) {
					report(at, strings.TrimSuffix(f.Doc, "."))
				}
				visit(fv, at)
			}
		case reflect.Map:
			for _, key := range slices.Sorted(maps.Keys(KeySet(v))) {
				visit(v.MapIndex(reflect.ValueOf(key)), Join(path, key))
			}
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
			}
		}
	}
	visit(reflect.ValueOf(root).Elem(), "")
}

// PlaceOf returns where a path, or the nearest enclosing one, was written.
func PlaceOf(marks map[string]Mark, path string) Place {
	for path != "" {
		if m, ok := marks[path]; ok {
			return m.Place
		}
		path = Parent(path)
	}
	return Place{}
}

// Parent removes the last key or index of a path.
func Parent(path string) string {
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
