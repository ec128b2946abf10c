package alert

import (
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// untitled is the title of an alert that says nothing at all.
const untitled = "Untitled alert"

var (
	titleNames = []string{"summary", "title"}
	nameNames  = []string{"alertname", "alert_name", "alertName", "rulename"}
	// detailNames are what an alert says beside its title.
	detailNames = []string{"description", "message", "subject", "msg", "text", "reason", "error", "details"}
	// distinguishing are labels that tell alerts of one rule apart, the most telling first.
	distinguishing = []string{
		"pod", "node", "instance", "deployment", "statefulset", "daemonset", "job_name", "persistentvolumeclaim", "mountpoint", "device",
		"container", "host", "service", "job", "namespace", "cluster",
	}
)

// title returns one line for people. The alert type is no title: it is the same for many alerts and shown beside it.
func title(a *tarsy.Alert, d document, fields config.AlertFields) string {
	candidates := []string{a.Facts.Title}

	for _, name := range orDefault(fields.Title, titleNames) {
		value := d.annotation([]string{name})
		if value != "" && slices.Contains(nameNames, name) {
			value = namedTitle(value, d)
		}

		candidates = append(candidates, value)
	}

	candidates = append(candidates, namedTitle(d.label(nameNames), d), firstLine(d.annotation(detailNames)))

	if d.fields != nil {
		candidates = append(candidates, firstLine(lookup([]string{"name", "type", "status"}, d.fields)), d.summary())
	} else {
		candidates = append(candidates, textTitle(a.Data, a.AlertType))
	}

	for _, candidate := range candidates {
		if line := oneLine(candidate, tarsy.MaxTitle); line != "" && !strings.EqualFold(line, a.AlertType) {
			return line
		}
	}

	if a.AlertType != "" {
		return oneLine("Alert of type "+a.AlertType, tarsy.MaxTitle)
	}

	return untitled
}

// namedTitle adds to the name of a rule what tells its alerts apart.
func namedTitle(name string, d document) string {
	const most = 2

	if name == "" {
		return ""
	}

	var parts []string

	for _, label := range distinguishing {
		if value := d.labels[label]; value != "" && len(parts) < most {
			parts = append(parts, label+"="+oneLine(value, tarsy.MaxTitle/4))
		}
	}

	if len(parts) > 0 {
		return name + " (" + strings.Join(parts, ", ") + ")"
	}

	if detail := firstLine(d.annotation(detailNames)); detail != "" {
		return name + ": " + detail
	}

	return name
}

// textTitle is the first line of a text that is more than the alert type.
func textTitle(text, alertType string) string {
	const lines = 20

	for range lines {
		line := firstLine(text)
		if line == "" || !strings.EqualFold(line, alertType) {
			return line
		}

		_, text, _ = strings.Cut(text, line)
	}

	return ""
}
