package alert

import (
	"strings"
	"unicode"

	"tarsy.dev/tarsy/internal/alert/field"
)

// phase is the state of an alert that a delivery reports.
type phase int

const (
	// unknownPhase is an unrecognized word. The alert is then assumed to be firing.
	unknownPhase phase = iota
	fires
	resolvedPhase
	// unchanged is an event that neither starts nor ends the alert, such as an acknowledgement.
	unchanged
)

// statusNames are the fields in which senders report whether an alert fires, in lookup order. The first one with a known word
// wins.
var statusNames = []string{
	"status", "state", "State", // Dynatrace writes State
	"alert_transition", "transition", // Datadog's $ALERT_TRANSITION
	"NewStateValue",                 // CloudWatch, via SNS
	"monitorCondition",              // Azure Monitor
	"current_state", "currentState", // Pingdom, New Relic
	"alert_status", "event_status",
	"event_action", "action", // PagerDuty's events
	"alertTypeFriendlyName", // UptimeRobot
}

// phaseWords are senders' words, in lower case with single spaces between letters and digits.
var phaseWords = func() map[string]phase {
	words := map[string]phase{}

	for phase, list := range map[phase]string{
		fires: "firing, fired, alert, alerting, alarm, active, activated, open, opened, reopened, create, created, new, trigger, triggered, re triggered, retriggered, " +
			"renotify, problem, down, failing, failed, critical, error, warning, warn, re warn, no data, re no data, nodata, started, investigating, unresolved",
		resolvedPhase: "resolved, resolve, auto resolved, autoresolved, ok, closed, close, auto closed, recovered, recovery, recover, warn recovered, no data recovered, " +
			"normal, back to normal, returned to normal, up, healthy, cleared, clear, inactive, deactivated, ended, fixed",
		unchanged: "acknowledge, acknowledged, ack, unacknowledge, unacknowledged, unack",
	} {
		for word := range strings.SplitSeq(list, ", ") {
			words[word] = phase
		}
	}

	return words
}()

// phaseOf returns the phase for a sender's word, such as Recovered, re-triggered, "No data recovered" or AUTO_RESOLVED.
func phaseOf(word string) phase {
	const longest = 64
	if len(word) > longest {
		return unknownPhase
	}

	parts := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })

	return phaseWords[strings.Join(parts, " ")]
}

// phaseIn returns the phase in the fields of an alert.
func phaseIn(item any, fields map[string]string) phase {
	// Opsgenie reports every user action on an alert, including custom ones.
	if _, ok := field.Find(item, "alert.alertId"); ok && fields["action"] != "" {
		switch strings.ToLower(fields["action"]) {
		case "create":
			return fires
		case "close", "delete":
			return resolvedPhase
		default:
			return unchanged
		}
	}

	for _, name := range statusNames {
		if known := phaseOf(fields[name]); known != unknownPhase {
			return known
		}
	}

	return unknownPhase
}
