package alert

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// mapping is config.Mapping with its templates parsed.
type mapping struct {
	alerts, labels string

	title, severity, service, namespace, cluster, team, fingerprint, status, startsAt, runbook field

	resolved []string
	links    []linkField
}

type linkField struct {
	kind  tarsy.AlertLinkKind
	field field
}

// field is where a fact is: at a path, or made by a template. It has neither if nothing is configured.
type field struct {
	path     string
	template *template.Template
}

func (f field) empty() bool { return f.path == "" && f.template == nil }

// CheckMapping returns the first mistake in a mapping of a generic receiver, with the name of its key.
func CheckMapping(m config.Mapping) error {
	_, err := compileMapping(m)

	return err
}

func compileMapping(m config.Mapping) (mapping, error) {
	compiled := mapping{alerts: m.Alerts, labels: m.Labels, resolved: orDefault(m.Resolved, overStatuses)}

	for _, path := range []struct{ name, text string }{{"alerts", m.Alerts}, {"labels", m.Labels}} {
		if strings.Contains(path.text, "{{") {
			return mapping{}, fmt.Errorf("%s must be a path, not a template", path.name)
		}
	}

	for _, f := range []struct {
		name, text string
		into       *field
	}{
		{"title", m.Title, &compiled.title},
		{"severity", m.Severity, &compiled.severity},
		{"service", m.Service, &compiled.service},
		{"namespace", m.Namespace, &compiled.namespace},
		{"cluster", m.Cluster, &compiled.cluster},
		{"team", m.Team, &compiled.team},
		{"fingerprint", m.Fingerprint, &compiled.fingerprint},
		{"status", m.Status, &compiled.status},
		{"starts_at", m.StartsAt, &compiled.startsAt},
		{"runbook", m.Runbook, &compiled.runbook},
	} {
		var err error
		if *f.into, err = compileField(f.name, f.text); err != nil {
			return mapping{}, err
		}
	}

	for _, kind := range slices.Sorted(maps.Keys(m.Links)) {
		if !isLinkKind(tarsy.AlertLinkKind(kind)) {
			return mapping{}, fmt.Errorf("links.%s: there is no such kind of link; use generator, dashboard, panel, runbook, silence or incident", kind)
		}

		f, err := compileField("links."+kind, m.Links[kind])
		if err != nil {
			return mapping{}, err
		}

		compiled.links = append(compiled.links, linkField{tarsy.AlertLinkKind(kind), f})
	}

	return compiled, nil
}

func compileField(name, text string) (field, error) {
	if !strings.Contains(text, "{{") {
		return field{path: strings.TrimSpace(text)}, nil
	}

	parsed, err := template.New(name).Funcs(template.FuncMap{
		"lower":   strings.ToLower,
		"upper":   strings.ToUpper,
		"default": orElse,
	}).Parse(text)
	if err != nil {
		return field{}, fmt.Errorf("%s: %w", name, err)
	}

	return field{template: parsed}, nil
}

// orElse returns the fallback for a value that is missing: {{default "none" .team}}.
func orElse(fallback string, value any) string {
	if text := scalar(value); text != "" {
		return text
	}

	return fallback
}

// text returns the field's text of an alert, empty if it is missing. A path that the alert does not have is looked up in the whole
// body, for what its alerts have in common.
func (f field) text(item, root any) string {
	if f.template != nil {
		return f.execute(item)
	}

	if f.path == "" {
		return ""
	}

	value, ok := find(item, f.path)
	if !ok {
		value, _ = find(root, f.path)
	}

	return scalar(value)
}

// execute runs the template. One that reaches into something that is missing has no text.
func (f field) execute(item any) string {
	out := limited{left: tarsy.MaxAlertBytes}
	if err := f.template.Execute(&out, item); err != nil {
		return ""
	}

	return tarsy.CleanText(strings.ReplaceAll(out.String(), "<no value>", ""))
}

// limited stops a template whose text grows too large.
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

// find follows a path of keys and list indexes, such as items.0.labels.app. A key may itself contain dots: the longest key that
// exists is followed.
func find(value any, path string) (any, bool) {
	if path == "" {
		return value, true
	}

	if list, ok := value.([]any); ok {
		first, rest, _ := strings.Cut(path, ".")

		i, err := strconv.Atoi(first)
		if err != nil || i < 0 || i >= len(list) {
			return nil, false
		}

		return find(list[i], rest)
	}

	object, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}

	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if next, ok := object[path[:end]]; ok {
			if found, ok := find(next, strings.TrimPrefix(path[end:], ".")); ok {
				return found, true
			}
		}
	}

	return nil, false
}

// scalar is a value as text; objects and lists are JSON.
func scalar(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return tarsy.CleanText(value)
	case json.Number:
		return value.String()
	case bool:
		return strconv.FormatBool(value)
	default:
		return tarsy.CleanText(compact(value))
	}
}

func texts(object map[string]any) map[string]string {
	all := make(map[string]string, len(object))

	for name, value := range object {
		if text := scalar(value); text != "" {
			all[tarsy.CleanText(name)] = text
		}
	}

	return all
}
