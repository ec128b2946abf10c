package alert

import (
	"maps"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// The well-known names of facts, as the documentation of config.AlertFields lists them.
var (
	severityNames  = []string{"severity", "priority", "level", "alert_priority"}
	serviceNames   = []string{"service", "app", "app_kubernetes_io_name", "deployment", "job", "component"}
	namespaceNames = []string{"namespace", "kubernetes_namespace", "exported_namespace"}
	clusterNames   = []string{"cluster", "cluster_name", "k8s_cluster", "environment"}
	teamNames      = []string{"team", "owner", "squad"}
)

// standardGroup is used if the configuration names no labels to group by.
var standardGroup = []string{"alertname", "cluster", "namespace"}

// Complete fills in the facts of an alert that its sender left empty, from its labels and from the text, if that is a JSON
// object with labels, annotations or fields with well-known names. Afterwards the title, fingerprint, group key, labels and
// links are set. Facts that are already set are only cleaned, so completing an alert twice changes nothing. A fingerprint
// chosen by the sender of a request is prefixed with the source.
//
// The fingerprint and the group key do not establish identity: callers that do not deduplicate the alert clear Facts.GroupKey.
func Complete(a *tarsy.Alert, fields config.AlertFields, groupBy []string) {
	complete(a, readDocument(a.Data), fields, groupBy)
}

func complete(a *tarsy.Alert, d document, fields config.AlertFields, groupBy []string) {
	f := &a.Facts
	if f.Source == "" {
		f.Source = tarsy.SourceAPI
	}

	groupBy = orDefault(groupBy, standardGroup)
	d.labels = overlay(d.labels, f.Labels)

	f.Title = title(a, d, fields)
	if f.Severity == tarsy.SeverityUnknown {
		f.Severity = severity(d, orDefault(fields.Severity, severityNames))
	}

	for _, fact := range []struct {
		value    *string
		names    []string
		standard []string
	}{
		{&f.Service, fields.Service, serviceNames},
		{&f.Namespace, fields.Namespace, namespaceNames},
		{&f.Cluster, fields.Cluster, clusterNames},
		{&f.Team, fields.Team, teamNames},
	} {
		if *fact.value == "" {
			*fact.value = d.label(orDefault(fact.names, fact.standard))
		}

		*fact.value = oneLine(*fact.value, maxFact)
	}

	if f.StartsAt == nil {
		f.StartsAt = parseTime(lookup([]string{"startsAt", "starts_at"}, d.fields))
	}

	f.Links = cleanLinks(slices.Concat(f.Links, d.links, namedLinks(d)))
	f.Receiver = oneLine(f.Receiver, maxFact)
	f.Labels = cleanLabels(d.labels, groupBy)
	f.Fingerprint = fingerprint(*a)

	if f.GroupKey == "" {
		f.GroupKey = groupKey(*a, groupBy)
	}
}

// severity returns the first known severity.
func severity(d document, names []string) tarsy.Severity {
	for _, name := range names {
		for _, values := range []map[string]string{d.labels, d.annotations, d.fields} {
			if known := ParseSeverity(values[name]); known != tarsy.SeverityUnknown {
				return known
			}
		}
	}

	return tarsy.SeverityUnknown
}

// namedLinks returns the links in annotations and fields.
func namedLinks(d document) []tarsy.AlertLink {
	var links []tarsy.AlertLink

	for _, known := range linkNames {
		for _, name := range known.names {
			links = append(links, tarsy.AlertLink{Kind: known.kind, URL: d.annotation([]string{name})})
		}
	}

	return links
}

// cleanLabels limits the number and size of labels. If there are too many, it keeps those used for facts and groups, then the
// first by name.
func cleanLabels(labels map[string]string, groupBy []string) map[string]string {
	clean := map[string]string{}

	names := slices.Sorted(maps.Keys(labels))
	if len(names) > tarsy.MaxLabels {
		names = slices.Concat(nameNames, groupBy, severityNames, serviceNames, namespaceNames, clusterNames, teamNames, distinguishing, names)
	}

	for _, name := range names {
		if len(clean) == tarsy.MaxLabels {
			break
		}

		value := oneLine(labels[name], tarsy.MaxLabelValue)
		name = oneLine(name, tarsy.MaxLabelName)

		if _, taken := clean[name]; name != "" && value != "" && !taken {
			clean[name] = value
		}
	}

	return clean
}

// overlay merges two sets of labels; above takes precedence.
func overlay(below, above map[string]string) map[string]string {
	all := make(map[string]string, len(below)+len(above))
	maps.Copy(all, below)
	maps.Copy(all, above)

	return all
}

func orDefault(names, standard []string) []string {
	if len(names) == 0 {
		return standard
	}

	return names
}
