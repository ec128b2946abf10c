package alert

import (
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/alert/field"
)

// idPlaces are where senders without a reader of their own write what identifies an alert, the best first: what stays the same when the problem
// comes back, then what is the same from the alert's start to its end. All parts of a place must be there. A part without a dot is a
// field, also one of the objects in which senders wrap an alert; a part with dots is a path.
//
// The field id of a body is not among them: with many senders it is the id of the event, and no two deliveries have the same.
var idPlaces = [][]string{
	{"fingerprint"},
	{"dedup_key"}, {"dedupKey"}, {"deduplication_key"},
	{"incident_key"},
	{"alert.alias"}, // Opsgenie: chosen by who creates the alert, else the id
	{"AlarmArn"},    // CloudWatch
	// Datadog: the monitor, and which of its groups. Neither is enough.
	{"alert_id", "alert_scope"}, {"alert_cycle_key"}, {"aggreg_key"},
	{"alertId"}, {"alert.id"}, {"alert_id"}, // Opsgenie, Azure Monitor
	{"incident.incident_id"}, {"incident.id"}, {"incident_id"}, {"incidentId"}, // Google Cloud, Statuspage
	{"ProblemID"}, {"problemId"}, {"problem.id"}, // Dynatrace
	{"issueId"}, {"issue.id"}, {"data.issue.id"}, // New Relic, Sentry
	{"alert_group.id"}, {"alert_group_id"}, // Grafana OnCall
	{"monitorID"}, {"monitor.id"}, {"check_id"}, {"check.id"}, // UptimeRobot, Uptime Kuma, Pingdom
}

// ownID returns what the sender of an alert identifies it by, empty if that is not known.
func ownID(item any, fields map[string]string) string {
	for _, place := range idPlaces {
		parts := make([]string, 0, len(place))

		for _, part := range place {
			text := fields[part]
			if strings.Contains(part, ".") {
				value, _ := field.Find(item, part)
				text = scalar(value)
			}

			parts = append(parts, strings.TrimSpace(text))
		}

		if !slices.Contains(parts, "") {
			return strings.Join(parts, " ")
		}
	}

	return ""
}

// scalar is the text of a value that is neither an object nor a list: these identify nothing.
func scalar(value any) string {
	switch value.(type) {
	case map[string]any, []any:
		return ""
	default:
		return field.Scalar(value)
	}
}
