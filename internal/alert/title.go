package alert

import (
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// untitled is the title of an alert without any content for one.
const untitled = "Untitled alert"

// titleKind is how a title is derived from a value.
type titleKind int

const (
	// wholeTitle is used verbatim.
	wholeTitle titleKind = iota
	// ruleName is the name of a rule, monitor or check; namedTitle adds what distinguishes its alerts.
	ruleName
	// detailText is a text whose first line is used.
	detailText
	// fieldName and fieldText are the same for names that are meaningless as labels: only fields of the alert count.
	fieldName
	fieldText
)

// titlePlaces are the names under which senders describe an alert, best first. A name refers to an annotation, a field of the
// alert or a label, and to a field of the objects in which senders nest an alert (see wrappers): message is also alert.message,
// title is also incident.title and event.title, summary is also commonAnnotations.summary and payload.summary.
var titlePlaces = []struct {
	name string
	kind titleKind
}{
	{"summary", wholeTitle},
	{"title", wholeTitle},
	{"alert_title", wholeTitle},  // Datadog
	{"event_title", wholeTitle},  // Datadog
	{"ProblemTitle", wholeTitle}, // Dynatrace
	{"problemTitle", wholeTitle},

	{"alertname", ruleName}, // Prometheus
	{"alert_name", ruleName},
	{"alertName", ruleName},
	{"rulename", ruleName},
	{"ruleName", ruleName},
	{"alertRule", ruleName}, // Azure Monitor
	{"AlarmName", ruleName}, // CloudWatch, via SNS
	{"alarmName", ruleName}, // CloudWatch, via EventBridge
	{"condition_name", ruleName},
	{"check_name", ruleName},          // Pingdom
	{"monitorFriendlyName", ruleName}, // UptimeRobot

	{"message", detailText}, // Opsgenie
	{"subject", detailText},
	{"name", fieldName},
	{"description", detailText},
	{"msg", detailText},
	{"text", detailText},
	{"reason", detailText},
	{"error", detailText},
	{"details", detailText},
	{"type", fieldText},
	{"status", fieldText},
}

// titleNamesOf returns the names of some kinds, in order.
func titleNamesOf(kinds ...titleKind) []string {
	var names []string

	for _, place := range titlePlaces {
		if slices.Contains(kinds, place.kind) {
			names = append(names, place.name)
		}
	}

	return names
}

var (
	titleNames  = titleNamesOf(wholeTitle)
	nameNames   = titleNamesOf(ruleName)
	detailNames = titleNamesOf(detailText)
	// distinguishing are labels that differ between alerts of one rule, the most specific first.
	distinguishing = []string{
		"pod", "node", "instance", "deployment", "statefulset", "daemonset", "job_name", "persistentvolumeclaim", "mountpoint", "device",
		"container", "host", "service", "job", "namespace", "cluster",
	}
)

// title returns a one-line title. The alert type is not used: it is the same for many alerts and shown next to the title.
func title(a *tarsy.Alert, d document, fields config.AlertFields) string {
	candidates := []string{a.Facts.Title}

	for _, name := range fields.Title {
		value := d.annotation([]string{name})
		if slices.Contains(nameNames, name) {
			value = namedTitle(value, d)
		}

		candidates = append(candidates, value)
	}

	for _, place := range titlePlaces {
		if place.kind != wholeTitle || len(fields.Title) == 0 {
			candidates = append(candidates, titleAt(place.name, place.kind, d))
		}
	}

	if d.fields != nil {
		candidates = append(candidates, d.summary())
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

func titleAt(name string, kind titleKind, d document) string {
	names := []string{name}

	switch kind {
	case ruleName:
		return namedTitle(d.label(names), d)
	case detailText:
		return firstLine(d.annotation(names))
	case fieldName:
		return namedTitle(firstLine(lookup(names, d.fields)), d)
	case fieldText:
		return firstLine(lookup(names, d.fields))
	default:
		return d.annotation(names)
	}
}

// namedTitle adds to the name of a rule the labels that distinguish its alerts, or else the first line of a detail.
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

// textTitle returns the first line of a text that is not just the alert type.
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
