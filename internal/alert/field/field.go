// Package field finds facts in JSON values of any form, by path or with a template. The configuration validates fields with the
// same code that internal/alert uses to read them. Values are as decoded by encoding/json, with numbers as json.Number.
package field

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Field locates a fact: a path, or a template that produces it. The zero Field finds nothing.
type Field struct {
	path     string
	template *template.Template
}

// Parse parses a path such as incident.labels.app or items.0.title, or a template such as {{.incident.title}}.
func Parse(text string) (Field, error) {
	if !strings.Contains(text, "{{") {
		return Field{path: strings.TrimSpace(text)}, checkPath(text)
	}

	parsed, err := template.New("template").Funcs(template.FuncMap{
		"lower":   strings.ToLower,
		"upper":   strings.ToUpper,
		"default": orElse,
	}).Parse(text)
	if err != nil {
		return Field{}, fmt.Errorf("invalid template: %w", err)
	}

	return Field{template: parsed}, nil
}

// CheckPath validates a path that must not be a template, because it selects more than text.
func CheckPath(text string) error {
	if strings.Contains(text, "{{") {
		return errors.New("a path is expected, not a template")
	}

	return checkPath(text)
}

func checkPath(text string) error {
	text = strings.TrimSpace(text)

	if strings.HasPrefix(text, "$") || strings.HasPrefix(text, ".") || strings.HasSuffix(text, ".") || strings.ContainsAny(text, "[]{}") {
		return errors.New("not a path: write the keys with dots between them, such as incident.labels.app or items.0.title")
	}

	return nil
}

// Empty reports whether the field is not configured.
func (f Field) Empty() bool { return f.path == "" && f.template == nil }

// Text returns the field's text for an alert, or "" if it is missing. A path that the alert lacks is looked up in the whole
// body, for values that its alerts share.
func (f Field) Text(item, root any) string {
	if f.template != nil {
		return f.execute(item)
	}

	if f.path == "" {
		return ""
	}

	value, ok := Find(item, f.path)
	if !ok {
		value, _ = Find(root, f.path)
	}

	return Scalar(value)
}

// execute runs the template. A template that fails, for example on a missing value, has no text.
func (f Field) execute(item any) string {
	out := limited{left: tarsy.MaxAlertBytes}
	if err := f.template.Execute(&out, item); err != nil {
		return ""
	}

	return plaintext.Clean(strings.ReplaceAll(out.String(), "<no value>", ""))
}

// limited fails a template whose output grows too large.
type limited struct {
	strings.Builder

	left int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, fmt.Errorf("longer than %d bytes", tarsy.MaxAlertBytes)
	}

	return l.Builder.Write(p)
}

// orElse returns the fallback for a missing value: {{default "none" .team}}.
func orElse(fallback string, value any) string {
	if text := Scalar(value); text != "" {
		return text
	}

	return fallback
}

// Find follows a path of keys and list indexes, such as items.0.labels.app. A key can itself contain dots: the longest existing
// key wins.
func Find(value any, path string) (any, bool) {
	if path == "" {
		return value, true
	}

	if list, ok := value.([]any); ok {
		first, rest, _ := strings.Cut(path, ".")

		i, err := strconv.Atoi(first)
		if err != nil || i < 0 || i >= len(list) {
			return nil, false
		}

		return Find(list[i], rest)
	}

	object, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}

	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if next, ok := object[path[:end]]; ok {
			if found, ok := Find(next, strings.TrimPrefix(path[end:], ".")); ok {
				return found, true
			}
		}
	}

	return nil, false
}

// Scalar returns a value as text; objects and lists are encoded as JSON.
func Scalar(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return plaintext.Clean(value)
	case json.Number:
		return value.String()
	case bool:
		return strconv.FormatBool(value)
	default:
		raw, err := json.Marshal(value)
		if err != nil {
			return ""
		}

		return plaintext.Clean(string(raw))
	}
}
