package alert

import (
	"maps"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// MaxAlerts is how many alerts one delivery may have.
const MaxAlerts = 5000

// report is one alert of a delivery, as its sender describes it.
type report struct {
	document

	// What the sender says outside of labels; each is empty if it does not.
	facts tarsy.AlertFacts
	// The sender's own fingerprint, and parts to make one of instead of the labels.
	fingerprint string
	identity    []string
	resolved    bool
	// What a generic body reports; one that reports no change is no alert.
	phase phase
	// The text for the agents.
	data string
}

// Read reads the body that a receiver got. The alerts are complete; their alert type is that of the receiver, so an empty one is
// for routes and the caller to decide. Authors are left to the caller, and so are runbooks: it knows from which hosts they may be
// fetched, and leaves one from elsewhere as the link that it is.
//
// A delivery without alerts is not an error: the sender reported something else, such as an acknowledgement, a note or a test of
// the connection, or an empty list. The caller answers such a delivery with success, with Describe as the reason of
// tarsy.ActionIgnore, and does not pass it to triage. Alerts that the sender left out of a delivery (truncatedAlerts) are counted
// in the text of the others.
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
			rep.fields = map[string]string{} // the text is made of the rest: its first line is no title
		}

		complete(a, rep.document, fields, groupBy)
	}

	return delivery, nil
}

// checkCount refuses a delivery with too many alerts, before any work is done for them.
func checkCount(alerts int) error {
	if alerts <= MaxAlerts {
		return nil
	}

	return tarsy.FieldErrorf(tarsy.CodeTooLarge, "alerts",
		"The delivery has %d alerts; at most %d are accepted at once. Limit them at the sender (max_alerts), or group by more labels.", alerts, MaxAlerts)
}

// added are the labels that a receiver adds to an alert: not those that would contradict what the sender says itself.
func added(labels map[string]string, said tarsy.AlertFacts) map[string]string {
	left := maps.Clone(labels)
	for name, value := range map[string]string{
		"severity": string(said.Severity), "service": said.Service, "namespace": said.Namespace, "cluster": said.Cluster, "team": said.Team,
	} {
		if value != "" {
			delete(left, name)
		}
	}

	return left
}

// Describe says in one line what a delivery without alerts reports.
func Describe(r config.Receiver, body []byte) string {
	if source, err := sourceOf(r); err == nil {
		if got, err := source.read(r, body); err == nil && got.other != "" {
			return got.other
		}
	}

	return "The delivery contains no alerts."
}

// view is the text of one alert for the agents.
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

// statusOf is the status in a view.
func statusOf(resolved bool) string {
	if resolved {
		return "resolved"
	}

	return "firing"
}
