package alert

import (
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/alert/field"
)

// idPlaces are the fields that identify an alert of a sender without a dedicated parser, best first: IDs that are stable across
// recurrences of the problem, then IDs that are stable from the alert's start to its end. All parts of an entry must be
// present. A part without a dot is a field, at the top level or in a wrapper object; a part with dots is a path.
//
// The id field of a body is not included: for many senders it is the ID of the event, which differs for each delivery.
var idPlaces = [][]string{
	{"fingerprint"},
	{"dedup_key"}, {"dedupKey"}, {"deduplication_key"},
	{"incident_key"},
	{"alert.alias"}, // Opsgenie: chosen by the creator of the alert, or else its ID
	{"AlarmArn"},    // CloudWatch
	// Datadog: the monitor and its group. Neither is enough.
	{"alert_id", "alert_scope"}, {"alert_cycle_key"}, {"aggreg_key"},
	{"alertId"}, {"alert.id"}, {"alert_id"}, // Opsgenie, Azure Monitor
	{"incident.incident_id"}, {"incident.id"}, {"incident_id"}, {"incidentId"}, // Google Cloud, Statuspage
	{"ProblemID"}, {"problemId"}, {"problem.id"}, // Dynatrace
	{"issueId"}, {"issue.id"}, {"data.issue.id"}, // New Relic, Sentry
	{"alert_group.id"}, {"alert_group_id"}, // Grafana OnCall
	{"monitorID"}, {"monitor.id"}, {"check_id"}, {"check.id"}, // UptimeRobot, Uptime Kuma, Pingdom
}

// ownID returns the sender's identifier of an alert, or "" if it is unknown.
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

// scalar returns a scalar value as text. Objects and lists identify nothing.
func scalar(value any) string {
	switch value.(type) {
	case map[string]any, []any:
		return ""
	default:
		return field.Scalar(value)
	}
}
