package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// condition is a condition on the argument at a path.
type condition struct {
	path  string
	wants string // for error messages
	holds func(value any, there bool) bool
}

// operators are the keys of a condition other than plain equality.
var operators = map[string]func(operand any) (condition, error){
	"equals":   equals,
	"contains": contains,
	"matches":  matches,
	"exists":   exists,
}

// conditions converts a map to conditions. fail receives the error in the condition at a path.
func conditions(when map[string]any, fail func(path, message string)) []condition {
	var list []condition

	for _, path := range slices.Sorted(maps.Keys(when)) {
		operand, err := plain(when[path])
		if err != nil {
			fail(path, err.Error())

			continue
		}

		object, ok := operand.(map[string]any)
		if !ok {
			object = map[string]any{"equals": operand}
		}

		known := 0
		for key := range object {
			if _, ok := operators[key]; ok {
				known++
			}
		}

		switch {
		case known == 0:
			for _, nested := range conditions(object, func(at, message string) { fail(path+"."+at, message) }) {
				nested.path = path + "." + nested.path
				list = append(list, nested)
			}
		case known < len(object):
			fail(path, "has both nested arguments and conditions; write nested arguments with dots")
		default:
			list = append(list, operations(path, object, fail)...)
		}
	}

	return list
}

func operations(path string, object map[string]any, fail func(path, message string)) []condition {
	var list []condition

	for _, key := range slices.Sorted(maps.Keys(object)) {
		made, err := operators[key](object[key])
		if err != nil {
			fail(path+"."+key, err.Error())

			continue
		}

		made.path = path
		list = append(list, made)
	}

	return list
}

func equals(operand any) (condition, error) {
	return condition{wants: show(operand), holds: func(value any, there bool) bool { return there && same(value, operand) }}, nil
}

func contains(operand any) (condition, error) {
	return condition{wants: "one that contains " + show(operand), holds: func(value any, _ bool) bool {
		switch v := value.(type) {
		case string:
			part, ok := operand.(string)

			return ok && strings.Contains(v, part)
		case []any:
			return slices.ContainsFunc(v, func(element any) bool { return same(element, operand) })
		default:
			return false
		}
	}}, nil
}

func matches(operand any) (condition, error) {
	pattern, ok := operand.(string)
	if !ok {
		return condition{}, fmt.Errorf("a regular expression is a text, not %s", show(operand))
	}

	expression, err := regexp.Compile(pattern)
	if err != nil {
		return condition{}, fmt.Errorf("not a regular expression: %w", err)
	}

	return condition{wants: "one that matches " + show(pattern), holds: func(value any, there bool) bool {
		if text, ok := value.(string); ok {
			return expression.MatchString(text)
		}

		return there && expression.MatchString(show(value))
	}}, nil
}

func exists(operand any) (condition, error) {
	wanted, ok := operand.(bool)
	if !ok {
		return condition{}, fmt.Errorf("exists is true or false, not %s", show(operand))
	}

	wants := "any"
	if !wanted {
		wants = "none"
	}

	return condition{wants: wants, holds: func(_ any, there bool) bool { return there == wanted }}, nil
}

// lookup finds the argument at a path: a name, or names and list indexes separated by dots.
func lookup(value any, path string) (any, bool) {
	if found, ok := child(value, path); ok {
		return found, true
	}

	for i := range len(path) {
		if path[i] != '.' {
			continue
		}

		if inner, ok := child(value, path[:i]); ok {
			if found, ok := lookup(inner, path[i+1:]); ok {
				return found, true
			}
		}
	}

	return nil, false
}

func child(value any, name string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		found, ok := v[name]

		return found, ok
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}

		return v[i], true
	default:
		return nil, false
	}
}

// same compares JSON values. Numbers are compared by value: 1 equals 1.0, and large integers keep all digits.
func same(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)

		return ok && maps.EqualFunc(x, y, same)
	case []any:
		y, ok := b.([]any)

		return ok && slices.EqualFunc(x, y, same)
	case json.Number:
		y, ok := b.(json.Number)

		return ok && sameNumber(x, y)
	default:
		return a == b
	}
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}

	if !strings.ContainsAny(string(a)+string(b), ".eE") {
		return a == "-0" && b == "0" || a == "0" && b == "-0"
	}

	x, errA := a.Float64()
	y, errB := b.Float64()

	return errA == nil && errB == nil && x == y
}

// plain returns the value as decoded from JSON, with its numbers as they are written.
func plain(value any) (any, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("is not a JSON value: %w", err)
	}

	return decode(raw)
}

func decode(raw []byte) (any, error) {
	var value any

	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()

	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}

	return value, nil
}

// show returns a value on one short line, for people.
func show(value any) string {
	const most = 200

	raw, err := json.Marshal(value)
	if err != nil {
		return "?"
	}

	return cut(string(raw), most)
}

// cut truncates a text without splitting a rune.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}

	return strings.ToValidUTF8(text[:most], "") + "…"
}
