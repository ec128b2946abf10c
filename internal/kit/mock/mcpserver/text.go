package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

// maxText limits the output of a template.
const maxText = 8 << 20

var errTooLong = errors.New("the text is longer than 8 MiB")

// text is a scripted text with placeholders for arguments. Arguments are data: anything in them that looks like a template
// is kept as it is.
type text struct {
	plain    string
	template *template.Template
}

func parseText(source string) (text, error) {
	if !strings.Contains(source, "{{") {
		return text{plain: source}, nil
	}

	parsed, err := template.New("text").Option("missingkey=error").Funcs(functions(nil)).Parse(source)
	if err != nil {
		return text{}, fmt.Errorf("not a template: %w", err)
	}

	return text{template: parsed}, nil
}

// functions returns the functions that templates have in addition to those of text/template.
func functions(arguments map[string]any) template.FuncMap {
	return template.FuncMap{
		// arg returns the argument at a path, or "" if there is none.
		"arg": func(path string) any {
			if value, ok := lookup(arguments, path); ok && value != nil {
				return value
			}

			return ""
		},
		"json": func(value any) (string, error) {
			raw, err := json.Marshal(value)

			return string(raw), err
		},
	}
}

func (t text) render(arguments map[string]any) (string, error) {
	if t.template == nil {
		return t.plain, nil
	}

	// A clone has its own functions: calls run concurrently.
	own, err := t.template.Clone()
	if err != nil {
		return "", fmt.Errorf("clone the template: %w", err)
	}

	var out bounded

	if err := own.Funcs(functions(arguments)).Execute(&out, arguments); err != nil {
		return "", fmt.Errorf("fill in the arguments: %w", err)
	}

	return out.String(), nil
}

// bounded is a text with a maximum length.
type bounded struct{ strings.Builder }

// Write implements io.Writer.
func (b *bounded) Write(data []byte) (int, error) {
	if b.Len()+len(data) > maxText {
		return 0, errTooLong
	}

	return b.Builder.Write(data)
}
