package alert

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

//go:embed sample/datadog.json
var datadogSample string

func datadog() Source {
	return Source{
		Name: tarsy.SourceDatadog, Sample: datadogSample, Connect: connectDatadog,
		read: readDatadog, signing: signedByProxies(),
	}
}

// datadogPayload is pasted into the Payload field of the webhook. Datadog substitutes the variables.
const datadogPayload = `{
  "id": "$ID",
  "event_type": "$EVENT_TYPE",
  "alert_id": "$ALERT_ID",
  "alert_scope": "$ALERT_SCOPE",
  "alert_cycle_key": "$ALERT_CYCLE_KEY",
  "alert_title": "$ALERT_TITLE",
  "alert_transition": "$ALERT_TRANSITION",
  "alert_type": "$ALERT_TYPE",
  "alert_priority": "$ALERT_PRIORITY",
  "alert_status": "$ALERT_STATUS",
  "alert_metric": "$ALERT_METRIC",
  "alert_query": "$ALERT_QUERY",
  "message": "$TEXT_ONLY_MSG",
  "hostname": "$HOSTNAME",
  "tags": "$TAGS",
  "link": "$LINK",
  "snapshot": "$SNAPSHOT",
  "date": "$DATE",
  "org_name": "$ORG_NAME"
}`

// datadogUnset matches a variable that has no value for the event.
var datadogUnset = regexp.MustCompile(`^(?:\$[A-Z_]+|(?i:null))$`)

// datadogTitle matches the title of an event: [P1] [Triggered on {host:a}] name.
var datadogTitle = regexp.MustCompile(`^(?:\[TEST\] *)?(?:\[(P[1-5])\] *)?\[((?:Re-)?(?:Triggered|Warn|No Data)|Recovered|Renotify)(?: on \{(.*?)\})?\] *(.+)$`)

var datadogPriority = regexp.MustCompile(`^P[1-5]$`)

// datadogEvent is a payload. Its field names are user-defined; those of the variables and of Datadog's default payload are
// known.
type datadogEvent struct {
	fields map[string]string
	labels map[string]string

	// From the title, or from dedicated fields.
	name, transition, scope, priority string
}

func readDatadog(r config.Receiver, body []byte) (reading, error) {
	var object map[string]json.RawMessage
	if err := decode(body, &object); err != nil {
		return reading{}, err
	}

	e := datadogEventOf(object)
	if e.name == "" && e.field("alert_id") == "" {
		return reading{}, tarsy.FieldErrorf(tarsy.CodeMissingField, "alert_title",
			"The field alert_title is missing. Use the payload that tarsy webhooks list prints for this receiver.")
	}

	reports := e.phase()
	if reports == unchanged {
		what := cmp.Or(e.transition, "an event of type "+e.field("alert_type"))

		return reading{other: "Datadog reports " + oneLine(what, maxFact) + ", which neither starts nor ends an alert."}, nil
	}

	return reading{reports: []report{e.report(r, reports == resolvedPhase, body)}}, nil
}

func datadogEventOf(object map[string]json.RawMessage) datadogEvent {
	e := datadogEvent{fields: merge(nil, scalars(object)), labels: map[string]string{}}

	for name, value := range e.fields {
		if datadogUnset.MatchString(strings.TrimSpace(value)) {
			delete(e.fields, name)
		}
	}

	e.name, e.transition, e.scope = e.field("alert_title", "title", "event_title"), e.field("alert_transition", "transition"), e.field("alert_scope", "scope")

	var titled string // the priority in the title
	if parts := datadogTitle.FindStringSubmatch(oneLine(e.name, maxURL)); parts != nil {
		titled, e.transition, e.scope, e.name = parts[1], cmp.Or(e.transition, parts[2]), cmp.Or(e.scope, parts[3]), parts[4]
	}

	for _, priority := range []string{e.field("alert_priority"), e.field("priority"), titled} {
		if e.priority == "" && datadogPriority.MatchString(priority) {
			e.priority = priority // an event's own priority, normal or low, carries no information
		}
	}

	for tag := range strings.SplitSeq(e.scope+","+e.field("tags", "event_tags"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(tag), ":")
		if e.labels[name] == "" {
			setLabel(e.labels, name, value)
		}
	}

	return e
}

// field returns the first non-empty field.
func (e datadogEvent) field(names ...string) string { return lookup(names, e.fields) }

// phase returns the phase given by the transition, or else by the event type.
func (e datadogEvent) phase() phase {
	for _, status := range []string{e.transition, e.field("alert_status"), e.field("status")} {
		if known := phaseOf(status); known != unknownPhase {
			return known
		}
	}

	switch strings.ToLower(e.field("alert_type")) {
	case "success":
		return resolvedPhase
	case "info", "user_update", "recommendation", "snapshot":
		return unchanged
	default:
		return fires
	}
}

// fingerprint is the monitor and its group, which are stable across recurrences of the problem, or else the key of the alert
// cycle.
func (e datadogEvent) fingerprint() string {
	id := e.field("alert_id", "monitor_id")
	if id != "" && e.scope != "" {
		return id + " " + e.scope
	}

	if key := e.field("alert_cycle_key", "aggreg_key", "aggregation_key"); key != "" || id == "" {
		return key
	}

	return id + " " + e.name // the name can distinguish the groups of a monitor
}

func (e datadogEvent) report(r config.Receiver, resolved bool, body []byte) report {
	for name, value := range map[string]string{
		"host": e.field("hostname", "host", "host_name"), "priority": e.priority, "metric": e.field("alert_metric"), "environment": e.labels["env"],
	} {
		if e.labels[name] == "" {
			setLabel(e.labels, name, value)
		}
	}

	rep := report{fingerprint: e.fingerprint(), identity: []string{e.field("org_id", "org_name"), e.name, e.scope}, resolved: resolved}
	rep.labels = e.labels
	rep.links = []tarsy.AlertLink{{Kind: tarsy.LinkGenerator, URL: e.field("link", "url", "event_url", "generator_url")}}
	rep.facts = tarsy.AlertFacts{
		Title: cmp.Or(e.name, "Datadog monitor "+e.field("alert_id")), Severity: ParseSeverity(e.priority),
		Namespace: e.labels["kube_namespace"], Cluster: e.labels["kube_cluster_name"],
	}

	if e.scope != "" && e.scope != "*" && !strings.Contains(e.name, e.scope) {
		rep.facts.Title += " (" + e.scope + ")"
	}

	// A user-defined tag is more accurate than the severity that Datadog derives from the threshold.
	for _, word := range []string{e.labels["severity"], e.transition, e.field("alert_type")} {
		if rep.facts.Severity == tarsy.SeverityUnknown {
			rep.facts.Severity = ParseSeverity(word)
		}
	}

	at := parseTime(e.field("date", "date_posix", "last_updated"))
	shown := view{
		Source: r.Source, Receiver: r.Name, Status: statusOf(resolved), Event: e.transition, OccurredAt: at, Image: e.field("snapshot"),
		Incident: json.RawMessage(body),
	}

	// All other transitions happen after the start.
	switch strings.ToLower(e.transition) {
	case "", "triggered", "warn", "no data":
		if !resolved {
			rep.facts.StartsAt, shown.StartsAt = at, at
		}
	}

	rep.data = readable(shown)

	return rep
}

// connectDatadog describes how to create a webhook for monitors to mention.
func connectDatadog(r Endpoint) string {
	note := ""
	if r.SecretEnv != "" {
		note = "# Datadog does not sign what it sends: use token_env instead of secret_env, or a proxy that adds X-Signature-256.\n"
	}

	return note + `# In Datadog: Integrations > Webhooks > New Webhook. Replace TARSY_TOKEN by ` + cmp.Or(r.bearer(), r.newKey()) + `.
# Then mention @webhook-tarsy in the message of each monitor, also for its recovery.
Name: tarsy
URL:  ` + r.URL + `
Custom Headers:
{"Authorization": "Bearer TARSY_TOKEN"}
Payload (do not encode as form):
` + datadogPayload + "\n"
}
