package alert

import (
	"maps"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// MaxAlerts is the maximum number of alerts in one delivery.
const MaxAlerts = 5000

// report is one alert of a delivery as its sender describes it.
type report struct {
	document

	// Facts from outside the labels; empty fields are unknown.
	facts tarsy.AlertFacts
	// The sender's own fingerprint, and parts to derive one from instead of the labels.
	fingerprint string
	identity    []string
	resolved    bool
	// The phase in a generic body; unchanged means that the report is not an alert.
	phase phase
	// The text for agents.
	data string
}

// Read parses the body posted to a receiver. The alerts are complete. Their alert type is the receiver's; if that is empty,
// routes and the caller decide. The caller sets authors and runbooks: it knows the allowed runbook hosts, and keeps a runbook
// from any other host as a plain link.
//
// A delivery without alerts is not an error: the sender reported something else, such as an acknowledgement, a note or a
// connection test, or an empty list. The caller answers such a delivery with success, with Describe as the reason of
// tarsy.ActionIgnore, and does not pass it to triage. Alerts that the sender omitted from a delivery (truncatedAlerts) are
// counted in the text of the others.
func Read(r config.Receiver, body []byte, fields config.AlertFields, groupBy []string) (tarsy.Delivery, error) {
	origin := tarsy.AlertFacts{Source: tarsy.AlertSource(r.Source), Receiver: r.Name}
	delivery := tarsy.Delivery{Source: origin.Source, Receiver: r.Name, Key: deliveryKey(origin, body)}

	source, err := sourceOf(r)
	if err != nil {
		return tarsy.Delivery{}, err
	}

	got, err := source.read(r, body)
	if err != nil {
		return tarsy.Delivery{}, err
	}

	if got.id != "" {
		delivery.Key = deliveryKey(origin, []byte(got.id))
	}

	delivery.Alerts = make([]tarsy.Alert, len(got.reports))

	for i, rep := range got.reports {
		a := &delivery.Alerts[i]
		a.AlertType, a.Data, a.Resolved, a.Facts = r.AlertType, rep.data, rep.resolved, rep.facts
		a.Facts.Source, a.Facts.Receiver = origin.Source, origin.Receiver

		a.Facts.Fingerprint = senderFingerprint(a.Facts, rep.fingerprint)
		if a.Facts.Fingerprint == "" && len(rep.identity) > 0 {
			a.Facts.Fingerprint = senderFingerprint(a.Facts, "labels:"+digest(rep.identity...))
		}

		rep.labels = overlay(added(r.Labels, a.Facts), rep.labels)
		if rep.fields == nil {
			rep.fields = map[string]string{} // the text is generated: its first line is not a title
		}

		complete(a, rep.document, fields, groupBy)
	}

	return delivery, nil
}

// checkCount rejects a delivery with too many alerts before doing any work for them.
func checkCount(alerts int) error {
	if alerts <= MaxAlerts {
		return nil
	}

	return tarsy.FieldErrorf(tarsy.CodeTooLarge, "alerts",
		"The delivery has %d alerts; at most %d are accepted at once. Limit them at the sender (max_alerts), or group by more labels.", alerts, MaxAlerts)
}

// added returns the labels that a receiver adds to an alert, except those that would contradict the sender.
func added(labels map[string]string, sent tarsy.AlertFacts) map[string]string {
	left := maps.Clone(labels)
	for name, value := range map[string]string{
		"severity": string(sent.Severity), "service": sent.Service, "namespace": sent.Namespace, "cluster": sent.Cluster, "team": sent.Team,
	} {
		if value != "" {
			delete(left, name)
		}
	}

	return left
}

// Describe returns one line about a delivery without alerts.
func Describe(r config.Receiver, body []byte) string {
	if source, err := sourceOf(r); err == nil {
		if got, err := source.read(r, body); err == nil && got.other != "" {
			return got.other
		}
	}

	return "The delivery contains no alerts."
}

// view is the text of one alert for agents.
type view struct {
	Source      string            `json:"source"`
	Receiver    string            `json:"receiver,omitempty"`
	Status      string            `json:"status"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Values      any               `json:"values,omitempty"`
	ValueString string            `json:"value_string,omitempty"`
	StartsAt    *time.Time        `json:"starts_at,omitempty"`
	EndsAt      *time.Time        `json:"ends_at,omitempty"`
	Links       map[string]string `json:"links,omitempty"`
	Image       string            `json:"image,omitempty"`
	Fingerprint string            `json:"fingerprint,omitempty"`
	Group       *group            `json:"group,omitempty"`
	Event       string            `json:"event,omitempty"`
	OccurredAt  *time.Time        `json:"occurred_at,omitempty"`
	Incident    any               `json:"incident,omitempty"`
}

// statusOf returns the status in a view.
func statusOf(resolved bool) string {
	if resolved {
		return "resolved"
	}

	return "firing"
}
