package alert

import (
	"fmt"
	"maps"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert/field"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/plaintext"
)

// mapping is config.Mapping with its templates parsed.
type mapping struct {
	alerts, labels string

	title, severity, service, namespace, cluster, team, fingerprint, status, startsAt, runbook field.Field

	resolved []string
	links    []linkField
}

type linkField struct {
	kind  tarsy.AlertLinkKind
	field field.Field
}

// compileMapping parses a mapping, which configuration loading has validated with the same code.
func compileMapping(m config.Mapping) (mapping, error) {
	compiled := mapping{alerts: m.Alerts, labels: m.Labels, resolved: m.Resolved}

	for _, path := range []struct{ name, text string }{{"alerts", m.Alerts}, {"labels", m.Labels}} {
		if err := field.CheckPath(path.text); err != nil {
			return mapping{}, fmt.Errorf("%s: %w", path.name, err)
		}
	}

	for _, f := range []struct {
		name, text string
		into       *field.Field
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

func compileField(name, text string) (field.Field, error) {
	parsed, err := field.Parse(text)
	if err != nil {
		return field.Field{}, fmt.Errorf("%s: %w", name, err)
	}

	return parsed, nil
}

func texts(object map[string]any) map[string]string {
	all := make(map[string]string, len(object))

	for name, value := range object {
		if text := field.Scalar(value); text != "" {
			all[plaintext.Clean(name)] = text
		}
	}

	return all
}
