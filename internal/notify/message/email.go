package message

const (
	// DefaultSubject is the default template of an e-mail's subject.
	DefaultSubject = `[TARSy] {{if eq .Event "started"}}Investigation started
{{- else if eq .Event "approval"}}Approval needed
{{- else if .OutcomeText}}{{.OutcomeText}}
{{- else if eq .Status "timed_out"}}Investigation timed out
{{- else}}Investigation {{.Status}}{{end}}: {{.Title}}`
	// DefaultEmail is the default template of an e-mail's text.
	DefaultEmail = `{{.Title}}
{{with .Severity}}
Severity: {{.}}{{end}}
{{- with .Service}}
Service: {{.}}{{end}}
{{- with .Namespace}}
Namespace: {{.}}{{end}}
{{- with .Cluster}}
Cluster: {{.}}{{end}}
{{- with .Team}}
Team: {{.}}{{end}}
Status: {{.Status}}
{{- with .OutcomeText}}

{{.}} ({{$.Confidence}} confidence)
{{- with $.Cause}}
Cause: {{.}}{{end}}
{{- with $.Impact}}
Impact: {{.}}{{end}}
{{- end}}
{{- with .NextSteps}}

Next steps (proposed by a model; check them first):
{{- range .}}
- {{.Title}}{{with .Command}}
  {{.}}{{end}}{{end}}
{{- end}}
{{- with default .Error .Summary}}

{{.}}
{{- end}}
{{- if eq .Event "approval"}}

The agent {{.Approval.Agent}} wants to call {{.Approval.Server}}.{{.Approval.Tool}} (call {{.Approval.Call}}) with these arguments:

{{.Approval.Arguments}}

The request expires at {{.Approval.ExpiresAt}}. Without a decision, the agent continues without the call.
{{- end}}
{{- with .URL}}

{{if eq $.Event "approval"}}Decide here: {{end}}{{.}}
{{- end}}
`
)
