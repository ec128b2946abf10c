package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

// maxText bounds what a template may make of its arguments.
const maxText = 8 << 20

var errTooLong = errors.New("the text is longer than 8 MiB")

// text is a scripted text in which arguments stand. Arguments are data: what looks like a template in them stays as it is.
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

// functions are those that templates have beside those of text/template.
func functions(arguments map[string]any) template.FuncMap {
	return template.FuncMap{
		// arg is the argument at a path, and empty if there is none.
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

	// A clone has functions of its own: calls run at once.
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

// bounded is a text that does not grow for ever.
type bounded struct{ strings.Builder }

// Write implements io.Writer.
func (b *bounded) Write(data []byte) (int, error) {
	if b.Len()+len(data) > maxText {
		return 0, errTooLong
	}

	return b.Builder.Write(data)
}
