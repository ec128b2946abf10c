package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

const (
	// DefaultBody is the default template of a webhook's body.
	DefaultBody = `{{json .}}`
	// DefaultNote is the default template of a note.
	DefaultNote = `{{if eq .Event "started"}}TARSy started to investigate: {{.Title}}
{{- else if eq .Event "approval"}}TARSy needs an approval: {{.Title}}

The agent {{.Approval.Agent}} wants to call {{.Approval.Server}}.{{.Approval.Tool}}:
{{.Approval.Arguments}}
The request expires at {{.Approval.ExpiresAt}}.
{{- else}}TARSy investigation {{.Status}}: {{.Title}}
{{- with .OutcomeText}}

{{.}}{{with $.Cause}}: {{.}}{{end}} ({{$.Confidence}} confidence)
{{- end}}
{{- range $i, $step := .NextSteps}}{{if eq $i 0}}
Next step: {{.Title}}{{end}}{{end}}
{{- with default .Error .Summary}}

{{.}}{{end}}{{end}}
{{- with .URL}}

{{.}}{{end}}`
)

// maxBody limits the output of a template: an analysis can be long, the output of a template with a loop longer.
const maxBody = 4 << 20

var (
	errNotJSON = errors.New("does not make JSON: write texts as {{json .Title}}, without quotes around it, or set the header Content-Type")
	errTooLong = errors.New("the body is longer than 4 MiB")
)

// Template renders messages.
type Template struct{ parsed *template.Template }

// Parse parses a template and tries it with samples. asJSON requires the output to be JSON.
func Parse(text string, asJSON bool) (*Template, error) {
	parsed, err := template.New("body").Option("missingkey=zero").Funcs(template.FuncMap{"json": toJSON, "default": fallback}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("invalid template: %s", strings.TrimPrefix(err.Error(), "template: body:"))
	}

	t := &Template{parsed: parsed}

	for _, sample := range samples() {
		body, err := t.Render(sample)
		if err != nil {
			return nil, err
		}

		if asJSON && !json.Valid(body) {
			return nil, errNotJSON
		}
	}

	return t, nil
}

// Render renders a message.
func (t *Template) Render(m Message) ([]byte, error) {
	var body bytes.Buffer

	if err := t.parsed.Execute(&limited{to: &body, left: maxBody}, m); err != nil {
		return nil, fmt.Errorf("the template fails: %s", strings.TrimPrefix(err.Error(), "template: body:"))
	}

	return body.Bytes(), nil
}

// limited fails writes beyond a limit.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errTooLong
	}

	return l.to.Write(p)
}

// toJSON is the template function json. Angle brackets are not escaped, because the output is not HTML.
func toJSON(value any) (string, error) {
	var out bytes.Buffer

	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)

	if err := encoder.Encode(value); err != nil {
		return "", err
	}

	return strings.TrimSuffix(out.String(), "\n"), nil
}

// fallback is the template function default: {{default "none" .Team}}. Only strings can be empty.
func fallback(otherwise, value any) any {
	if fmt.Sprint(value) == "" {
		return otherwise
	}

	return value
}
